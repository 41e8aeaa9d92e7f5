"""Where wings come from: the repository, the commit, the folder, and what they are called among all."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from datetime import datetime

from msgspec import Struct

from mdmem.hub.reader import Reader, SeenRepository, SeenWing

SLASH = "\u2215"
"""Stands in a wing's name for the slash of its repository's: an address has two of its own."""

_NUMBER = "\u2216"
_NUMBERED = re.compile(rf"{_NUMBER}\d+")


def shown_label(text: str) -> str:
    """Return a text with the labels of wings in it as people read them."""
    return _NUMBERED.sub("", text).replace(SLASH, "/")


class WingOrigin(Struct, frozen=True):
    """Where a wing comes from: the repository by name, or the place of one, its commit, and the wing's folder there.

    `pushed_at` is when the hub got it, None of a wing that others pin.
    """

    repository: str
    commit: str
    folder: str
    wing: str
    repository_id: int | None
    pushed_at: datetime | None = None
    number: int = 0

    @property
    def name(self) -> str:
        """Return the repository by name, one that is not in the hub with the commit at which it is read."""
        return self.repository if self.repository_id is not None else f"{self.repository}@{self.commit[:10]}"

    @property
    def label(self) -> str:
        """Return the name under which the wing stands among all, whatever those who push call theirs."""
        return _in_line(f"{self.name}:{self.wing}").replace("/", SLASH) + f"{_NUMBER}{self.number}"

    def path(self, inner: str) -> str:
        """Return a file of the wing, counted from its folder, as it is counted from the top of the repository."""
        return f"{self.folder}/{inner}".removeprefix("/")


class Origins:
    """The wings that one answer is about, with where each comes from."""

    def __init__(self, reader: Reader, wings: Collection[int] | Mapping[int, SeenWing]) -> None:
        """Ask for the wings, so far as only their ids are known, and their repositories."""
        self.wings: Mapping[int, SeenWing] = wings if isinstance(wings, Mapping) else reader.wings(wings)
        owners = {wing.repository_id for wing in self.wings.values() if wing.repository_id is not None}
        self.repositories: Mapping[int, SeenRepository] = reader.repositories(owners) if owners else {}
        self.of = {key: self._origin(wing) for key, wing in self.wings.items()}
        self.labels = {key: one.label for key, one in self.of.items()}
        self.by_label = {self.labels[key]: one for key, one in self.of.items()}

    def _origin(self, wing: SeenWing) -> WingOrigin:
        owner = self.repositories.get(wing.repository_id or 0)
        if owner is None:
            # One that lives in a folder of somebody's machine has no place but its name.
            place = wing.source or wing.name
            return WingOrigin(place, wing.commit or "", wing.source_path or "", wing.name, None, number=wing.id)
        folder = f"{owner.root}/{wing.name}".removeprefix("/")
        return WingOrigin(owner.name, owner.commit, folder, wing.name, owner.id, owner.pushed_at, wing.id)

    def place(self, wing: int) -> tuple[str, str]:
        """Return where a wing is at home: its repository's place, else the commit, and its folder there."""
        one, origin = self.wings[wing], self.of[wing]
        owner = self.repositories.get(one.repository_id or 0)
        return (owner.url or owner.name if owner is not None else one.source or origin.commit), origin.folder

    def address(self, wing: int, path: str) -> str:
        """Return the address among all of a file of a wing, which passes for no line of ours."""
        return f"{self.labels[wing]}/{_in_line(path.removesuffix('.md'))}"


def _in_line(text: str) -> str:
    return text if text.isprintable() else "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)
