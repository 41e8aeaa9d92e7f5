"""From a tree to its catalog: whole, or through the cache; one bad file never stops the rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mdmem.catalog.addresses import is_entry_place, is_manifest, with_full_links
from mdmem.catalog.cache import ParsedFiles
from mdmem.catalog.content import ContentCache
from mdmem.catalog.interpret import LoadedFile, interpret, iter_documents, not_fetched, read_manifest, unreadable
from mdmem.catalog.model import Catalog
from mdmem.catalog.redaction import Redaction, known_addresses, without_hidden_wings
from mdmem.catalog.remote_wings import settings_of
from mdmem.catalog.table import Table
from mdmem.entry.model import Wing
from mdmem.finding import Finding
from mdmem.settings.model import OneSided
from mdmem.tree import (
    SETTINGS_NAME,
    FileKind,
    OverlaidTree,
    Tree,
    TreeFile,
    Unreadable,
    WorkingTree,
    access_to,
    digest_of,
    first_names,
    has_file,
    missing_wings,
    read_one,
)

if TYPE_CHECKING:
    from mdmem.document.parse import Document


def load(tree: Tree, *, parsed: ParsedFiles | None = None) -> Catalog:
    """Load every file of a tree, parsing those that were not parsed before: what `check` reads.

    Entries keep their links into wings that a narrowed tree does not show, so that no check takes them for silent.
    """
    return _Loading(tree).whole(parsed or ParsedFiles())


def load_cached(tree: Tree, cache: Path, *, parsed: ParsedFiles | None = None) -> Catalog:
    """Load a tree through the cache of parsed entries, reading only content that was never parsed before.

    What this process has loaded before is taken from `parsed`. Entries have no links into wings that a narrowed tree
    does not show.
    """
    return _Loading(tree).through(ContentCache(cache), parsed or ParsedFiles())


def _table_of(tree: Tree) -> Table | None:
    """Return the table in which the files of a tree are remembered: those on disk, as they are there."""
    inner: Tree | None = tree
    while inner is not None and not isinstance(inner, (WorkingTree, OverlaidTree)):
        inner = getattr(inner, "below", None)
    return inner.stats if isinstance(inner, WorkingTree) and isinstance(inner.stats, Table) else None


class _Loading:
    """One pass over a tree's files."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.access = access_to(tree)
        self.table = _table_of(tree)
        entry_files: list[TreeFile] = []
        others: list[TreeFile] = []
        for file in tree.files():
            (entry_files if is_entry_place(file.path) else others).append(file)
        self.entry_files, self.others = tuple(entry_files), tuple(others)
        self.readable = [file for file in entry_files if file.kind is FileKind.FILE]
        self.manifests = [file for file in others if is_manifest(file)]
        self.documents: dict[str, Document] = {}
        self.stated_wings: dict[str, Wing] = {}
        self.wing_findings: list[Finding] = []

    def whole(self, parsed: ParsedFiles) -> Catalog:
        self._take_manifests(parsed.documents(self.tree, self.manifests))
        loaded = {}
        for document, meant in parsed.entries(self.tree, self.readable):
            self.documents[document.path] = document
            loaded[document.path] = meant
        return self._catalog(loaded)

    def through(self, cache: ContentCache, parsed: ParsedFiles) -> Catalog:
        digests = self.tree.digests([*self.readable, *self.manifests])
        table = self.table
        loaded = table.loaded(digests) if table is not None else parsed.known(digests)
        unknown = [file.path for file in self.readable if file.path not in loaded]
        found = {path: cache.file(digests.get(path), path) for path in unknown}
        met = {path: one for path, one in found.items() if one is not None}
        read = {
            document.path: self._interpret(document)
            for document in iter_documents(self.tree, [path for path in unknown if path not in met])
        }
        fresh = {path: one for path, one in read.items() if not one.is_closed}
        digests |= {path: self._identity(path) for path in fresh}
        wings = self._learn_manifests(cache, digests)
        # Whoever sees a part cannot tell what is used, or gone.
        is_part = self.access.is_narrow
        if fresh:
            learned = {digests[path]: one for path, one in fresh.items()}
            cache.keep(learned, None if is_part else set(digests.values()))
        if table is not None:
            table.learn(digests, met | fresh, wings)
            table.save(None if is_part else self.tree.files())
        elif unknown:
            parsed.learn(loaded | met | fresh, digests)
        return self._catalog(loaded | met | read, digests, shows_hidden=False)

    def _identity(self, path: str) -> str:
        """Return the identity of the bytes that were parsed: the file may have changed since it was listed."""
        return self.tree.identity(path, self.documents[path].data)

    def _learn_manifests(self, cache: ContentCache, digests: dict[str, str]) -> dict[str, Wing | None]:
        """Take what manifests state, and return it, by path, of those without a fault that the table does not know."""
        learned, fresh = {}, {}
        for file in self.manifests:
            name, digest = file.path.split("/")[0], digests.get(file.path, "")
            row = self.table.row(file.path, digest) if self.table is not None else None
            if row is not None and row.is_parsed:
                wing = row.wing
            elif digest in cache.wings:
                learned[file.path] = wing = cache.wings[digest]
            else:
                self._take_manifests(iter_documents(self.tree, [file.path]))
                if any(finding.place.path == file.path for finding in self.wing_findings):
                    continue
                digests[file.path] = self._identity(file.path)
                learned[file.path] = fresh[digests[file.path]] = wing = self.stated_wings.get(name)
            if wing is not None:
                self.stated_wings[name] = wing if wing.name == name else wing.with_changes(name=name)
        if fresh:
            cache.keep_wings(fresh)
        return learned

    def _interpret(self, document: Document) -> LoadedFile:
        self.documents[document.path] = document
        return interpret(document)

    def _catalog(
        self, loaded: Mapping[str, LoadedFile], digests: Mapping[str, str] | None = None, *, shows_hidden: bool = True
    ) -> Catalog:
        everything = [loaded.get(file.path) or unreadable(file) for file in self.entry_files]
        findings = [finding for one in everything if one.findings for finding in one.findings]
        unlisted = [unreadable(file).findings[0] for file in self.others if file.kind is FileKind.UNREADABLE]
        read = [one for one in everything if one.entry is not None]
        entries = {one.entry.address: one.entry for one in read if one.entry is not None}
        short = [one.entry for one in read if one.has_short_links and one.entry is not None]
        if short or self.access.is_narrow:
            known = frozenset(one.path.removesuffix(".md") for one in everything)
            addresses = known_addresses(known, self.access, frozenset(wing.name for wing in missing_wings(self.tree)))
            entries |= {entry.address: with_full_links(entry, addresses) for entry in short}
            if self.access.is_narrow and not shows_hidden:
                redaction = Redaction(self.access, addresses)
                entries = {address: redaction.entry(entry) for address, entry in entries.items()}
        return Catalog(
            tree=self.tree,
            entries=entries,
            wings=self._wings(),
            broken={one.path: one for one in everything if one.entry is None},
            findings=tuple(
                sorted(
                    [*findings, *self.wing_findings, *unlisted, *not_fetched(self.tree)],
                    key=lambda finding: finding.sort_key,
                )
            ),
            files=self.entry_files,
            others=self.others,
            sizes={one.entry.address: one.size for one in read if one.entry is not None},
            _documents=self.documents,
            _digests=digests,
            one_end_suffices=settings_of(self.tree, about=b"one_sided").one_sided is OneSided.FACT,
        )

    def _take_manifests(self, documents: Iterable[Document]) -> None:
        for document in documents:
            self.documents[document.path] = document
            name = document.path.split("/")[0]
            wing, faults = read_manifest(name, document)
            self.wing_findings += faults
            if wing is not None:
                self.stated_wings[name] = wing

    def _wings(self) -> dict[str, Wing]:
        found = {name: Wing(name=name) for name in first_names(self.entry_files)}
        stated = {name: without_hidden_wings(wing, self.access) for name, wing in self.stated_wings.items()}
        return dict(sorted({**found, **stated}.items()))


