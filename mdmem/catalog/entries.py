"""What the files in entries' places mean together: made of all of them, or of a catalog of nearly the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import filterfalse
from typing import TYPE_CHECKING, TypeVar

from mdmem.catalog.addresses import is_entry_place
from mdmem.catalog.former import Former
from mdmem.catalog.interpret import LoadedFile, unreadable
from mdmem.dataclass import dataclass
from mdmem.digests import unlike
from mdmem.entry.model import Entry
from mdmem.entry.stored_entries import StoredEntries
from mdmem.finding import Finding
from mdmem.lineage import Lineage, is_same_on_chains
from mdmem.tree import TreeFile, path_of

if TYPE_CHECKING:
    from mdmem.catalog.model import Catalog

    Before = Catalog | Former

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Entries:
    """The entries and sizes by address, what holds none by path, each in the order of the files, and what is wrong.

    `short` are the entries as written of which a link may depend on which other files are there, `open` those of them
    whose links are yet to be told. `changed` are the addresses at which entries may not be those `before`.
    """

    entries: Mapping[str, Entry]
    sizes: Mapping[str, int]
    broken: dict[str, LoadedFile]
    findings: list[Finding]
    short: dict[str, Entry]
    open: Mapping[str, Entry]
    before: Before | None = None
    changed: Set[str] = frozenset()

    def lineage_of(self, entries: Mapping[str, Entry]) -> Lineage | None:
        """Return the lineage from before if it holds for these entries, whose links are told, too."""
        if self.before is None:
            return None
        return lineage_for(entries, self.before.lineage, self.before.entries, changed={*self.changed, *self.open})


def entries_of(files: Sequence[TreeFile], loaded: Mapping[str, LoadedFile]) -> Entries:
    """Return what files mean; `loaded` are those that were opened, by path."""
    everything = [loaded.get(file.path) or unreadable(file) for file in files]
    entries = {one.entry.address: one.entry for one in everything if one.entry is not None}
    short = {one.entry.address: one.entry for one in everything if one.has_short_links and one.entry is not None}
    return Entries(
        entries,
        {one.entry.address: one.size for one in everything if one.entry is not None},
        {one.path: one for one in everything if one.entry is None},
        [finding for one in everything if one.findings for finding in one.findings],
        short,
        short,
    )


def differing(before: Before, files: Sequence[TreeFile], digests: Mapping[str, str]) -> frozenset[str]:
    """Return the paths at which entries' files are not surely those of a catalog: changed, new, gone, or not opened."""
    known = before.file_digests
    apart = before.unlike(digests) if isinstance(before, Former) else unlike(known, digests)
    found = set(filter(is_entry_place, apart))
    # Of the very same files what was not opened is broken below, or has a digest now.
    for listed, read in ((files, digests), (before.files, known)) if before.files is not files else ():
        found.update(filterfalse(read.__contains__, map(path_of, listed)))
    return closed_of(before).union(found)


def closed_of(before: Before) -> frozenset[str]:
    """Return the paths of the files of a catalog that were listed, and could not be opened."""
    return frozenset(path for path, one in before.broken.items() if one.is_closed)


def entries_like(
    before: Before, files: Iterable[TreeFile], loaded: Mapping[str, LoadedFile], *, changed: Set[str]
) -> Entries:
    """Return what files mean that differ from those of a catalog at the `changed` paths alone.

    `files` and `loaded` are those of them that are there, and those that were opened.
    """
    new = entries_of(sorted(files, key=path_of), loaded)
    gone = {path.removesuffix(".md") for path in changed}
    there = {*new.entries, *(path.removesuffix(".md") for path in new.broken)}
    had = {address for address in gone if address in before.entries or f"{address}.md" in before.broken}
    short = without(before.short, gone) | new.short
    # Which files are there decides what a short link means.
    is_open = there != had
    entries = with_entries(before.entries, new.entries, gone=gone)
    findings = [one for one in before.findings if is_entry_place(one.place.path) and one.place.path not in changed]
    return Entries(
        entries,
        {**without(before.sizes, gone), **new.sizes} if gone or new.sizes else before.sizes,
        dict(sorted({**without(before.broken, changed), **new.broken}.items())),
        findings + new.findings,
        short,
        short if is_open else new.short,
        before,
        gone,
    )


def with_entries(
    before: Mapping[str, Entry], new: Mapping[str, Entry], *, gone: Set[str] = frozenset()
) -> Mapping[str, Entry]:
    """Return entries in the order of their files, with those that are `gone` left out and others put in."""
    if not (gone or new):
        # The very same: of a memory that did not change few entries are read.
        return before
    if isinstance(before, StoredEntries) and gone <= new.keys() and (others := before.with_others(new)) is not None:
        return others
    # What is a table already is copied as one.
    entries = dict(before if isinstance(before, dict) else before.items())
    for address in gone - new.keys():
        entries.pop(address, None)
    is_longer = not new.keys() <= entries.keys()
    entries.update(new)
    return dict(sorted(entries.items(), key=lambda one: f"{one[0]}.md")) if is_longer else entries


def lineage_for(
    entries: Mapping[str, Entry], lineage: Lineage, before: Mapping[str, Entry], *, changed: Iterable[str]
) -> Lineage | None:
    """Return a lineage where it holds for other entries, too, which differ at some addresses alone; else None."""
    others = [one for one in changed if not is_same_on_chains(before.get(one), entries.get(one))]
    if others and isinstance(entries, StoredEntries) and all(map(entries.is_apart, others)):
        return Lineage(entries, lineage.one_end_suffices, lineage.chains)
    return None if others else lineage


def without(found: Mapping[str, _Value], gone: Set[str]) -> dict[str, _Value]:
    """Return what is found by other keys than some."""
    kept = dict(found)
    for one in gone & kept.keys():
        del kept[one]
    return kept
