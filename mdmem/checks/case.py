"""The case, which is the input of all checks: a whole tree, the facts from git, and the day."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import date
from functools import cache, cached_property, partial
from typing import NamedTuple, TypedDict, Unpack

from msgspec import Struct, field

from mdmem.checks.facts import GitFacts
from mdmem.checks.prose import FileFacts, Suppression, read_facts, written_items
from mdmem.markdown.parse import Document, without_code
from mdmem.model.entry import Entry
from mdmem.model.finding import Finding, Place, Severity
from mdmem.store.catalog.addresses import full_address, is_entry_place, is_manifest
from mdmem.store.catalog.changes import Changes, changes_between
from mdmem.store.catalog.links import Edge, Reference, classify, reference_of
from mdmem.store.catalog.model import Catalog
from mdmem.store.git.merge import PathConflict
from mdmem.store.settings import Settings
from mdmem.store.tree import TreeFile


class Details(TypedDict, total=False):
    """The fields of a finding that only some findings have."""

    other: Place | None
    severity: Severity | None
    former: str


class Link(NamedTuple):
    """One link in a front matter, as it is written, and the address that it means; None if there is no such entry."""

    entry: Entry
    field: str
    item: int
    written: str
    target: str | None

    @property
    def address(self) -> str:
        """Return the address of the entry with the link."""
        return self.entry.address


class Base(Struct, frozen=True):
    """A tree to compare with, usually the one before a change: its name, its entries and its settings."""

    name: str
    catalog: Catalog
    settings: Settings


class Merge(Struct, frozen=True):
    """A merge that is not made yet, of `ours` (the change) into `theirs`; git cannot merge the paths in `conflicts`."""

    ours: Base
    theirs: Base
    ancestor: Base
    conflicts: tuple[PathConflict, ...]

    def forked(self) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
        """Return the entries that the two sides superseded by different entries, by address.

        Each has two tuples: the new successors of ours alone, and those of theirs alone.
        """
        sides = (self.ancestor, self.ours, self.theirs)
        before, ours, theirs = (side.catalog.lineage.linked_successors for side in sides)
        found = {}
        for old in sorted(ours.keys() & theirs.keys()):
            known = set(before.get(old, ()))
            mine, other = set(ours[old]) - known, set(theirs[old]) - known
            if mine - other and other - mine:
                found[old] = (tuple(sorted(mine - other)), tuple(sorted(other - mine)))
        return found

    def collided(self) -> Iterator[str]:
        """Yield the sorted addresses of entries that both sides added with different content."""
        ours, theirs = self.ours.catalog, self.theirs.catalog
        for address in sorted((ours.addresses & theirs.addresses) - self.ancestor.catalog.addresses):
            if ours.document(f"{address}.md").data != theirs.document(f"{address}.md").data:
                yield address


class Case(Struct, frozen=True, dict=True):
    """The input of one run of the checks.

    `facts` is None outside git. `base` is the tree before the change, or None without one. `merge` is set if the tree
    is the result of a merge that is not made yet. `faults` are findings from preparing the case. `in_ci` makes some
    findings more severe. `cached` has the facts of files by path. If `focus` is not None, checks of single files look
    only at these paths.
    """

    catalog: Catalog
    settings: Settings
    today: date
    facts: GitFacts | None = None
    base: Base | None = None
    merge: Merge | None = None
    faults: tuple[Finding, ...] = ()
    in_ci: bool = False
    cached: Mapping[str, FileFacts] = field(default_factory=dict)
    focus: frozenset[str] | None = None

    def loaded(self, kind: str) -> Iterator[Finding]:
        """Yield the findings of a kind that were made when the files were loaded.

        The kind of a finding is its former code, or its code if it has no former one.
        """
        for one in self._by_kind.get(kind, ()):
            # `focus` only limits the paths of entries. Findings about other files are always included.
            if self.focus is None or one.place.path in self.focus or not is_entry_place(one.place.path):
                yield one

    def loaded_with_document(self, kind: str) -> Iterator[tuple[Document, Finding]]:
        """Yield the findings of `loaded`, each with the document of its file."""
        return ((self.catalog.document(one.place.path), one) for one in self.loaded(kind))

    @cached_property
    def _by_kind(self) -> dict[str, list[Finding]]:
        found: dict[str, list[Finding]] = {}
        for finding in (*self.catalog.findings, *self.faults):
            found.setdefault(finding.former or finding.code, []).append(finding)
        return found

    @cached_property
    def documents(self) -> tuple[tuple[str, Document], ...]:
        """Return the address and document of each entry file in focus whose bytes could be read."""
        there = self.catalog.with_bytes
        named = there if self.focus is None else {path.removesuffix(".md") for path in self.focus if path[-3:] == ".md"}
        return tuple(self.catalog.documents(sorted(there & named)))

    @cached_property
    def entries(self) -> tuple[tuple[Entry, Document], ...]:
        """Return each entry in focus with its document, sorted by address."""
        known = self.catalog.entries
        return tuple((known[address], document) for address, document in self.documents if address in known)

    @cached_property
    def _fields_by_place(self) -> Callable[[str], dict[Place, tuple[str, int]]]:
        """Return the function that gives the fields of a file by the places of their keys, values and items."""

        @cache
        def places(path: str) -> dict[Place, tuple[str, int]]:
            document, found = self.catalog.document(path), dict[Place, tuple[str, int]]()
            for name, value in (document.fields or {}).items():
                for place in (document.place(name), document.place(name, of_key=True)):
                    found.setdefault(place, (name, 0))
                for item in range(len(value) if isinstance(value, list) else 0):
                    found.setdefault(document.place(name, item), (name, item))
            return found

        return places

    def field_at(self, place: Place) -> tuple[str, int]:
        """Return the field whose key, value or item is exactly at a place, and the item's index or 0; else "", 0."""
        return self._fields_by_place(place.path).get(place, ("", 0))

    @cached_property
    def prose_of(self) -> Callable[[str], str]:
        """Return the function that gives the body of an entry with spaces in place of code, so that offsets stay."""
        return cache(lambda address: without_code(self.catalog.document(f"{address}.md").body))

    @cached_property
    def file_facts(self) -> Callable[[str], FileFacts]:
        """Return the function that gives the facts of a file, from `cached` or else by `read_facts`."""

        @cache
        def facts(path: str) -> FileFacts:
            prose = partial(self.prose_of, path.removesuffix(".md"))
            return self.cached.get(path) or read_facts(self.catalog.document(path), prose)

        return facts

    @cached_property
    def suppressions(self) -> tuple[Suppression, ...]:
        """Return all suppressions in readable entries and manifests, also invalid ones, sorted by path and place."""
        manifests = (file.path for file in self.catalog.others if is_manifest(file))
        paths = (*(f"{address}.md" for address in self.catalog.entries), *manifests)
        return tuple(one for path in paths for one in self.file_facts(path).suppressions)

    def gives_reason(self, entry: Entry) -> bool:
        """Return whether an entry says why it supersedes or overrides another; true if its reason is invalid."""
        return bool(entry.reason or "reason" in entry.unread or self.file_facts(entry.path).gives_reason)

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """Return every link of every front matter, sorted by address, field and item."""
        return tuple(link for address in self.catalog.entries for link in self.links_of(address))

    def links_of(self, address: str) -> Iterator[Link]:
        """Yield the links in the front matter of one entry, sorted by field and item."""
        entry, addresses = self.catalog.entries[address], self.catalog.addresses
        written = self.file_facts(entry.path).links
        for name in dict.fromkeys(one.field for one in written):
            listed = (one for one in written if one.field == name)
            for meant in entry.links(name):
                # The entry lacks the invalid items of the file, so skip these.
                for one in listed:
                    if one.written == meant or full_address(one.written, address, addresses) == meant:
                        yield Link(entry, name, one.item, one.written, meant if meant in addresses else None)
                        break

    @cached_property
    def distinct_links(self) -> tuple[Link, ...]:
        """Return the front matter links, without links to the own entry and without repetitions.

        `needless-link` reports the links that are left out.
        """
        distinct: dict[tuple[str, str, str], Link] = {}
        for link in self.links:
            if link.target != link.entry.address:
                distinct.setdefault((link.entry.address, link.field, link.target or link.written), link)
        return tuple(distinct.values())

    @cached_property
    def references(self) -> tuple[Reference, ...]:
        """Return every link in every body, sorted by address and offset."""
        known = self.catalog.addresses
        facts = ((address, self.file_facts(f"{address}.md")) for address in sorted(self.catalog.with_bytes))
        return tuple(reference_of(link, address, known) for address, one in facts for link in one.references)

    @property
    def all_links(self) -> Iterator[Link | Reference]:
        """Yield each link of the front matters without repetitions, then every link in the bodies."""
        yield from self.distinct_links
        yield from self.references

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        """Return every supersession with its kind, sorted by the old and then the new address."""
        return classify(self.catalog, self.untracked)

    @cached_property
    def changes(self) -> Changes:
        """Return the changes of entries since the base; empty without a base."""
        if self.base is None:
            return Changes()
        unmerged = frozenset(path.removesuffix(".md") for path in self.unmerged)
        return changes_between(self.base.catalog, self.catalog, self.changed_documents, left_out=unmerged)

    @cached_property
    def changed_documents(self) -> dict[str, Document]:
        """Return the files of entries that are new or differ from the base, by address; empty without a base."""
        if self.base is None:
            return {}
        old, new, there = self.base.catalog.file_digests, self.catalog.file_digests, self.catalog.with_bytes
        differing = {path.removesuffix(".md") for path, _ in old.items() ^ new.items()}
        # A file without a hash was deleted or unreadable during the listing, so its bytes must be compared.
        differing.update(address for address in there if f"{address}.md" not in new)
        return dict(self.catalog.documents(sorted(there - (self.base.catalog.entries.keys() - differing))))

    @cached_property
    def unmerged(self) -> frozenset[str]:
        """Return the paths that git cannot merge, if the tree is the result of a merge."""
        return frozenset(conflict.path for conflict in self.merge.conflicts) if self.merge else frozenset()

    @cached_property
    def untracked(self) -> frozenset[str]:
        """Return the addresses of files that are on disk but not in git; empty outside git, and for trees from git."""
        on_disk = {file.path for file in self.catalog.files if file.digest is None}
        if self.facts is None or not on_disk:
            return frozenset()
        return frozenset(path.removesuffix(".md") for path in on_disk - self.facts.tracked)

    @cached_property
    def all_files(self) -> tuple[TreeFile, ...]:
        """Return every file below the root."""
        return (*self.catalog.files, *self.catalog.others)

    @cached_property
    def orphans(self) -> tuple[str, ...]:
        """Return the sorted paths of files that look like entries but are in no wing."""
        return self.catalog.tree.orphans()

    @cached_property
    def fetched_wings(self) -> frozenset[str]:
        """Return the wings that are read from another repository, in this tree or in the base."""
        return self.catalog.fetched_wings | (self.base.catalog.fetched_wings if self.base else frozenset())

    @cached_property
    def faulty_manifests(self) -> frozenset[str]:
        """Return the paths of manifests that are invalid."""
        return frozenset(finding.place.path for finding in self._by_kind.get("manifest-invalid", ()))

    def is_current(self, address: str) -> bool:
        """Return whether an entry is active or under review and no current entry supersedes it."""
        return self.catalog.lineage.is_current(address)

    def on_entry(
        self,
        entry: Entry,
        message: str,
        help_: str,
        *,
        field: str = "",
        item: int | None = None,
        **details: Unpack[Details],
    ) -> Finding:
        """Return a finding, still without code, at a field of an entry, or at the beginning of its file."""
        place = self.catalog.place(entry.address, field, item) if field else Place(entry.path)
        return Finding("", message, place, help_, entry.address, **details)

    def on_link(self, link: Link | Reference, message: str, help_: str, **details: Unpack[Details]) -> Finding:
        """Return a finding at a link in a front matter or in a body."""
        if isinstance(link, Link):
            place = self.catalog.place(link.address, link.field, link.item)
        else:
            place = self.catalog.document(f"{link.address}.md").body_place(link.link.offset, link.link.width)
        return Finding("", message, place, help_, link.address, **details)

    def in_body(
        self, address: str, message: str, help_: str, *, offset: int, width: int = 0, **details: Unpack[Details]
    ) -> Finding:
        """Return a finding at an offset in the body of an entry."""
        place = self.catalog.document(f"{address}.md").body_place(offset, width)
        return Finding("", message, place, help_, address, **details)

    def link_place(self, address: str, field: str, target: str) -> Place:
        """Return the place of a link to `target` in a field; without such a link, the beginning of the file."""
        for link in self.links_of(address):
            if link.field == field and target in (link.target, link.written):
                return self.catalog.place(address, field, link.item)
        return Place(f"{address}.md")


def written_in(catalog: Catalog, entry: Entry, name: str) -> str:
    """Return the value of a field as the file has it, or "" without fields. An `Entry` has all times in UTC."""
    fields = catalog.document(entry.path).fields
    return str(fields.get(name)) if fields is not None else ""


def written_links(document: Document, name: str) -> list[str]:
    """Return the items of a link field as they are written in the file."""
    return [text for _, text in written_items(document, name)]


def at_path(path: str, message: str, help_: str, **details: Unpack[Details]) -> Finding:
    """Return a finding about a path, with the address if the path is an entry's."""
    address = path.removesuffix(".md") if is_entry_place(path) else None
    return Finding("", message, Place(path), help_, address, **details)
