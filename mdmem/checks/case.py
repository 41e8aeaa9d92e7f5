"""What a check is given: a whole tree, and what git and the day have to say about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Protocol

from mdmem.catalog import Catalog, full_address
from mdmem.catalog.changes import Changes, changes_between
from mdmem.catalog.edges import Edge, classify
from mdmem.catalog.links import Reference, references_in
from mdmem.document.parse import Document, without_code
from mdmem.entry.model import LINK_FIELDS, Entry, Status
from mdmem.finding import Finding, Place
from mdmem.git.merge import PathConflict
from mdmem.settings import Settings


class Facts(Protocol):
    """What only git knows, asked when a check needs it; every path counts from the root."""

    @property
    def tracked(self) -> frozenset[str]:
        """Return the paths in git's index, anything of the repository that lies outside the root left out."""
        ...

    @property
    def tracked_in_repository(self) -> frozenset[str]:
        """Return every path of git's index, counted from the repository's top."""
        ...

    def committed(self, path: str) -> bytes | None:
        """Return what the last commit has of a file; None where it has none."""
        ...

    @property
    def ignored(self) -> frozenset[str]:
        """Return the paths below the root that git ignores."""
        ...

    @property
    def deleted(self) -> Mapping[str, tuple[str, str | None]]:
        """Return, by path, the commit that deleted a file and where it moved to, if it moved."""
        ...


@dataclass(frozen=True)
class Link:
    """One link of a front matter, as written and as meant; `target` is None where it leads nowhere."""

    entry: Entry
    field: str
    item: int
    written: str
    target: str | None


@dataclass(frozen=True, slots=True)
class Base:
    """The tree that a change started from: what people call it, its entries and its settings."""

    name: str
    catalog: Catalog
    settings: Settings


@dataclass(frozen=True, slots=True)
class Merge:
    """A merge that has not happened: the two sides, the tree they both came from, and what git cannot merge.

    `ours` is the change, `theirs` what it is merged into.
    """

    ours: Base
    theirs: Base
    ancestor: Base
    conflicts: tuple[PathConflict, ...]

    def forked(self) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
        """Return the entries that both sides superseded by different ones, each with our and their new successors."""
        before, ours, theirs = (side.catalog.lineage.said for side in (self.ancestor, self.ours, self.theirs))
        found = {}
        for old in sorted(ours.keys() & theirs.keys()):
            known = set(before.get(old, ()))
            mine, other = set(ours[old]) - known, set(theirs[old]) - known
            if mine - other and other - mine:
                found[old] = (tuple(sorted(mine - other)), tuple(sorted(other - mine)))
        return found

    def collided(self) -> Iterator[str]:
        """Yield the addresses that both sides added with different content, sorted."""
        ours, theirs = self.ours.catalog, self.theirs.catalog
        for address in sorted((ours.addresses & theirs.addresses) - self.ancestor.catalog.addresses):
            if ours.document(f"{address}.md").data != theirs.document(f"{address}.md").data:
                yield address


