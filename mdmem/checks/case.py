"""The case, which is the input of all checks: a whole tree, the facts that only git knows, and the day."""

from __future__ import annotations

import os
import posixpath
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import cache, cached_property, partial
from typing import NamedTuple, TypedDict, Unpack

from msgspec import Struct, field

from mdmem.checks.prose import FileFacts, Suppression, read_facts, written_items
from mdmem.markdown.parse import Document, without_code
from mdmem.model.access import Access
from mdmem.model.entry import Entry
from mdmem.model.fields import LINK_FIELDS
from mdmem.model.finding import Finding, Place, Severity
from mdmem.model.globs import any_match, fixed_part
from mdmem.model.text import shell_word
from mdmem.record import grouped
from mdmem.store.catalog.addresses import by_number, full_address, is_entry_place, is_manifest
from mdmem.store.catalog.changes import Changes, changes_between
from mdmem.store.catalog.links import Edge, Reference, classify, reference_of
from mdmem.store.catalog.model import Catalog
from mdmem.store.git.history import PathConflict, days_of_ends, list_deletions
from mdmem.store.git.process import BlobReader, Repository
from mdmem.store.git.status import list_ignored, list_not_added, list_staged, list_tracked
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
        """Return the entries that the sides of a merge superseded differently, with the successors of each side."""
        sides = (self.ancestor, self.ours, self.theirs)
        before, ours, theirs = (side.catalog.lineage.linked_successors for side in sides)
        found = {}
        for old in sorted(ours.keys() & theirs.keys()):
            mine, other = (set(side[old]).difference(before.get(old, ())) for side in (ours, theirs))
            if mine - other and other - mine:
                found[old] = (tuple(sorted(mine - other)), tuple(sorted(other - mine)))
        return found


