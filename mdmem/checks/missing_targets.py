"""What became of an address that leads nowhere, and which one it may mean."""

from __future__ import annotations

import difflib
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice

from msgspec import Struct

from mdmem.checks.case import Case
from mdmem.checks.facts import TrackedPaths
from mdmem.store.catalog import full_address

# A comparison costs some 50 µs.
_COMPARED = 8
_TELLING = 200
_CLOSE = 0.7
_SHOWN = 3
_NUMBER = re.compile(r"\d+")


# `RFC 6120`, `ISO-8601`, `IEEE 802.3`, and whatever else is said in several words; an address is one.
_OUTSIDE = re.compile(r"[A-Z][A-Z0-9]+[ -]?\d[\d.:-]*\Z|\S+(?:\s+\S+)+\Z")


class Nearest:
    """The addresses of a tree, by entry-id and by pieces of it."""

    def __init__(self, addresses: Iterable[str]) -> None:
        """Index the addresses."""
        self._by_id: dict[str, list[str]] = {}
        self._by_piece: dict[tuple[str, str], list[str]] = {}
        for address in sorted(addresses):
            wing, _, entry_id = address.split("/", 2)
            self._by_id.setdefault(entry_id.lower(), []).append(address)
            for piece in _pieces(entry_id):
                self._by_piece.setdefault((wing, piece), []).append(address)

    def to(self, written: str, near: str) -> tuple[str, ...]:
        """Return up to three addresses, the likeliest first: those of the same entry-id, else like ones of one wing.

        `near` is the address of the entry that holds the link.
        """
        parts = written.removesuffix(".md").strip("./").split("/")
        wing, entry_id = parts[0] if len(parts) > 2 else near.split("/", 1)[0], parts[-1].lower()
        same = [address for address in self._by_id.get(entry_id, ()) if address != near]
        if same:
            return tuple(sorted(same, key=lambda address: (not address.startswith(f"{wing}/"), address))[:_SHOWN])
        named = {_entry_id(address): address for address in self._candidates(wing, entry_id) if address != near}
        close = difflib.get_close_matches(entry_id, named, n=_SHOWN, cutoff=_CLOSE)
        return tuple(named[one] for one in close)

    def _candidates(self, wing: str, entry_id: str) -> list[str]:
        """Return those that share most pieces; a piece that very many share tells nothing."""
        sharing = (self._by_piece.get((wing, piece), ()) for piece in _pieces(entry_id))
        shared = Counter(address for some in sharing if len(some) <= _TELLING for address in some)
        # Another number is no slip of the pen: `adr-12` is as near to `adr-13` as to `adr-2`.
        numbers = _NUMBER.findall(entry_id)
        like = (address for address, _ in shared.most_common() if _NUMBER.findall(_entry_id(address)) == numbers)
        return list(islice(like, _COMPARED))


def _pieces(entry_id: str) -> Iterator[str]:
    """Yield the words of an entry-id, its start and its end: a typo leaves most of them whole."""
    lowered = entry_id.lower()
    yield from {f"^{lowered[:3]}", f"{lowered[-3:]}$", *re.split(r"[-_. ]+", lowered)}


def _entry_id(address: str) -> str:
    return address.rsplit("/", 1)[-1].lower()


_IN_INDEX = "git's index"


class Fate(Struct, frozen=True):
    """What became of an address, as the end of a sentence, and which addresses may be meant, the likeliest first.

    `certain` is where the file moved to, as git tells; `unadded` is the file that git lacks, as typed at its top.
    """

    story: str
    meant: tuple[str, ...] = ()
    certain: str | None = None
    unadded: str | None = None

    def help(self, first: Sequence[str] = ()) -> str:
        """Return what to type; `first` are addresses that are likelier still."""
        if self.unadded:
            return f"run `git add {self.unadded}` at the repository's top"
        meant = tuple(dict.fromkeys([*first, *self.meant]))[:3]
        if meant:
            moving = "; `mdmem mv` moves an entry with its links" if self.story.endswith(_IN_INDEX) else ""
            return f"write {' or '.join(f'`{address}`' for address in meant)}, or remove the link{moving}"
        return "remove the link, or write the entry with `mdmem new`"


def _addresses(paths: Iterable[str]) -> frozenset[str]:
    return frozenset(path.removesuffix(".md") for path in paths)


def _where(commit: str) -> str:
    return f"commit `{commit}`" if commit else _IN_INDEX


class MissingTargets(Struct, frozen=True, dict=True):
    """Tells the fate of addresses of one case; what it needs is looked up at the first question."""

    case: Case

    def fate(self, written: str, near: str) -> Fate:
        """Return what became of an address; `near` is the address of the entry that holds the link."""
        gone = full_address(written, near, self._deleted)
        if gone is not None:
            return self._fate_of_deleted(gone, near)
        if full_address(written, near, self._ignored):
            return Fate("is ignored by git")
        apart = full_address(written, near, self._not_added)
        if apart is not None:
            return Fate("is on disk and not in git", unadded=shlex.quote(f"{self._prefix}{apart}.md"))
        return Fate("does not exist", self._nearest.to(written, near))

    def _fate_of_deleted(self, gone: str, near: str) -> Fate:
        """Follow the moves of a file to where it is now, or to the commit that deleted it."""
        followed = {gone}
        commit, moved = self._deleted[gone]
        while moved is not None and moved not in self.case.catalog.addresses:
            if moved in followed or moved not in self._deleted:
                return Fate(
                    f"moved to `{moved}` in {_where(commit)}, and is not there either", self._nearest.to(moved, near)
                )
            followed.add(moved)
            commit, moved = self._deleted[moved]
        if moved is None:
            return Fate(f"was deleted in {_where(commit)}", self._nearest.to(gone, near))
        return Fate(f"moved to `{moved}` in {_where(commit)}", (moved,), moved)

    def is_outside(self, written: str, near: str) -> bool:
        """Say whether a text plainly names something that no memory holds: a web page, or a document by its number.

        Words in which an entry of this memory can be told, and numbers as its own entries bear them, are no such text.
        """
        if "://" in written:
            return True
        if not _OUTSIDE.match(written):
            return False
        plain = "-".join(written.lower().split())
        series = f"{plain.rstrip('0123456789.-')}-"
        own = any(address.rsplit("/", 1)[-1].lower().startswith(series) for address in self.case.catalog.addresses)
        return not own and not self.fate(plain, near).meant

    @cached_property
    def _deleted(self) -> Mapping[str, tuple[str, str | None]]:
        if self.case.facts is None:
            return {}
        return {
            path.removesuffix(".md"): (commit, moved.removesuffix(".md") if moved else None)
            for path, (commit, moved) in self.case.facts.deleted.items()
        }

    @cached_property
    def _ignored(self) -> frozenset[str]:
        return _addresses(self.case.facts.ignored) if self.case.facts else frozenset()

    @cached_property
    def _not_added(self) -> frozenset[str]:
        return (
            frozenset(path.removesuffix(".md") for path in self.case.facts.not_added)
            if self.case.facts
            else frozenset()
        )

    @cached_property
    def _prefix(self) -> str:
        return TrackedPaths(self.case.facts).prefix if self.case.facts else ""

    @cached_property
    def _nearest(self) -> Nearest:
        return Nearest(self.case.catalog.addresses)
