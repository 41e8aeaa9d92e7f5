"""Where an imported record goes: the wing and the room that are meant, and an entry-id that keeps its number."""

from __future__ import annotations

import os
import posixpath
from pathlib import Path

from mdmem.errors import UsageError
from mdmem.exchange.record import ForeignRecord
from mdmem.exchange.source import UnfitError
from mdmem.model.entry import EntryType
from mdmem.store.catalog.addresses import well_formed
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.create import require_names
from mdmem.write.place import place_of, require_wing


class Destination:
    """Gives each record its address, each address once."""

    def __init__(self, workspace: Workspace, place: str | None) -> None:
        """Take the place that was typed: a wing, a room, or both; raises UsageError for one that is none."""
        self._workspace, self._place = workspace, place.strip("/") if place is not None else None
        self._rooms = {type_: self._room(type_) for type_ in EntryType}
        self._taken = {file.path.lower(): file.path.removesuffix(".md") for file in workspace.tree.files()}
        self._given: dict[str, str] = {}

    def _room(self, type_: EntryType) -> str:
        place = place_of(self._workspace, type_, self._place)
        parts = place.split("/")
        if len(parts) != 2:
            raise UsageError(f"`{place}` is no place for records; write WING, or WING/ROOM")
        require_names(parts)
        require_wing(self._workspace, place)
        return place

    def address(self, record: ForeignRecord) -> str:
        """Return the address of a record; raises UnfitError where there is none for it."""
        place = self._rooms[record.type]
        # Where a client looks for a file is no subject of the note.
        if (
            record.source.room
            and not record.part
            and (self._place is None or self._place in self._workspace.catalog.wings)
        ):
            place = f"{place.split('/')[0]}/{record.source.room}"
        name = well_formed("entry", record.name)
        if name is None:
            raise UnfitError("has a name of which no entry-id can be made; rename it")
        address = f"{place}/{name}"
        if (other := self._given.get(address.lower())) is not None and "/" not in (self._place or ""):
            # Each part of a project counts its records from one.
            room = well_formed("room", record.source.folder.replace("/", "-"))
            is_apart = room is not None and posixpath.dirname(other) != record.source.folder and not record.part
            address = f"{place.split('/')[0]}/{room}/{name}" if is_apart else address
        self._refuse(address)
        self._given[address.lower()] = record.source.path
        return address

    def _refuse(self, address: str) -> None:
        try:
            require_names(address.split("/"))
        except UsageError as error:
            raise UnfitError(f"would be `{address}`: {error}") from error
        if (other := self._given.get(address.lower())) is not None:
            raise UnfitError(f"would be `{address}`, as `{other}` is; rename one of them")
        if (there := self._taken.get(f"{address}.md".lower())) is not None:
            raise UnfitError(f"would be `{address}`, and `{there}` is there already; nothing is overwritten")
        if (folder := _unwritable(self._workspace.location.root, address)) is not None:
            raise UnfitError(f"would be `{address}`, and nobody may write into `{folder}`")


def _unwritable(root: Path, address: str) -> str | None:
    """Return the folder that keeps an address from being written, None where none does."""
    folder = (root / address).parent
    while not folder.exists() and folder != root:
        folder = folder.parent
    is_open = folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)
    return None if is_open else folder.relative_to(root).as_posix()