class Case(Struct, frozen=True, dict=True):
    """The input of one run of the checks.

    `facts` is None outside git. `base` is the tree before the change. `merge` is set for a merge that is not made yet.
    `merged` are the trees that a merge brings into the base. `faults` are findings from preparing the case. `cached`
    has the facts of files by path. Checks of single files look only at the paths in `focus`, unless it is None. With
    `is_base`, the findings are only compared with those of another tree, so they get no fixes.
    """

    catalog: Catalog
    settings: Settings
    today: date
    facts: GitFacts | None = None
    base: Base | None = None
    merge: Merge | None = None
    merged: tuple[Base, ...] = ()
    faults: tuple[Finding, ...] = ()
    in_ci: bool = False
    cached: Mapping[str, FileFacts] = field(default_factory=dict)
    focus: frozenset[str] | None = None
    is_base: bool = False

    def loaded(self, *kinds: str) -> Iterator[Finding]:
        """Yield the findings with these codes from loading the files; a finding counts by its former code, if any."""
        for one in (finding for kind in kinds for finding in self._by_kind.get(kind, ())):
            # `focus` only limits the paths of entries. Findings about other files are always included.
            if self.focus is None or one.place.path in self.focus or not is_entry_place(one.place.path):
                yield one

    def loaded_with_document(self, kind: str) -> Iterator[tuple[Document, Finding]]:
        """Yield the findings of `loaded` for a code, each with the parsed file."""
        return ((self.catalog.document(one.place.path), one) for one in self.loaded(kind))

    @cached_property
    def _by_kind(self) -> dict[str, list[Finding]]:
        return grouped((one.former or one.code, one) for one in (*self.catalog.findings, *self.faults))

    @cached_property
    def documents(self) -> tuple[tuple[str, Document], ...]:
        """Return the address and the parsed file of each entry to check whose bytes could be read."""
        there = self.catalog.with_bytes
        named = there if self.focus is None else {path.removesuffix(".md") for path in self.focus if path[-3:] == ".md"}
        return tuple(self.catalog.documents(sorted(there & named)))

    @cached_property
    def entries(self) -> tuple[tuple[Entry, Document], ...]:
        """Return each entry to check with its parsed file, sorted by address."""
        known = self.catalog.entries
        return tuple((known[address], document) for address, document in self.documents if address in known)

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
        """Return whether an entry says why it supersedes or overrides another; also true if `reason` is invalid."""
        return bool(entry.reason or "reason" in entry.unread or self.file_facts(entry.path).gives_reason)

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """Return every link of every front matter, sorted by address, field and item."""
        return tuple(link for address in self.catalog.entries for link in self.links_of(address))

    def links_of(self, address: str) -> Iterator[Link]:
        """Yield the links in the front matter of one entry, sorted by field and item."""
        entry, addresses = self.catalog.entries[address], self.catalog.addresses
        meant = frozenset(link for name in LINK_FIELDS for link in entry.links(name))
        for one in self.file_facts(entry.path).links:
            target = full_address(one.written, address, addresses)
            # The entry lacks the invalid items of the file, such as `n/a`.
            if (target or one.written) in meant:
                yield Link(entry, one.field, one.item, one.written, target)

    @cached_property
    def distinct_links(self) -> tuple[Link, ...]:
        """Return the front matter links without those that `needless-link` reports (to the own entry, repetitions)."""
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
    def linking(self) -> Mapping[str, Sequence[str]]:
        """Return the addresses of the entries that link to each entry."""
        return grouped((link.target, link.address) for link in self.all_links if link.target)

    @cached_property
    def numbered(self) -> dict[str, list[str]]:
        """Return the addresses with a number in the entry-id, by names such as `4` and `adr 4`."""
        return by_number(self.catalog.addresses)

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        """Return every supersession with its kind, such as one-sided, sorted by the old and then the new address."""
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
        """Return the paths that git cannot merge; empty if the case is not a merge."""
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

    def place(self, address: str, name: str, item: int | None = None) -> Place:
        """Return the place of a field, or of one item of a list. For a missing field, return the opening fence."""
        path = f"{address}.md"
        found = self.file_facts(path).places.get(name, ((1, 1, 0),))
        return Place(path, *found[item + 1 if item is not None and item + 1 < len(found) else 0])

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
        place = self.place(entry.address, field, item) if field else Place(entry.path)
        return Finding("", message, place, help_, entry.address, **details)

    def on_link(self, link: Link | Reference, message: str, help_: str, **details: Unpack[Details]) -> Finding:
        """Return a finding at a link in a front matter or in a body."""
        if isinstance(link, Reference):
            return self.in_body(link.address, message, help_, offset=link.link.offset, width=link.link.width, **details)
        return self.on_entry(link.entry, message, help_, field=link.field, item=link.item, **details)

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
                return self.place(address, field, link.item)
        return Place(f"{address}.md")


def written_in(catalog: Catalog, entry: Entry, name: str) -> str:
    """Return a field's value as the file has it, since an `Entry` has times in UTC; empty without readable fields."""
    fields = catalog.document(entry.path).fields
    return str(fields.get(name)) if fields is not None else ""


def written_links(document: Document, name: str) -> list[str]:
    """Return the items of a link field as they are written in the file."""
    return [text for _, text in written_items(document, name)]


def at_path(path: str, message: str, help_: str, **details: Unpack[Details]) -> Finding:
    """Return a finding about a path, with the address if the path is an entry's."""
    address = path.removesuffix(".md") if is_entry_place(path) else None
    return Finding("", message, Place(path), help_, address, **details)


