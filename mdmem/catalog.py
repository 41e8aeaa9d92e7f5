"""Every entry of a tree, and what was wrong while loading: one bad file never stops the rest."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mdmem.document.split import body_of
from mdmem.entry.model import LINK_FIELDS, Entry, Flaw, Wing, from_json, title_of, to_json, wing_from_json, wing_to_json
from mdmem.finding import Finding, Place
from mdmem.lineage import Lineage
from mdmem.state import read_json, write_json
from mdmem.tree import SETTINGS_NAME, FileKind, Tree, TreeFile, Unreadable, read_one

if TYPE_CHECKING:
    from mdmem.document.parse import Document

# Raised whenever what `to_json` stores or what the schema accepts changes.
CACHE_VERSION = "1"
_MANIFEST = "README.md"


@dataclass(frozen=True, slots=True)
class Loaded:
    """One file in an entry's place: the entry it holds, or None, what was wrong, and its body's size in bytes."""

    path: str
    entry: Entry | None
    findings: tuple[Finding, ...]
    size: int = 0


@dataclass(frozen=True)
class Catalog:
    """The entries and wings of one tree, by address and name, sorted.

    `broken` are the files in an entry's place that hold no readable entry: each may be an invariant.
    `others` is everything else below the root; `sizes` the bytes of each entry's body, blank ends left out.
    """

    tree: Tree
    entries: Mapping[str, Entry]
    wings: Mapping[str, Wing]
    broken: Mapping[str, Loaded]
    findings: tuple[Finding, ...]
    files: tuple[TreeFile, ...]
    others: tuple[TreeFile, ...]
    sizes: Mapping[str, int]
    _documents: dict[str, Document] = field(default_factory=dict)

    @cached_property
    def lineage(self) -> Lineage:
        """Return the supersession graph of the entries."""
        return Lineage(self.entries)

    @cached_property
    def addresses(self) -> frozenset[str]:
        """Return every address that a file stands at, readable or not."""
        return frozenset(self.entries) | {path.removesuffix(".md") for path in self.broken}

    @cached_property
    def digests(self) -> dict[str, str]:
        """Return the identity of each entry's content, by address."""
        found = self.tree.digests([file for file in self.files if file.path.removesuffix(".md") in self.entries])
        return {path.removesuffix(".md"): digest for path, digest in found.items()}

    def document(self, path: str) -> Document:
        """Return the document of one file, read again if this catalog was loaded from the cache."""
        if path not in self._documents:
            self._documents.update({document.path: document for document in _documents(self.tree, [path])})
        return self._documents[path]

    def body(self, address: str) -> str:
        """Return the body of an entry as its file holds it; empty where the file went away meanwhile."""
        path = f"{address}.md"
        if path in self._documents:
            return self._documents[path].body
        content = read_one(self.tree, path)
        return "" if isinstance(content, Unreadable) else body_of(content)

    def bodies(self, addresses: Sequence[str]) -> Iterator[tuple[str, str, str]]:
        """Yield address, body and digest of entries as they are now; what cannot be read any more is left out."""
        wanted = [f"{address}.md" for address in addresses if address in self.entries]
        for path, content in self.tree.read(wanted):
            if not isinstance(content, Unreadable):
                yield path.removesuffix(".md"), body_of(content), self.tree.identity(path, content)

    def documents(self, addresses: Sequence[str], *, keep: bool = True) -> Iterator[tuple[str, Document]]:
        """Yield the documents of many entries, read in one go; `keep` says whether to hold on to them."""
        missing = [f"{address}.md" for address in addresses if f"{address}.md" not in self._documents]
        read = {document.path: document for document in _documents(self.tree, missing)}
        if keep:
            self._documents.update(read)
        for address in addresses:
            path = f"{address}.md"
            yield address, read[path] if path in read else self._documents[path]

    def place(self, address: str, name: str, item: int | None = None) -> Place:
        """Return where a field of an entry stands."""
        return self.document(f"{address}.md").place(name, item)


def load(tree: Tree) -> Catalog:
    """Load every file of a tree, parsing all of them: what `check` reads."""
    return _Loading(tree).whole()


def load_cached(tree: Tree, cache: Path) -> Catalog:
    """Load a tree through the cache of parsed entries, reading only content that was never parsed before."""
    return _Loading(tree).through(cache)


