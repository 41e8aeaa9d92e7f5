"""All entries of a tree, the faults found while loading them, and the graphs that are derived from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import force_setattr, replace

from mdmem.errors import GoneError
from mdmem.markdown.front_matter import body_of
from mdmem.model.access import Access
from mdmem.model.entry import Entry, EntryType, Status, Wing, having, of_kind
from mdmem.model.finding import Finding, Place
from mdmem.model.lineage import BINDING, Lineage, Stance, Standing
from mdmem.store.catalog.addresses import is_manifest, may_hide_entries
from mdmem.store.catalog.redaction import Redaction, is_hidden_path, known_addresses
from mdmem.store.catalog.snapshot import LoadedFile, iter_documents, not_fetched, unreadable
from mdmem.store.tree import Tree, TreeFile, Unreadable, digest_of, find_file, read_one

if TYPE_CHECKING:
    from mdmem.markdown.parse import Document

SUPERSEDES = "supersedes"
_FIELDS = ("conflicts_with", "overrides", "amends", SUPERSEDES, "produced", "see")
_linked = attrgetter(*_FIELDS, "superseded_by", "relations")

# The address at the other end, and the relationship.
_FieldLink = tuple[str, str]


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for one, other in sorted(pairs):
        found.setdefault(one, []).append(other)
    return {one: tuple(others) for one, others in found.items()}


def is_lower(new: Entry, old: Entry) -> bool:
    """Return whether an entry has less authority than the one that it amends."""
    return new.type.rank > old.type.rank


def may_speak_for(new: Entry, old: Entry, wings: Mapping[str, Wing]) -> bool:
    """Return whether an entry may amend another: both are in one wing, or a project's entry amends a shared one."""
    return new.wing == old.wing or (wings[old.wing].is_shared and not wings[new.wing].is_shared)


class Derived(Struct, frozen=True, eq=False, dict=True):
    """Values derived from the entries and wings alone, each computed on first use.

    An amendment counts if it is by a current entry, of no less authority, that may amend the other's wing. The
    successor of an amendment amends in its place. A project amends a shared entry only for itself.
    """

    entries: Mapping[str, Entry]
    wings: Mapping[str, Wing]
    one_end_suffices: bool | frozenset[str]

    @cached_property
    def lineage(self) -> Lineage:
        """Return the supersession graph."""
        return Lineage(self.entries, self.one_end_suffices)

    @cached_property
    def rooms(self) -> Mapping[str, Sequence[str]]:
        """Return the addresses of the entries by wing and room, as `wing/room`, in their order."""
        found: dict[str, list[str]] = {}
        for address in self.entries:
            found.setdefault(address.rpartition("/")[0], []).append(address)
        return found

    @cached_property
    def outgoing(self) -> Mapping[str, Sequence[_FieldLink]]:
        """Return the links in the fields of each entry."""
        found: dict[str, list[_FieldLink]] = {}
        for address, entry in self.entries.items():
            *named, newer, relations = _linked(entry)
            links = [(target, name) for name, targets in zip(_FIELDS, named, strict=True) for target in targets]
            links += [(relation.to, relation.type.casefold()) for relation in relations]
            if links:
                found.setdefault(address, []).extend(links)
            # Either end may state a supersession; its source is the newer entry.
            for new in newer:
                found.setdefault(new, []).append((address, SUPERSEDES))
        return found

    @cached_property
    def incoming(self) -> Mapping[str, Sequence[_FieldLink]]:
        """Return the links to each address."""
        found: dict[str, list[_FieldLink]] = {}
        for source, links in self.outgoing.items():
            for target, relationship in links:
                found.setdefault(target, []).append((source, relationship))
        return found

    def amended_by(self, address: str, *, project: str | None = None) -> tuple[str, ...]:
        """Return the sorted amendments of an entry: all, or those of its own wing and one project."""
        found, wing = self._amended_by.get(address, ()), self.entries[address].wing
        return tuple(one for one in found if project is None or self.entries[one].wing in (wing, project))

    def amends(self, address: str) -> tuple[str, ...]:
        """Return the sorted addresses that an entry amends."""
        return self._amends.get(address, ())

    @cached_property
    def with_amendments(self) -> Set[str]:
        """Return every entry that amends another, or is amended."""
        return self._amended_by.keys() | self._amends.keys()

    @cached_property
    def _amended_by(self) -> dict[str, tuple[str, ...]]:
        entries, heads, pairs = self.entries, self.lineage.heads, set[tuple[str, str]]()
        for entry in having(entries, "amends"):
            for old in entry.amends if entry.status is not Status.DRAFT else ():
                # A successor that also replaced the amended entry amends it no longer.
                for new in heads(entry.address) if old in entries else ():
                    counts = not is_lower(entries[new], entries[old])
                    counts = counts and may_speak_for(entries[new], entries[old], self.wings)
                    if counts and new not in heads(old):
                        pairs.add((old, new))
        return _grouped(pairs)

    @cached_property
    def _amends(self) -> dict[str, tuple[str, ...]]:
        return _grouped((new, old) for old, amendments in self._amended_by.items() for new in amendments)

    @cached_property
    def of_type(self) -> Mapping[EntryType, frozenset[str]]:
        """Return the addresses of the entries of each type."""
        return {kind: frozenset(of_kind(self.entries, kind)) for kind in EntryType}

    @cached_property
    def drafts(self) -> Mapping[str, Entry]:
        """Return the drafts by address."""
        return {address: self.entries[address] for address in of_kind(self.entries, Status.DRAFT)}

    @cached_property
    def overriding(self) -> Sequence[Entry]:
        """Return the entries that override another."""
        return having(self.entries, "overrides")

    @cached_property
    def contested(self) -> Sequence[Entry]:
        """Return the entries that state a contradiction."""
        return having(self.entries, "contradicts")

    @cached_property
    def with_globs(self) -> frozenset[str]:
        """Return the addresses of the entries that apply only to some files."""
        return frozenset(entry.address for entry in having(self.entries, "applies_to"))

    @cached_property
    def splits(self) -> Sequence[tuple[str, Sequence[str]]]:
        """Return the entries with several current successors and no reason for that, each with these."""
        lineage, found = self.lineage, list[tuple[str, Sequence[str]]]()
        for old, successors in (*lineage.successors.items(), *lineage.claimants.items()):
            current = [new for new in successors if lineage.is_current(new)] if len(successors) > 1 else []
            if len(current) > 1 and not self.entries[old].declares_split(successors):
                found.append((old, current))
        return found