class GitFacts(Struct, frozen=True, dict=True):
    """Facts from git about the files below one root; paths are relative to the root unless a name says otherwise.

    `on_disk` are the paths to ask git about. `revisions` are the commits whose history is read; if empty, HEAD.
    `access` limits every answer to the wings that the caller may read.
    """

    repository: Repository
    under: str
    on_disk: tuple[str, ...]
    revisions: tuple[str, ...] = ()
    access: Access = Access()
    hidden: frozenset[str] = frozenset()

    @cached_property
    def tracked(self) -> frozenset[str]:
        """Return the paths in git's index below the root, without files that were only added with `--intent-to-add`."""
        return self._seen(blob.path for blob in list_staged(self.repository, self.under))

    @cached_property
    def tracked_in_repository(self) -> frozenset[str]:
        """Return every path in git's index, relative to the top of the repository."""
        paths = list_tracked(self.repository)
        hidden = tuple(f"{self.from_top(name)}/" for name in self.hidden)
        return frozenset(path for path in paths if not path.startswith(hidden)) if hidden else paths

    def committed(self, path: str) -> bytes | None:
        """Return the content of a file in HEAD, or None if HEAD has no such file or the caller may not read it."""
        # A path with a line feed would be read as two requests.
        if "\n" in path or not self.access.sees(path):
            return None
        return self._reader.read(f"HEAD:{self.from_top(path)}")

    @cached_property
    def _reader(self) -> BlobReader:
        return BlobReader(self.repository)

    @cached_property
    def ignored(self) -> frozenset[str]:
        """Return the paths on disk below the root that git ignores."""
        asked = [self.from_top(path) for path in self.on_disk if path not in self.tracked]
        return self._seen(list_ignored(self.repository, asked))

    @cached_property
    def not_added(self) -> frozenset[str]:
        """Return the untracked paths below the root that git does not ignore."""
        return self._seen(list_not_added(self.repository, self.under))

    @cached_property
    def deleted(self) -> Mapping[str, tuple[str, str | None]]:
        """Return the last commit that deleted each path (empty if only staged), and the new path of a moved file."""
        found = {}
        for path, (commit, moved) in list_deletions(self.repository, self.under, revisions=self.revisions).items():
            new = self._from_root(moved) if moved else None
            found[self._from_root(path)] = (commit, new if new is not None and self.access.sees(new) else None)
        return {path: fate for path, fate in found.items() if self.access.sees(path)}

    @cached_property
    def ended(self) -> Mapping[str, str]:
        """Return, for each deprecated file, the ISO date on which its status became `deprecated`."""
        return {self._from_root(path): day for path, day in days_of_ends(self.repository, self.under).items()}

    def _seen(self, paths: Iterable[str]) -> frozenset[str]:
        return frozenset(path for path in map(self._from_root, paths) if self.access.sees(path))

    def _from_root(self, path: str) -> str:
        return path.removeprefix(f"{self.under}/") if self.under else path

    def from_top(self, path: str) -> str:
        """Return a path from the root as a path from the top of the repository."""
        return f"{self.under}/{path}" if self.under else path

    def add_hint(self, path: str) -> str:
        """Return the hint to add a file to git."""
        force = "-f " if path in self.ignored else ""
        return f"run `git add {force}-- {shell_word(self.from_top(path))}` at the repository's top"

    @cached_property
    def _sorted(self) -> list[str]:
        # All paths below a folder follow each other.
        return sorted(self.tracked_in_repository)

    def has(self, path: str) -> bool:
        """Return whether a file or folder is tracked; the path starts at the root, or with a slash at the top."""
        top = self._normalised(path)
        return top in self.tracked_in_repository or next(self._below(f"{top}/"), None) is not None

    def is_on_disk(self, path: str) -> bool:
        """Return whether git could add a file at such a path; False if the caller may read only some wings."""
        top = self._normalised(path)
        return not (self.access.is_narrow or top.startswith("..")) and os.path.lexists(self.repository.top / top)

    def _normalised(self, path: str) -> str:
        top = path.lstrip("/") if path.startswith("/") else posixpath.normpath(self.from_top(path))
        return top.rstrip("/")

    def has_match(self, glob: str) -> bool:
        """Return whether a glob matches a tracked path; False for a glob that cannot match a path in the repository."""
        start = fixed_part(glob)
        return start is not None and any_match([glob], self._below(start)) is not None

    def _below(self, start: str) -> Iterator[str]:
        for number in range(bisect_left(self._sorted, start), len(self._sorted)):
            if not self._sorted[number].startswith(start):
                break
            yield self._sorted[number]