class _Loading:
    """One pass over a tree's files."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        listed = tree.files()
        self.entry_files = tuple(file for file in listed if is_entry_place(file.path))
        self.others = tuple(file for file in listed if not is_entry_place(file.path))
        self.readable = [file for file in self.entry_files if file.kind is FileKind.FILE]
        self.manifests = [file for file in self.others if _is_manifest(file)]
        self.documents: dict[str, Document] = {}
        self.stated_wings: dict[str, Wing] = {}
        self.wing_findings: list[Finding] = []

    def whole(self) -> Catalog:
        self._read_manifests(self.manifests)
        documents = _documents(self.tree, [file.path for file in self.readable])
        return self._catalog({document.path: self._interpret(document) for document in documents})

    def through(self, cache: Path) -> Catalog:
        path = cache / "entries.json"
        known = read_json(path, CACHE_VERSION)
        digests = self.tree.digests([*self.readable, *self.manifests])
        fresh = [file.path for file in self.readable if digests.get(file.path) not in known]
        loaded = {document.path: self._interpret(document) for document in _documents(self.tree, fresh)}
        learned = {digests[path]: _to_cache(one) for path, one in loaded.items() if path in digests}
        for file in self.readable:
            if file.path not in loaded:
                loaded[file.path] = _from_cache(file.path, known[digests[file.path]])
        learned |= self._learn_manifests(known, digests)
        if learned:
            write_json(path, CACHE_VERSION, _bounded(known, set(digests.values())) | learned)
        return self._catalog(loaded)

    def _learn_manifests(self, known: Mapping[str, Any], digests: Mapping[str, str]) -> dict[str, Any]:
        """Read the manifests that were never read before, and return what to remember of those without a fault."""
        learned = {}
        for file in self.manifests:
            digest = digests.get(file.path, "")
            stored = known.get(f"wing {digest}")
            if stored is None:
                self._read_manifests([file])
                if digest and not any(finding.place.path == file.path for finding in self.wing_findings):
                    wing = self.stated_wings.get(file.path.split("/")[0])
                    learned[f"wing {digest}"] = wing_to_json(wing) if wing is not None else {}
            elif stored:
                name = file.path.split("/")[0]
                self.stated_wings[name] = wing_from_json(name, stored)
        return learned

    def _interpret(self, document: Document) -> Loaded:
        self.documents[document.path] = document
        return interpret(document)

    def _catalog(self, loaded: Mapping[str, Loaded]) -> Catalog:
        everything = {file.path: loaded.get(file.path) or _unreadable(file) for file in self.entry_files}
        findings = [finding for one in everything.values() for finding in one.findings]
        unlisted = [_unreadable(file).findings[0] for file in self.others if file.kind is FileKind.UNREADABLE]
        addresses = frozenset(path.removesuffix(".md") for path in everything)
        entries = (with_full_links(one.entry, addresses) for one in everything.values() if one.entry is not None)
        return Catalog(
            tree=self.tree,
            entries={entry.address: entry for entry in entries},
            wings=self._wings(),
            broken={path: one for path, one in everything.items() if one.entry is None},
            findings=tuple(sorted([*findings, *self.wing_findings, *unlisted], key=lambda finding: finding.sort_key)),
            files=self.entry_files,
            others=self.others,
            sizes={one.entry.address: one.size for one in everything.values() if one.entry is not None},
            _documents=self.documents,
        )

    def _read_manifests(self, manifests: Sequence[TreeFile]) -> None:
        for document in _documents(self.tree, [file.path for file in manifests]):
            name = document.path.split("/")[0]
            wing, faults = _read_manifest(name, document)
            self.wing_findings += faults
            if wing is not None:
                self.stated_wings[name] = wing

    def _wings(self) -> dict[str, Wing]:
        found = {file.path.split("/")[0]: Wing(name=file.path.split("/")[0]) for file in self.entry_files}
        return dict(sorted({**found, **self.stated_wings}.items()))


def _is_manifest(file: TreeFile) -> bool:
    return file.path.count("/") == 1 and file.path.endswith(f"/{_MANIFEST}") and file.kind is FileKind.FILE


def is_entry_place(path: str) -> bool:
    """Say whether a path is `wing/room/entry-id.md`; a README is prose."""
    return path.count("/") == 2 and path.endswith(".md") and not path.endswith(f"/{_MANIFEST}")


def full_address(link: str, near: str, addresses: Collection[str]) -> str | None:
    """Return the one address that a link means, written in full, short, or as a path; None where there is none.

    `near` is the address of the entry that holds the link.
    """
    if link in addresses:
        return link
    plain = link.removeprefix("./").removesuffix(".md").strip("/")
    wing, room, _ = near.split("/", 2)
    if plain.startswith("../"):
        plain = posixpath.normpath(f"{wing}/{room}/{plain}")
    tried = (plain, f"{wing}/{plain}", f"{wing}/{room}/{plain}")
    return next((address for address in tried if address in addresses and address.count("/") == 2), None)


def with_full_links(entry: Entry, addresses: Collection[str]) -> Entry:
    """Return the entry with every link that can be told written in full, so that a short one still counts."""
    changes: dict[str, Any] = {}
    for name in LINK_FIELDS:
        links = entry.links(name)
        if links and not all(link in addresses for link in links):
            full = tuple(full_address(link, entry.address, addresses) or link for link in links)
            if full != links:
                changes[name] = full
    return replace(entry, **changes) if changes else entry


def interpret(document: Document) -> Loaded:
    """Return the moment «meant» of one document: the entry it states and everything wrong with it."""
    first_heading, read_entry = _readers()
    address = document.path.removesuffix(".md")
    findings = tuple(finding.at(document.path, address) for finding in document.findings)
    if document.fields is None:
        return Loaded(document.path, None, findings)
    entry, flaws = read_entry(address, document.fields, first_heading(document.body))
    flawed = tuple(_placed(document, address, flaw) for flaw in flaws)
    return Loaded(document.path, entry, findings + flawed, len(document.body.strip().encode()))


@cache
def _readers() -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Import pydantic and YAML when the first file is parsed that no cache knows."""
    from mdmem.document.parse import first_heading
    from mdmem.entry.schema import read_entry

    return first_heading, read_entry