def settings_bytes(tree: Tree) -> bytes | Unreadable:
    """Return the settings file of a tree; empty where it has none."""
    return read_one(tree, SETTINGS_NAME) if has_file(tree, SETTINGS_NAME) else b""


def with_other_entries(catalog: Catalog, tree: Tree, changed: Mapping[str, bytes], *, gone: Set[str]) -> Catalog:
    """Return a catalog with other bytes in some entries' files, by path, and without some files; `tree` holds both.

    What was wrong with the files that are changed stays told beside what is wrong with their new bytes. Wings stay as
    they are, so that no manifest may be among the changed, and no entry may be hidden from the caller.
    """
    # Importing it takes longer than loading a small memory through the cache.
    from mdmem.document.parse import parse_document

    documents = {path: parse_document(path, content) for path, content in changed.items()}
    loaded = {path: interpret(document) for path, document in documents.items()}
    left = {address: one for address, one in catalog.entries.items() if one.path not in gone}
    new = {one.entry.address: one.entry for one in loaded.values() if one.entry is not None}
    known = (catalog.addresses - {path.removesuffix(".md") for path in gone}) | new.keys()
    entries = left | {address: with_full_links(entry, known) for address, entry in new.items()}
    listed = {file.path for file in catalog.files}
    files = [file for file in catalog.files if file.path not in gone]
    files += [TreeFile(path) for path in changed if path not in listed]
    findings = [one for one in catalog.findings if one.place.path not in gone]
    findings += [finding for one in loaded.values() for finding in one.findings]
    digests = catalog.file_digests | {path: digest_of(content) for path, content in changed.items()}
    sizes = {address: size for address, size in catalog.sizes.items() if address in left}
    sizes |= {one.entry.address: one.size for one in loaded.values() if one.entry is not None}
    return replace(
        catalog,
        tree=tree,
        entries={address: entries[address] for address in sorted(entries, key="{}.md".format)},
        findings=tuple(sorted(findings, key=lambda finding: finding.sort_key)),
        files=tuple(sorted(files, key=lambda file: file.path)),
        sizes=sizes,
        _documents=dict(documents),
        _digests=digests,
    )
