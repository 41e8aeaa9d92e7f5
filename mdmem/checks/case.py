"""What a check is given: a whole tree, and what git and the day have to say about it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from datetime import date
from functools import cached_property
from typing import NamedTuple, Protocol

from msgspec import Struct, field

from mdmem.checks.extract import DocumentExtract, Extract, KeptExtract, WrittenLink
from mdmem.checks.prose import text_gives_reason
from mdmem.checks.suppressions import Suppression
from mdmem.markdown.parse import Document
from mdmem.model.entry import Entry, Status
from mdmem.model.finding import Finding, Place
from mdmem.store.catalog import Catalog, full_address, is_entry_place
from mdmem.store.catalog.addresses import is_manifest, is_misnamed, is_usual
from mdmem.store.catalog.changes import Changes, changes_between
from mdmem.store.catalog.links import Edge, Reference, classify, reference_of
from mdmem.store.git.history import FileDays
from mdmem.store.git.merge import PathConflict
from mdmem.store.settings import Settings
from mdmem.store.tree import TreeFile, orphaned_entries


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
    def not_added(self) -> frozenset[str]:
        """Return the paths below the root that are on disk, and that git neither knows nor ignores."""
        ...

    @property
    def deleted(self) -> Mapping[str, tuple[str, str | None]]:
        """Return, by path, the commit that deleted a file, none for git's index, and where it moved to, if it moved."""
        ...

    @property
    def days(self) -> FileDays:
        """Return when files came and when their status became deprecated, as history tells."""
        ...


class Link(NamedTuple):
    """One link of a front matter, as written and as meant; `target` is None where it leads nowhere."""

    entry: Entry
    field: str
    item: int
    written: str
    target: str | None


class Base(Struct, frozen=True):
    """The tree that a change started from: what people call it, its entries and its settings."""

    name: str
    catalog: Catalog
    settings: Settings


class Merge(Struct, frozen=True):
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


