"""What became of an address that leads nowhere, and which address it may mean."""

from __future__ import annotations

import difflib
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from msgspec import Struct

from mdmem.checks.case import Case
from mdmem.checks.facts import TrackedPaths
from mdmem.store.catalog import full_address

# The likeliest addresses are compared letter by letter.
_COMPARED = 8
# A piece that more addresses share says nothing.
_COMMON = 200
_CLOSE = 0.7
_SHOWN = 3
_NUMBER = re.compile(r"\d+")
# `RFC 6120`, `ISO-8601`, `IEEE 802.3`, and any text of several words; an address is one word.
_OUTSIDE = re.compile(r"[A-Z][A-Z0-9]+[ -]?\d[\d.:-]*\Z|\S+(?:\s+\S+)+\Z")
_IN_INDEX = "git's index"


class Nearest:
    """The addresses of a tree, by entry-id and by pieces of it."""

    def __init__(self, addresses: Iterable[str]) -> None:
        """Index the addresses."""
        self._by_id: dict[str, list[str]] = {}
        self._by_piece: dict[tuple[str, str], list[str]] = {}
        for address in sorted(addresses):
            self._by_id.setdefault(_entry_id(address), []).append(address)
            for piece in _pieces(_entry_id(address)):
                self._by_piece.setdefault((address.split("/", 1)[0], piece), []).append(address)

    def to(self, written: str, near: str) -> tuple[str, ...]:
        """Return up to three addresses, the likeliest first: those of the same entry-id, else like ones of one wing.

        `near` is the address of the entry with the link.
        """
        parts = written.removesuffix(".md").strip("./").split("/")
        wing, entry_id = (parts if len(parts) > 2 else near.split("/"))[0], parts[-1].lower()
        same = [address for address in self._by_id.get(entry_id, ()) if address != near]
        if same:
            return tuple(sorted(same, key=lambda address: (not address.startswith(f"{wing}/"), address))[:_SHOWN])
        groups = [self._by_piece.get((wing, piece), ()) for piece in _pieces(entry_id)]
        shared = Counter(address for group in groups if len(group) <= _COMMON for address in group)
        # Another number is no slip of the pen: `adr-12` is as near to `adr-13` as to `adr-2`.
        numbers = _NUMBER.findall(entry_id)
        likely = [one for one, _ in shared.most_common() if _NUMBER.findall(_entry_id(one)) == numbers and one != near]
        by_id = {_entry_id(address): address for address in likely[:_COMPARED]}
        return tuple(by_id[one] for one in difflib.get_close_matches(entry_id, by_id, n=_SHOWN, cutoff=_CLOSE))


def _pieces(entry_id: str) -> set[str]:
    """Return the words of an entry-id, its start and its end: a typo leaves most of them whole."""
    return {f"^{entry_id[:3]}", f"{entry_id[-3:]}$", *re.split(r"[-_. ]+", entry_id)}


def _entry_id(address: str) -> str:
    return address.split("/", 2)[-1].lower()


class Fate(Struct, frozen=True):
    """What became of an address, as the end of a sentence, and which addresses may be meant, the likeliest first.

    `certain` is the address it moved to, as git knows; `unadded` is the file that git lacks, quoted for a shell.
    """

    story: str
    meant: tuple[str, ...] = ()
    certain: str | None = None
    unadded: str | None = None

    def help(self, first: Sequence[str] = ()) -> str:
        """Return what to type; `first` are addresses that are likelier still."""
        if self.unadded:
            return f"run `git add {self.unadded}` at the repository's top"
        meant = tuple(dict.fromkeys([*first, *self.meant]))[:_SHOWN]
        if not meant:
            return "remove the link, or write the entry with `mdmem new`"
        moving = "; `mdmem mv` moves an entry with its links" if self.story.endswith(_IN_INDEX) else ""
        return f"write {' or '.join(f'`{address}`' for address in meant)}, or remove the link{moving}"


class MissingTargets(Struct, frozen=True, dict=True):
    """The fates of addresses in one case; git is asked at the first question."""

    case: Case

    def fate(self, written: str, near: str) -> Fate:
        """Return what became of an address; `near` is the address of the entry with the link."""
        gone = full_address(written, near, self._deleted)
        if gone is not None:
            return self._fate_of_deleted(gone, near)
        facts = self.case.facts
        if facts is not None and full_address(written, near, self._ignored):
            return Fate("is ignored by git")
        unadded = full_address(written, near, self._not_added)
        if facts is not None and unadded is not None:
            path = f"{TrackedPaths(facts).prefix}{unadded}.md"
            return Fate("is on disk and not in git", unadded=shlex.quote(path))
        return Fate("does not exist", self._nearest.to(written, near))

    def _fate_of_deleted(self, gone: str, near: str) -> Fate:
        """Follow the moves of a file to where it is now, or to the commit that deleted it."""
        followed = {gone}
        commit, moved = self._deleted[gone]
        while moved is not None and moved not in self.case.catalog.addresses:
            if moved in followed or moved not in self._deleted:
                story = f"moved to `{moved}` in {_where(commit)}, and is not there either"
                return Fate(story, self._nearest.to(moved, near))
            followed.add(moved)
            commit, moved = self._deleted[moved]
        if moved is None:
            return Fate(f"was deleted in {_where(commit)}", self._nearest.to(gone, near))
        return Fate(f"moved to `{moved}` in {_where(commit)}", (moved,), moved)

    def is_outside(self, written: str, near: str) -> bool:
        """Say whether a text plainly names something outside of any memory: a web page, or a document by its number.

        A text that may mean an entry of this memory, or a number as its own entries have them, does not.
        """
        if "://" in written:
            return True
        if not _OUTSIDE.match(written):
            return False
        plain = "-".join(written.lower().split())
        series = f"{plain.rstrip('0123456789.-')}-"
        own = any(_entry_id(address).startswith(series) for address in self.case.catalog.addresses)
        return not own and not self.fate(plain, near).meant

    @cached_property
    def _deleted(self) -> Mapping[str, tuple[str, str | None]]:
        deleted = self.case.facts.deleted if self.case.facts is not None else {}
        return {
            path.removesuffix(".md"): (commit, moved.removesuffix(".md") if moved else None)
            for path, (commit, moved) in deleted.items()
        }

    @cached_property
    def _ignored(self) -> frozenset[str]:
        return _addresses(self.case.facts.ignored if self.case.facts is not None else ())

    @cached_property
    def _not_added(self) -> frozenset[str]:
        return _addresses(self.case.facts.not_added if self.case.facts is not None else ())

    @cached_property
    def _nearest(self) -> Nearest:
        return Nearest(self.case.catalog.addresses)


def _addresses(paths: Iterable[str]) -> frozenset[str]:
    return frozenset(path.removesuffix(".md") for path in paths)


def _where(commit: str) -> str:
    return f"commit `{commit}`" if commit else _IN_INDEX