@dataclass(frozen=True)
class Case:
    """One run of the checks; `facts` is None outside git, `base` where there is nothing to compare with.

    `merge` is given where the tree is the result of a merge that has not happened; `faults` are what went wrong
    while the case was put together; `known_changes` what the change did, where that was found out already.
    """

    catalog: Catalog
    settings: Settings
    today: date
    facts: Facts | None = None
    base: Base | None = None
    merge: Merge | None = None
    faults: tuple[Finding, ...] = ()
    in_ci: bool = False
    known_changes: Changes | None = None

    def loaded(self, code: str) -> Iterator[Finding]:
        """Yield what loading, or putting the case together, found under one code."""
        yield from self._by_code.get(code, ())

    @cached_property
    def _by_code(self) -> dict[str, list[Finding]]:
        found: dict[str, list[Finding]] = {}
        for finding in (*self.catalog.findings, *self.faults):
            found.setdefault(finding.code, []).append(finding)
        return found

    @cached_property
    def documents(self) -> tuple[tuple[str, Document], ...]:
        """Return every file in an entry's place that has bytes, with its address."""
        places = [
            path.removesuffix(".md") for path, broken in self.catalog.broken.items() if not _is_closed(broken.findings)
        ]
        return tuple(self.catalog.documents(sorted([*self.catalog.entries, *places])))

    @cached_property
    def entries(self) -> tuple[tuple[Entry, Document], ...]:
        """Return every entry with its document, by address."""
        return tuple(
            (self.catalog.entries[address], document)
            for address, document in self.documents
            if address in self.catalog.entries
        )

    @cached_property
    def prose(self) -> Mapping[str, str]:
        """Return each document's body by address, with code blanked out and every character at its offset."""
        return {
            address: without_code(document.body) for address, document in self.documents if document.fields is not None
        }

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """Return every link of every front matter, by address, field and item."""
        return tuple(link for entry in self.catalog.entries.values() for link in _links(entry, self.catalog))

    @cached_property
    def distinct_links(self) -> tuple[Link, ...]:
        """Return each link once; what is left out has its own finding, `self-link` or `duplicate-link`."""
        distinct: dict[tuple[str, str, str], Link] = {}
        for link in self.links:
            if link.target != link.entry.address:
                distinct.setdefault((link.entry.address, link.field, link.target or link.written), link)
        return tuple(distinct.values())

    @cached_property
    def amendments(self) -> tuple[tuple[Link, Entry], ...]:
        """Return the links of what is or may come in force to what it amends, where that can be read."""
        entries = self.catalog.entries
        links = (link for link in self.distinct_links if link.field == "amends" and link.target in entries)
        alive = (link for link in links if link.entry.status is Status.DRAFT or self.is_current(link.entry.address))
        return tuple((link, entries[link.target]) for link in alive if link.target is not None)

    @cached_property
    def references(self) -> tuple[Reference, ...]:
        """Return every cross-reference of every body, by address and offset."""
        return tuple(references_in(self.prose, self.catalog.addresses))

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        """Return every supersession edge in its one class, by superseded and superseding address."""
        return classify(self.catalog, self.untracked)

    @cached_property
    def changes(self) -> Changes:
        """Return what the change did to the entries of its base; nothing where there is no base."""
        if self.known_changes is not None:
            return self.known_changes
        if self.base is None:
            return Changes()
        unmerged = frozenset(path.removesuffix(".md") for path in self.unmerged)
        return changes_between(self.base.catalog, self.catalog, dict(self.documents), left_out=unmerged)

    @cached_property
    def unmerged(self) -> frozenset[str]:
        """Return the paths that git cannot merge, where the tree is the result of a merge."""
        return frozenset(conflict.path for conflict in self.merge.conflicts) if self.merge else frozenset()

    @cached_property
    def untracked(self) -> frozenset[str]:
        """Return the addresses whose file is on disk and not in git; none outside git, or where git lists the files."""
        if self.facts is None:
            return frozenset()
        on_disk = (file.path for file in self.catalog.files if file.digest is None)
        return frozenset(path.removesuffix(".md") for path in on_disk if path not in self.facts.tracked)

    @cached_property
    def fetched_wings(self) -> frozenset[str]:
        """Return the wings that are read from another repository, or were in the base: they are written there."""
        return self.catalog.fetched_wings | (self.base.catalog.fetched_wings if self.base else frozenset())

    def is_current(self, address: str) -> bool:
        """Say whether an entry is in force and nothing in force supersedes it."""
        return self.catalog.lineage.is_current(address)

    def on_entry(
        self, code: str, entry: Entry, message: str, help_: str, *, field: str = "", item: int | None = None
    ) -> Finding:
        """Return a finding at a field of an entry, or at the head of its file."""
        place = self.catalog.place(entry.address, field, item) if field else Place(entry.path)
        return Finding(code, message, place, help_, entry.address)

    def link_place(self, address: str, field: str, target: str) -> Place:
        """Return where an entry names another in one link field; the head of its file where it does not."""
        for link in _field_links(self.catalog.entries[address], field, self.catalog):
            if target in (link.target, link.written):
                return self.catalog.place(address, field, link.item)
        return Place(f"{address}.md")

    def in_body(self, code: str, address: str, message: str, help_: str, *, offset: int, width: int = 0) -> Finding:
        """Return a finding at a character of the body of a document."""
        place = self.catalog.document(f"{address}.md").body_place(offset, width)
        return Finding(code, message, place, help_, address)


def _links(entry: Entry, catalog: Catalog) -> Iterator[Link]:
    for name in LINK_FIELDS:
        if entry.links(name):
            yield from _field_links(entry, name, catalog)


def _field_links(entry: Entry, name: str, catalog: Catalog) -> Iterator[Link]:
    """Yield the links of one field beside what the file holds, where an item that could not be read has no link."""
    listed = enumerate(_items(catalog.document(entry.path), name))
    for meant in entry.links(name):
        for item, written in listed:
            if written == meant or full_address(str(written), entry.address, catalog.addresses) == meant:
                yield Link(entry, name, item, str(written), meant if meant in catalog.addresses else None)
                break


def written_links(document: Document, name: str) -> list[str]:
    """Return what a link field holds in the file, item by item."""
    return [str(item) for item in _items(document, name) if item is not None]


def _items(document: Document, name: str) -> list[object]:
    value = document.fields.get(name) if document.fields is not None else None
    return value if isinstance(value, list) else [value]


def _is_closed(findings: tuple[Finding, ...]) -> bool:
    """Say whether a file has no bytes to look at: it is a link, a submodule, or cannot be read."""
    return any(finding.code in ("symlink", "submodule", "unreadable") for finding in findings) or not findings
