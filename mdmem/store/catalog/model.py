"""The catalog of a tree: its entries and wings, the problems in them, and graphs derived from them.

A caller may be limited to some wings. Links into the other wings are then removed from entries and bodies. A missing
wing is treated like a hidden wing, so that callers cannot tell which wings exist.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from operator import attrgetter
from typing import Any

from msgspec import Struct, field
from msgspec.structs import force_setattr, replace

from mdmem.errors import GoneError
from mdmem.markdown.front_matter import body_of
from mdmem.markdown.parse import BodyLink, Document, without_code, without_links
from mdmem.model.access import Access
from mdmem.model.entry import Entry, EntryType, Status, Wing, entries_with
from mdmem.model.fields import LINK_FIELDS
from mdmem.model.finding import Finding
from mdmem.model.lineage import BINDING, BranchState, Lineage, Standing, reversed_edges, sorted_edges
from mdmem.record import grouped
from mdmem.store.catalog.addresses import MANIFEST, LoadedFile, full_address, is_manifest, iter_documents, unreadable
from mdmem.store.tree import FileKind, Tree, TreeFile, Unreadable, digest_of, find_file, read_one

ADDRESS = re.compile(r"(?<![\w-])[\w-]+(?:/[\w-]+){2}")
_PARTS = re.compile(r"(?<![\w.-])[\w.-]+(?:/[\w.-]+){2,}")
# The properties of relations, by the relation's type and target.
_PROPERTIES = "x-relation-properties"


class _SeenAddresses(Set[str]):
    """The visible addresses. Every address in a hidden or missing wing counts as in the set, too."""

    def __init__(self, seen: Set[str], access: Access, missing: frozenset[str]) -> None:
        self._seen, self._access, self._missing = seen, access, missing

    def __contains__(self, address: object) -> bool:
        if address in self._seen or not isinstance(address, str):
            return address in self._seen
        is_missing = address.partition("/")[0] in self._missing and ADDRESS.fullmatch(address) is not None
        return is_missing or is_hidden(address, self._access)

    def __iter__(self) -> Iterator[str]:
        return iter(self._seen)

    def __len__(self) -> int:
        return len(self._seen)

    @classmethod
    def _from_iterable(cls, it: Iterable[Any]) -> frozenset[Any]:
        return frozenset(it)


def known_addresses(found: Set[str], access: Access, missing: frozenset[str]) -> Set[str]:
    """Return a set of the addresses found that also contains every address in a hidden or missing wing."""
    return _SeenAddresses(found, access, missing) if access.is_narrow or missing else found


def is_hidden(address: str, access: Access) -> bool:
    """Return whether an address is in a hidden wing."""
    return access.is_narrow and ADDRESS.fullmatch(address) is not None and not access.sees(address)


def is_hidden_path(path: str, access: Access) -> bool:
    """Return whether a file, by path from the root, is in a hidden wing."""
    return access.is_narrow and not path.startswith(("/", "../")) and not access.sees(path)


class Redaction(Struct, frozen=True):
    """Removes links to hidden entries from texts; `addresses` are the known addresses of the tree."""

    access: Access
    addresses: Collection[str]

    def hides(self, link: str, source: str) -> bool:
        """Return whether a link leads into a hidden wing, in any spelling; `source` is the address of its entry."""
        return is_hidden(full_address(link, source, self.addresses) or link, self.access)

    def entry(self, entry: Entry) -> Entry:
        """Return an entry without its hidden links and relations."""
        source, links = entry.address, {name: entry.links(name) for name in LINK_FIELDS}
        seen = {name: tuple(one for one in found if not self.hides(one, source)) for name, found in links.items()}
        relations = tuple(one for one in entry.relations if not self.hides(one.to, source))
        return replace(entry, **seen, relations=relations)

    def body(self, body: str, source: str) -> str:
        """Return a body without links that the caller may not see; their texts stay, and code is not changed."""
        if not self.access.is_narrow or "[" not in body:
            return body

        def is_cut(link: BodyLink) -> bool:
            if not link.is_path:
                return self.hides(link.target, source)
            path = posixpath.normpath(posixpath.join(posixpath.dirname(source), link.target))
            return is_hidden_path(path, self.access)

        return without_links(body, without_code(body), is_cut)


SUPERSEDES = "supersedes"
_FIELDS = ("conflicts_with", "overrides", "amends", SUPERSEDES, "produced", "see")
_linked = attrgetter(*_FIELDS, "superseded_by", "relations")


def has_less_authority(new: Entry, old: Entry) -> bool:
    """Return whether an entry has less authority than another entry that it amends."""
    return new.type.rank > old.type.rank


def may_amend(new: Entry, old: Entry, wings: Mapping[str, Wing]) -> bool:
    """Return whether an entry may amend another: both are in the same wing, or a project amends a shared entry."""
    return new.wing == old.wing or (wings[old.wing].is_shared and not wings[new.wing].is_shared)


class Derived(Struct, frozen=True, eq=False, dict=True):
    """Values that depend only on the entries and wings; each is computed on first use and then cached.

    An amendment counts only if its entry is current, has at least the authority of the amended entry, and is allowed to
    amend entries of the amended entry's wing. If an amending entry is superseded, its successor amends instead. A
    shared entry that a project amends is changed only for that project. `one_end_suffices` is as in `Catalog`.
    """

    entries: Mapping[str, Entry]
    wings: Mapping[str, Wing]
    one_end_suffices: bool | frozenset[str]

    @cached_property
    def lineage(self) -> Lineage:
        """Return the graph of all supersessions."""
        return Lineage(self.entries, self.one_end_suffices)

    @cached_property
    def rooms(self) -> Mapping[str, Sequence[str]]:
        """Return the addresses of the entries in each room, by `wing/room`."""
        return grouped((address.rpartition("/")[0], address) for address in self.entries)

    @cached_property
    def outgoing(self) -> Mapping[str, Sequence[tuple[str, str]]]:
        """Return the links in the fields of each entry, by address: pairs of the linked address and relationship."""
        found: dict[str, list[tuple[str, str]]] = {}
        for address, entry in self.entries.items():
            *named, newer, relations = _linked(entry)
            links = [(target, name) for name, targets in zip(_FIELDS, named, strict=True) for target in targets]
            links += [(relation.to, relation.type.casefold()) for relation in relations]
            if links:
                found.setdefault(address, []).extend(links)
            # `superseded_by` is stored as a link from the newer entry to the older one.
            for new in newer:
                found.setdefault(new, []).append((address, SUPERSEDES))
        return found

    @cached_property
    def incoming(self) -> Mapping[str, Sequence[tuple[str, str]]]:
        """Return the links that lead to each address, by address: pairs of the linking address and relationship."""
        links = ((source, one) for source, outgoing in self.outgoing.items() for one in outgoing)
        return grouped((target, (source, relationship)) for source, (target, relationship) in links)

    def amended_by(self, address: str, *, project: str | None = None) -> tuple[str, ...]:
        """Return the sorted entries that amend an entry; `project` leaves out those of other projects."""
        found, wing = self._amended_by.get(address, ()), self.entries[address].wing
        return tuple(one for one in found if project is None or self.entries[one].wing in (wing, project))

    def amends(self, address: str) -> tuple[str, ...]:
        """Return the sorted addresses that an entry amends."""
        return self._amends.get(address, ())

    @cached_property
    def with_amendments(self) -> Set[str]:
        """Return the addresses of all entries that amend another entry or are amended."""
        return self._amended_by.keys() | self._amends.keys()

    @cached_property
    def _amended_by(self) -> dict[str, tuple[str, ...]]:
        entries, heads, found = self.entries, self.lineage.heads, dict[str, set[str]]()
        for entry in entries_with(entries, "amends"):
            for old in entry.amends if entry.status is not Status.DRAFT else ():
                # An entry that supersedes the amended entry no longer amends it.
                for new in heads(entry.address) if old in entries else ():
                    counts = not has_less_authority(entries[new], entries[old])
                    counts = counts and may_amend(entries[new], entries[old], self.wings)
                    if counts and new not in heads(old):
                        found.setdefault(old, set()).add(new)
        return sorted_edges(found)

    @cached_property
    def _amends(self) -> dict[str, tuple[str, ...]]:
        return reversed_edges(self._amended_by)

    @cached_property
    def of_type(self) -> Mapping[EntryType, frozenset[str]]:
        """Return the addresses of the entries of each type."""
        addresses = grouped((entry.type, address) for address, entry in self.entries.items())
        return {kind: frozenset(addresses.get(kind, ())) for kind in EntryType}


CHANGED = "changed"
"""Stands for the hash of a file that changed after its entry was loaded."""


class Catalog(Struct, frozen=True, eq=False, dict=True):
    """The entries of one tree, sorted by address, and its wings, sorted by name.

    `broken` are files at an entry's path that could not be loaded; each may be an invariant. `files` are all files at
    an entry's path, `others` the other files below the root. `findings` are the problems found while loading. If the
    tree is limited to some wings, `entries` have no links into other wings, but the parsed files do.
    `one_end_suffices` says whether a one-sided supersession hides the older entry: True or False for all wings, or the
    names of the wings where it does. `branch_states` has the entries that differ from the default branch or are not
    approved there; None means that this is unknown.
    """

    tree: Tree
    entries: Mapping[str, Entry]
    wings: Mapping[str, Wing]
    broken: Mapping[str, LoadedFile]
    findings: tuple[Finding, ...]
    files: tuple[TreeFile, ...]
    others: tuple[TreeFile, ...]
    _documents: dict[str, Document] = field(default_factory=dict)
    _digests: dict[str, str] | None = None
    branch_states: Mapping[str, BranchState] | None = None
    one_end_suffices: bool | frozenset[str] = False
    # Shared by all catalogs with the same entries.
    derived: Derived = None  # type: ignore[assignment]  # set by __post_init__

    def __post_init__(self) -> None:
        """Keep the derived values of the copied catalog if the entries are the same."""
        old = self.derived
        is_same = old is not None and old.entries is self.entries and old.wings is self.wings
        if not is_same or old.one_end_suffices != self.one_end_suffices:
            force_setattr(self, "derived", Derived(self.entries, self.wings, self.one_end_suffices))

    def over(self, tree: Tree) -> Catalog:
        """Return this catalog with another tree that has the same files; bodies are then read from that tree."""
        return replace(self, tree=tree, _documents={})

    def with_own_documents(self) -> Catalog:
        """Return the same catalog with a separate cache of documents, so that the cache of this one does not grow."""
        return replace(self, _documents=dict(self._documents))

    def branch_state(self, address: str) -> BranchState | None:
        """Return how an entry compares with the default branch; None if the catalog was not compared with it."""
        return self.branch_states.get(address, BINDING) if self.branch_states is not None else None

    def is_merged(self, address: str) -> bool:
        """Return whether an entry is an agent's draft decision without successor that was merged without approval."""
        branch_state = (self.branch_states or {}).get(address)
        return branch_state is not None and branch_state.standing is Standing.MERGED and not self.lineage.heads(address)

    @property
    def lineage(self) -> Lineage:
        """Return the graph of all supersessions."""
        return self.derived.lineage

    @cached_property
    def everything(self) -> Set[str]:
        """Return the addresses of all entries."""
        return self.entries.keys()

    @cached_property
    def addresses(self) -> Set[str]:
        """Return the address of every entry file; `in` is also true for any address of a hidden or missing wing."""
        broken = {path.removesuffix(".md") for path in self.broken}
        found = self.entries.keys() | broken if broken else self.entries.keys()
        return known_addresses(found, self.access, self.missing_wings)

    @property
    def access(self) -> Access:
        """Return the access (readable and writable wings) to which the tree is limited."""
        return self.tree.access

    @property
    def fetched_wings(self) -> frozenset[str]:
        """Return the names of the wings that were fetched from other repositories, which cannot be changed here."""
        return self.tree.fetched_wings

    @cached_property
    def missing_wings(self) -> frozenset[str]:
        """Return the names of the wings of other repositories that could not be read."""
        return frozenset(self.tree.missing_wings)

    @cached_property
    def _redaction(self) -> Redaction:
        return Redaction(self.access, self.addresses)

    def hides(self, link: str, source: str = "") -> bool:
        """Return whether a link leads into a hidden wing; `source` is the address of the entry with the link."""
        return self.access.is_narrow and self._redaction.hides(link, source or "-/-/-")

    def hides_path(self, path: str) -> bool:
        """Return whether a file, by path from the root, is in a wing that is hidden or could not be fetched."""
        return is_hidden_path(path, self.access) or path.partition("/")[0] in self.missing_wings

    def names_hidden(self, text: str, path: str) -> bool:
        """Return whether a text in a file mentions an address in a hidden wing."""
        source, parts = _source_of(path), _PARTS.findall(text) if self.access.is_narrow else ()
        return any(self._redaction.hides(one.rstrip("."), source) for one in parts)

    def shown_fields(self, document: Document) -> dict[str, Any]:
        """Return the front matter without hidden links; a field that had only hidden links is removed."""
        shown, source = dict(document.fields or {}), _source_of(document.path)
        if not self.access.is_narrow:
            return shown

        def is_hidden_item(name: str, item: object) -> bool:
            if name == "shared_wings":
                return not self.access.reads(str(item))
            # Also find addresses in invalid items, such as `[[a/b/c]]` or several links with commas between them.
            parts = [item, *item.values()] if isinstance(item, dict) else [item]
            texts = (found for part in parts for found in (str(part), *_PARTS.findall(str(part))))
            return any(self.hides(text.strip(), source) for text in texts)

        properties = shown.get(_PROPERTIES)
        if isinstance(properties, Mapping):
            seen = (name for name in properties if not self.names_hidden(str(name), document.path))
            shown[_PROPERTIES] = {name: properties[name] for name in seen}
        for name in {*LINK_FIELDS, "relations", "shared_wings"} & shown.keys():
            items = shown[name] if isinstance(shown[name], list) else [shown[name]]
            kept = [item for item in items if not is_hidden_item(name, item)]
            if not kept:
                del shown[name]
            elif len(kept) < len(items):
                shown[name] = kept
        return shown

    def shown_body(self, document: Document) -> str:
        """Return the body of a document without the links that the caller may not see."""
        return self._redaction.body(document.body, _source_of(document.path))

    @cached_property
    def closed(self) -> tuple[Finding, ...]:
        """Return a finding for each unreadable path that may be a wing, a room or a manifest, and may hide entries."""
        found = []
        for file in self.others:
            is_folder = file.path.count("/") < 2 and "." not in file.path
            may_be_manifest = file.path.count("/") == 1 and file.path.endswith(f"/{MANIFEST}")
            if file.kind is not FileKind.FILE and (is_folder or may_be_manifest):
                found.append(unreadable(file).findings[0])
        return tuple(found)

    @cached_property
    def with_bytes(self) -> Set[str]:
        """Return the addresses of files whose bytes could be read, even if they are no valid entries."""
        closed = {"symlink-or-submodule", "unreadable"}
        codes = {path.removesuffix(".md"): {one.code for one in file.findings} for path, file in self.broken.items()}
        return self.entries.keys() | {address for address, found in codes.items() if found and not found & closed}

    @cached_property
    def digests(self) -> dict[str, str]:
        """Return the hash of each entry's file, by address."""
        found = self.file_digests
        return {address: found[path] for address in self.entries if (path := f"{address}.md") in found}

    @cached_property
    def file_digests(self) -> dict[str, str]:
        """Return the hash of each readable entry file and manifest, by path."""
        if self._digests is not None:
            return self._digests
        return self.tree.digests([*self.files, *(file for file in self.others if is_manifest(file))])

    def document(self, path: str) -> Document:
        """Return the parsed document of one file, which is then cached; of an unreadable file it has only a finding."""
        if path not in self._documents:
            [self._documents[path]] = iter_documents(self.tree, [path])
        return self._documents[path]

    def digest_of(self, path: str, content: bytes) -> str:
        """Return the hash that git lists for a file; without one, compute it from the bytes that were just read."""
        file = find_file(self.files, path)
        return (file.digest if file is not None else None) or digest_of(content)

    def body(self, address: str) -> str:
        """Return the body of an entry without links that the caller may not see; raises GoneError for a deleted one."""
        path = f"{address}.md"
        if path in self._documents:
            return self.shown_body(self._documents[path])
        content = read_one(self.tree, path)
        if isinstance(content, Unreadable):
            raise GoneError(f"{path} can no longer be read: {content.reason.lower()}; try again")
        return self._redaction.body(body_of(content), _source_of(path))

    def bodies(self, addresses: Sequence[str]) -> Iterator[tuple[str, str, str]]:
        """Yield the address, body and hash of each entry whose file can still be read, with its content as it is now.

        Bodies still contain hidden links, so do not show them. The hash of a file that changed since loading is
        `CHANGED`.
        """
        listed = self.file_digests
        for path, content in self.tree.read([f"{address}.md" for address in addresses if address in self.entries]):
            if not isinstance(content, Unreadable):
                digest = self.digest_of(path, content)
                yield path.removesuffix(".md"), body_of(content), digest if digest == listed.get(path) else CHANGED

    def documents(self, addresses: Sequence[str]) -> Iterator[tuple[str, Document]]:
        """Yield each address with its document; all files are read together, and the documents stay in memory."""
        paths = {address: f"{address}.md" for address in addresses}
        missing = [path for path in paths.values() if path not in self._documents]
        self._documents.update({document.path: document for document in iter_documents(self.tree, missing)})
        for address, path in paths.items():
            yield address, self._documents[path]


def _source_of(path: str) -> str:
    """Return the address to which short links in a file are relative; for a manifest, one that begins with its wing."""
    return path.removesuffix(".md") if path.count("/") > 1 else f"{path.split('/', 1)[0]}/-/-"