CHANGED = "changed"
"""The digest of a file that changed since its entry was loaded."""


class Catalog(Struct, frozen=True, eq=False, dict=True):
    """The entries and wings of one tree, by address and name, sorted.

    `broken` are the files in an entry's place without a readable entry: each may be an invariant. `others` is
    everything else below the root; `sizes` are the bytes of each entry's body without blank ends. If the tree is
    narrowed to some wings, entries do not mention the others; documents are as written. `one_end_suffices` says
    whether a one-sided supersession hides the older entry: everywhere, or in these wings. `stances` has the entries
    that differ from the default branch or are not approved there; None if that is unknown.
    """

    tree: Tree
    entries: Mapping[str, Entry]
    wings: Mapping[str, Wing]
    broken: Mapping[str, LoadedFile]
    findings: tuple[Finding, ...]
    files: tuple[TreeFile, ...]
    others: tuple[TreeFile, ...]
    sizes: Mapping[str, int]
    _documents: dict[str, Document] = field(default_factory=dict)
    _digests: dict[str, str] | None = None
    stances: Mapping[str, Stance] | None = None
    one_end_suffices: bool | frozenset[str] = False
    # Catalogs of the same entries share it.
    derived: Derived = None  # type: ignore[assignment]  # set when it is made

    def __post_init__(self) -> None:
        """Keep the derived part where the entries are the same."""
        old = self.derived
        is_same = old is not None and old.entries is self.entries and old.wings is self.wings
        if not is_same or old.one_end_suffices != self.one_end_suffices:
            force_setattr(self, "derived", Derived(self.entries, self.wings, self.one_end_suffices))

    def over(self, tree: Tree) -> Catalog:
        """Return the same catalog on another tree of the same files; texts are read again from that tree."""
        return replace(self, tree=tree, _documents={})

    def with_own_documents(self) -> Catalog:
        """Return the same catalog with its own cache of documents, so that this one does not grow."""
        return replace(self, _documents=dict(self._documents))

    def stance(self, address: str) -> Stance | None:
        """Return how an entry compares with the default branch, None if that is unknown."""
        return self.stances.get(address, BINDING) if self.stances is not None else None

    def is_merged(self, address: str) -> bool:
        """Return whether an entry is an agent's merged decision that nobody approved and nothing replaced."""
        stance = (self.stances or {}).get(address)
        return stance is not None and stance.standing is Standing.MERGED and not self.lineage.heads(address)

    @property
    def lineage(self) -> Lineage:
        """Return the supersession graph of the entries."""
        return self.derived.lineage

    @cached_property
    def everything(self) -> Set[str]:
        """Return the addresses of all entries."""
        return self.entries.keys()

    @cached_property
    def addresses(self) -> Set[str]:
        """Return the address of every file, readable or not.

        It contains each address of a wing that is hidden or not fetched, but does not list them.
        """
        broken = {path.removesuffix(".md") for path in self.broken}
        found = self.entries.keys() | broken if broken else self.entries.keys()
        return known_addresses(found, self.access, self.missing_wings)

    @property
    def access(self) -> Access:
        """Return the access that the tree is narrowed to."""
        return self.tree.access

    @property
    def fetched_wings(self) -> frozenset[str]:
        """Return the wings of other repositories, which cannot be written here."""
        return self.tree.fetched_wings

    @cached_property
    def missing_wings(self) -> frozenset[str]:
        """Return the wings of other repositories that are not read."""
        return frozenset(wing.name for wing in self.tree.missing_wings)

    @cached_property
    def _redaction(self) -> Redaction:
        return Redaction(self.access, self.addresses)

    def hides(self, link: str, near: str = "") -> bool:
        """Return whether a link leads into a hidden wing; `near` is the address of the entry with the link."""
        return self.access.is_narrow and self._redaction.hides(link, near or "-/-/-")

    def hides_path(self, path: str) -> bool:
        """Return whether a file, from the root, is in a wing that is hidden or not fetched."""
        return is_hidden_path(path, self.access) or path.partition("/")[0] in self.missing_wings

    def names_hidden(self, text: str, path: str) -> bool:
        """Return whether a text of a file mentions an address of a hidden wing."""
        return self._redaction.names(text, _near(path))

    def shown_fields(self, document: Document) -> dict[str, Any]:
        """Return the front matter of a document as the caller may see it."""
        return self._redaction.fields(document.fields or {}, _near(document.path))

    def shown_body(self, document: Document) -> str:
        """Return the body of a document as the caller may see it."""
        return self._redaction.body(document.body, _near(document.path))

    @cached_property
    def closed(self) -> tuple[Finding, ...]:
        """Return the unread files in the place of a wing, room or manifest: they may hide entries."""
        return tuple(unreadable(file).findings[0] for file in self.others if may_hide_entries(file))

    @cached_property
    def with_bytes(self) -> Set[str]:
        """Return the addresses whose files were opened, readable or not."""
        closed = {"symlink", "submodule", "unreadable"}
        codes = {path.removesuffix(".md"): {one.code for one in file.findings} for path, file in self.broken.items()}
        return self.entries.keys() | {address for address, found in codes.items() if found and not found & closed}

    @cached_property
    def not_fetched(self) -> tuple[Finding, ...]:
        """Return a finding for each wing of another repository that is not read: it may have binding entries."""
        return tuple(not_fetched(self.tree))

    @cached_property
    def digests(self) -> dict[str, str]:
        """Return the digest of each entry's content, by address."""
        found = self.file_digests
        return {address: found[path] for address in self.entries if (path := f"{address}.md") in found}

    @cached_property
    def file_digests(self) -> dict[str, str]:
        """Return the digest of each readable file in an entry's or a manifest's place."""
        if self._digests is not None:
            return self._digests
        return self.tree.digests([*self.files, *(file for file in self.others if is_manifest(file))])

    def document(self, path: str) -> Document:
        """Return the document of one file, which is read if this catalog was loaded from the cache."""
        if path not in self._documents:
            [self._documents[path]] = iter_documents(self.tree, [path])
        return self._documents[path]

    def digest_of(self, path: str, content: bytes) -> str:
        """Return the digest of bytes that were just read: the file may have changed since it was listed."""
        file = find_file(self.files, path)
        return (file.digest if file is not None else None) or digest_of(content)

    def body(self, address: str) -> str:
        """Return the body of an entry as the caller may see it; raises GoneError if the file is gone by now."""
        path = f"{address}.md"
        if path in self._documents:
            return self.shown_body(self._documents[path])
        content = read_one(self.tree, path)
        if isinstance(content, Unreadable):
            raise GoneError(f"{path} disappeared while it was read: {content.reason.lower()}; try again")
        return self._redaction.body(body_of(content), _near(path))

    def bodies(self, addresses: Sequence[str]) -> Iterator[tuple[str, str, str]]:
        """Yield address, body and digest of entries as they are now, of those that can still be read.

        A body is as written, hidden references included: for the index and comparisons, not to be shown. If the file
        changed since its entry was loaded, the digest is `CHANGED`, since the two make no document.
        """
        listed = self.file_digests
        for path, content in self._contents(addresses):
            digest = self.digest_of(path, content)
            yield path.removesuffix(".md"), body_of(content), digest if digest == listed.get(path) else CHANGED

    def plain_bodies(self, addresses: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield address and body as `bodies` does, without a digest."""
        return ((path.removesuffix(".md"), body_of(content)) for path, content in self._contents(addresses))

    def _contents(self, addresses: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        for path, content in self.tree.read([f"{address}.md" for address in addresses if address in self.entries]):
            if not isinstance(content, Unreadable):
                yield path, content

    def documents(self, addresses: Sequence[str]) -> Iterator[tuple[str, Document]]:
        """Yield the documents of many entries, which are read at once and stay in memory."""
        paths = {address: f"{address}.md" for address in addresses}
        missing = [path for path in paths.values() if path not in self._documents]
        self._documents.update({document.path: document for document in iter_documents(self.tree, missing)})
        for address, path in paths.items():
            yield address, self._documents[path]

    def place(self, address: str, name: str, item: int | None = None) -> Place:
        """Return the place of a field of an entry."""
        return self.document(f"{address}.md").place(name, item)


def _near(path: str) -> str:
    """Return the address that short links are relative to; a manifest is in no room."""
    return path.removesuffix(".md") if path.count("/") > 1 else f"{path.split('/', 1)[0]}/-/-"