class Case(Struct, frozen=True, dict=True):
    """One run of the checks; `facts` is None outside git, `base` where there is nothing to compare with.

    `merge` is given where the tree is the result of a merge that has not happened; `faults` are what went wrong
    while the case was put together; `known_changes` what the change did, where that was found out already.
    `kept` is what is known of files by path, so that nobody need read them again; `focus` are the paths of the files
    that checks of one file look at; None where that is all of them.
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
    kept: Mapping[str, KeptExtract] = field(default_factory=dict)
    focus: frozenset[str] | None = None

    def loaded(self, code: str) -> Iterator[Finding]:
        """Yield what loading, or putting the case together, found under one code, as far as it is in focus."""
        yield from (one for one in self._by_code.get(code, ()) if self.is_in_focus(one.place.path))

    def is_in_focus(self, path: str) -> bool:
        """Say whether checks of one file look at a path; what is in no entry's place they always do."""
        return self.focus is None or path in self.focus or not is_entry_place(path)

    @cached_property
    def _by_code(self) -> dict[str, list[Finding]]:
        found: dict[str, list[Finding]] = {}
        for finding in (*self.catalog.findings, *self.faults):
            found.setdefault(finding.code, []).append(finding)
        return found

    def has_work(self, code: str) -> bool:
        """Say whether a check of one file has anything to look at here."""
        return bool(self.documents) or not self._is_printable or any(True for _ in self.loaded(code))

    @cached_property
    def _is_printable(self) -> bool:
        return all(file.path.isprintable() for file in self.catalog.others)

    @cached_property
    def documents(self) -> tuple[tuple[str, Document], ...]:
        """Return every file in focus that is in an entry's place and has bytes, with its address."""
        there = self.catalog.with_bytes
        named = there if self.focus is None else {path.removesuffix(".md") for path in self.focus if path[-3:] == ".md"}
        return tuple(self.catalog.documents(sorted(there & named)))

    @cached_property
    def entries(self) -> tuple[tuple[Entry, Document], ...]:
        """Return every entry in focus with its document, by address."""
        return tuple(
            (self.catalog.entries[address], document)
            for address, document in self.documents
            if address in self.catalog.entries
        )

    @cached_property
    def prose(self) -> Mapping[str, str]:
        """Return each document's body by address, with code blanked out and every character at its offset."""
        return {
            address: self._extract_of(document).prose
            for address, document in self.documents
            if document.fields is not None
        }

    def extract(self, path: str) -> Extract:
        """Return what a file tells the checks that look at more than one."""
        return self.kept.get(path) or self._extract_of(self.catalog.document(path))

    def prose_of(self, address: str) -> str:
        """Return the body of one entry, with code blanked out and every character at its offset."""
        return self._extract_of(self.catalog.document(f"{address}.md")).prose

    def _extract_of(self, document: Document) -> DocumentExtract:
        found = self._extracts.get(document.path)
        if found is None:
            found = self._extracts[document.path] = DocumentExtract(document)
        return found

    @cached_property
    def _extracts(self) -> dict[str, DocumentExtract]:
        return {}

    @cached_property
    def suppressions(self) -> tuple[Suppression, ...]:
        """Return every suppression of every readable entry and manifest, by path and place; one that is faulty, too."""
        silent = {path for path, one in self.kept.items() if not one.suppressions}
        entries = [path for address in self.catalog.entries if (path := f"{address}.md") not in silent]
        manifests = (file.path for file in self.catalog.others if is_manifest(file))
        return tuple(one for path in (*entries, *manifests) for one in self.extract(path).suppressions)

    def gives_reason(self, entry: Entry) -> bool:
        """Say whether an entry holds a reason, or one that could not be read."""
        if entry.reason or "reason" in entry.unread:
            return True
        told = self.extract(entry.path).gives_reason
        return text_gives_reason(self.catalog.document(entry.path).body) if told is None else told

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """Return every link of every front matter, by address, field and item."""
        return tuple(self._links())

    def _links(self) -> Iterator[Link]:
        addresses = self.catalog.addresses
        for entry in self.catalog.entries.values():
            written = self.extract(entry.path).links
            if len(written) == 1 and entry.links(written[0].field) == (written[0].written,):
                (one,) = written
                yield Link(entry, one.field, one.item, one.written, one.written if one.written in addresses else None)
                continue
            for name in dict.fromkeys(one.field for one in written):
                yield from _field_links(entry, name, written, addresses)

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
        known = self.catalog.addresses
        found = ((one, self.extract(f"{one}.md").references) for one in self.catalog.with_bytes)
        named = sorted((address, links) for address, links in found if links)
        return tuple(reference_of(link, address, known) for address, links in named for link in links)

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
        before, old, new = self.base.catalog, self.base.catalog.file_digests, self.catalog.file_digests
        apart = {path.removesuffix(".md") for path, _ in old.items() ^ new.items()}
        # A file without a digest went away or refused while it was listed: only its bytes tell.
        apart.update(address for address in self.catalog.with_bytes if f"{address}.md" not in new)
        told = sorted((self.catalog.with_bytes - before.entries.keys()) | (self.catalog.with_bytes & apart))
        return changes_between(before, self.catalog, dict(self.catalog.documents(told)), left_out=unmerged)

    @cached_property
    def unmerged(self) -> frozenset[str]:
        """Return the paths that git cannot merge, where the tree is the result of a merge."""
        return frozenset(conflict.path for conflict in self.merge.conflicts) if self.merge else frozenset()

    @cached_property
    def untracked(self) -> frozenset[str]:
        """Return the addresses whose file is on disk and not in git; none outside git, or where git lists the files."""
        if self.facts is None:
            return frozenset()
        on_disk = {file.path for file in self.catalog.files if file.digest is None}
        # Where git lists the files it need not be asked.
        apart = on_disk - self.facts.tracked if on_disk else on_disk
        return frozenset(path.removesuffix(".md") for path in apart)

    @cached_property
    def others(self) -> tuple[TreeFile, ...]:
        """Return the files in no entry's place; what is misnamed has its own finding."""
        return tuple(file for file in self.catalog.others if not is_misnamed(file.path))

    @cached_property
    def unusual_paths(self) -> tuple[str, ...]:
        """Return the paths in an entry's place whose names something may be wrong with."""
        return tuple(file.path for file in self.catalog.files if not is_usual(file.path))

    @cached_property
    def orphans(self) -> tuple[str, ...]:
        """Return the paths of what is meant as an entry and lies in no wing, sorted."""
        return orphaned_entries(self.catalog.tree)

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
        written = self.extract(f"{address}.md").links
        for link in _field_links(self.catalog.entries[address], field, written, self.catalog.addresses):
            if target in (link.target, link.written):
                return self.catalog.place(address, field, link.item)
        return Place(f"{address}.md")

    def in_body(self, code: str, address: str, message: str, help_: str, *, offset: int, width: int = 0) -> Finding:
        """Return a finding at a character of the body of a document."""
        place = self.catalog.document(f"{address}.md").body_place(offset, width)
        return Finding(code, message, place, help_, address)


def _field_links(
    entry: Entry, name: str, written: tuple[WrittenLink, ...], addresses: Collection[str]
) -> Iterator[Link]:
    """Yield the links of one field beside what the file holds, where an item that could not be read has no link."""
    listed = (one for one in written if one.field == name)
    for meant in entry.links(name):
        for one in listed:
            if one.written == meant or full_address(one.written, entry.address, addresses) == meant:
                yield Link(entry, name, one.item, one.written, meant if meant in addresses else None)
                break


def written_links(document: Document, name: str) -> list[str]:
    """Return what a link field holds in the file, item by item."""
    value = document.fields.get(name) if document.fields is not None else None
    return [str(item) for item in (value if isinstance(value, list) else [value]) if item is not None]