def _documents(tree: Tree, paths: Sequence[str]) -> Iterator[Document]:
    if not paths:
        return
    from mdmem.document.parse import parse_document, unreadable_document

    for path, content in tree.read(paths):
        if isinstance(content, Unreadable):
            yield unreadable_document(path, content.reason)
        else:
            yield parse_document(path, content)


def _placed(document: Document, address: str | None, flaw: Flaw) -> Finding:
    place = document.place(flaw.name, flaw.item, of_key=flaw.on_key)
    return Finding(flaw.code, flaw.message, place, flaw.help, address)


_REASONS = {
    FileKind.SYMLINK: ("symlink", "a symbolic link stands where an entry belongs", "replace it by the file itself"),
    FileKind.SUBMODULE: ("submodule", "a submodule stands where an entry belongs", "move it out of the memory"),
    FileKind.UNMERGED: ("merge-marker", "the index holds the file unmerged", "resolve the conflict and `git add` it"),
}


def _unreadable(file: TreeFile) -> Loaded:
    address = file.path.removesuffix(".md") if is_entry_place(file.path) else None
    unread = ("unreadable", f"cannot be read: {file.reason.lower()}", "make it readable, then run this again")
    code, message, help_ = _REASONS.get(file.kind, unread)
    return Loaded(file.path, None, (Finding(code, message, Place(file.path), help_, address),))


def _read_manifest(name: str, document: Document) -> tuple[Wing | None, list[Finding]]:
    """Return the wing of a manifest; a README without front matter is prose and no manifest."""
    if document.fields is None:
        prose = all(finding.code in ("front-matter-missing", "empty-file") for finding in document.findings)
        if prose:
            return None, []
        return None, [_manifest_fault(finding) for finding in document.findings]
    from mdmem.entry.schema import read_wing

    wing, flaws = read_wing(name, document.fields)
    return wing, [*map(_manifest_fault, document.findings), *(_placed(document, None, flaw) for flaw in flaws)]


def _manifest_fault(finding: Finding) -> Finding:
    return Finding("manifest-invalid", f"{finding.message} ({finding.code})", finding.place, finding.help)


def _to_cache(loaded: Loaded) -> dict[str, Any]:
    findings = [[f.code, f.message, f.help, f.place.line, f.place.column, f.place.width] for f in loaded.findings]
    if loaded.entry is None:
        return {"findings": findings}
    stated = to_json(loaded.entry)
    if loaded.entry.title == title_of(loaded.entry.address):
        # The same content at another address has another title.
        stated["title"] = ""
    return {"entry": stated, "size": loaded.size} | ({"findings": findings} if findings else {})


def _from_cache(path: str, stored: Mapping[str, Any]) -> Loaded:
    address = path.removesuffix(".md")
    entry = from_json(address, stored["entry"]) if "entry" in stored else None
    findings = tuple(
        Finding(code, message, Place(path, line, column, width), help_, address)
        for code, message, help_, line, column, width in stored.get("findings", ())
    )
    return Loaded(path, entry, findings, stored.get("size", 0))


def _bounded(known: Mapping[str, Any], used: set[str]) -> dict[str, Any]:
    """Forget what other branches left once it outweighs what this tree uses."""
    if len(known) <= 4 * len(used) + 4000:
        return dict(known)
    return {key: stored for key, stored in known.items() if key.removeprefix("wing ") in used}


def settings_bytes(tree: Tree) -> bytes | Unreadable:
    """Return the settings file of a tree; empty where it has none."""
    has_settings = any(file.path == SETTINGS_NAME for file in tree.files())
    return read_one(tree, SETTINGS_NAME) if has_settings else b""
