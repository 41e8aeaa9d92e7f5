"""From a tree to its catalog: whole, or through the cache; one bad file never stops the rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mdmem.catalog.addresses import is_entry_place, is_manifest, with_full_links
from mdmem.catalog.cache import CACHE_VERSION, ParsedFiles, bounded, from_cache, to_cache, wing_from_cache
from mdmem.catalog.interpret import LoadedFile, interpret, iter_documents, not_fetched, read_manifest, unreadable
from mdmem.catalog.model import Catalog
from mdmem.catalog.redaction import Redaction, known_addresses, without_hidden_wings
from mdmem.catalog.remote_wings import settings_of
from mdmem.entry.model import Wing, wing_to_json
from mdmem.finding import Finding
from mdmem.settings.model import OneSided
from mdmem.state import read_json, write_json
from mdmem.tree import (
    SETTINGS_NAME,
    FileKind,
    Tree,
    TreeFile,
    Unreadable,
    access_to,
    digest_of,
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
    return _Loading(tree).through(cache, parsed or ParsedFiles())


# Stands in the cache for a README that states no wing.
_PROSE: dict[str, Any] = {}


_ENTRIES = "entries.json"
_RECENT = "entries-recent.json"
# Until so many were learned, only the small file is written: at 10,000 entries the large one takes 100 ms.
_RECENT_LIMIT = 200


def _remember(cache: Path, *, known: Mapping[str, Any], recent: Mapping[str, Any]) -> None:
    """Keep what was learned: beside the large file while it is little, else in it."""
    if len(recent) <= _RECENT_LIMIT and len(known) > _RECENT_LIMIT:
        write_json(cache / _RECENT, CACHE_VERSION, recent)
    elif write_json(cache / _ENTRIES, CACHE_VERSION, {**known, **recent}):
        write_json(cache / _RECENT, CACHE_VERSION, {})


class _Loading:
    """One pass over a tree's files."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.access = access_to(tree)
        listed = tree.files()
        self.entry_files = tuple(file for file in listed if is_entry_place(file.path))
        self.others = tuple(file for file in listed if not is_entry_place(file.path))
        self.readable = [file for file in self.entry_files if file.kind is FileKind.FILE]
        self.manifests = [file for file in self.others if is_manifest(file)]
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

    def through(self, cache: Path, parsed: ParsedFiles) -> Catalog:
        digests = self.tree.digests([*self.readable, *self.manifests])
        loaded = parsed.known(self.readable, digests)
        keys = [f"wing {digests.get(file.path)}" for file in self.manifests]
        unknown = [file for file in self.readable if file.path not in loaded]
        recent, known = {}, parsed.wings
        if unknown or not parsed.wings.keys() >= set(keys):
            recent = read_json(cache / _RECENT, CACHE_VERSION)
            known = read_json(cache / _ENTRIES, CACHE_VERSION) | recent
        loaded |= self._remembered(known, digests, unknown)
        fresh = [file.path for file in self.readable if file.path not in loaded]
        read = {document.path: self._interpret(document) for document in iter_documents(self.tree, fresh)}
        digests |= {path: self._identity(path) for path, one in read.items() if not one.is_closed}
        learned = {digests[path]: to_cache(one) for path, one in read.items() if not one.is_closed}
        learned |= self._learn_manifests(known, digests)
        if learned:
            # Whoever sees a part cannot tell what is used.
            kept = known if self.access.is_narrow else bounded(known, set(digests.values()))
            _remember(cache, known=kept, recent=recent | learned)
        parsed.wings = {key: stored for key in keys if (stored := learned.get(key, known.get(key))) is not None}
        parsed.learn(loaded | {path: one for path, one in read.items() if not one.is_closed}, digests)
        return self._catalog(loaded | read, digests, shows_hidden=False)

    def _remembered(
        self, known: Mapping[str, Any], digests: Mapping[str, str], files: Sequence[TreeFile]
    ) -> dict[str, LoadedFile]:
        found = {}
        for file in files:
            stored = known.get(digests.get(file.path, ""))
            one = from_cache(file.path, stored) if stored is not None else None
            if one is not None:
                found[file.path] = one
        return found

    def _identity(self, path: str) -> str:
        """Return the identity of the bytes that were parsed: the file may have changed since it was listed."""
        return self.tree.identity(path, self.documents[path].data)

    def _learn_manifests(self, known: Mapping[str, Any], digests: Mapping[str, str]) -> dict[str, Any]:
        """Read the manifests that were never read before, and return what to remember of those without a fault."""
        learned = {}
        for file in self.manifests:
            name = file.path.split("/")[0]
            stored = known.get(f"wing {digests.get(file.path)}")
            wing = wing_from_cache(name, stored)
            if wing is not None:
                self.stated_wings[name] = wing
            elif stored != _PROSE:
                self._take_manifests(iter_documents(self.tree, [file.path]))
                if not any(finding.place.path == file.path for finding in self.wing_findings):
                    wing = self.stated_wings.get(name)
                    learned[f"wing {self._identity(file.path)}"] = wing_to_json(wing) if wing is not None else _PROSE
        return learned

    def _interpret(self, document: Document) -> LoadedFile:
        self.documents[document.path] = document
        return interpret(document)

    def _catalog(
        self, loaded: Mapping[str, LoadedFile], digests: Mapping[str, str] | None = None, *, shows_hidden: bool = True
    ) -> Catalog:
        everything = {file.path: loaded.get(file.path) or unreadable(file) for file in self.entry_files}
        findings = [finding for one in everything.values() for finding in one.findings]
        unlisted = [unreadable(file).findings[0] for file in self.others if file.kind is FileKind.UNREADABLE]
        known = frozenset(path.removesuffix(".md") for path in everything)
        addresses = known_addresses(known, self.access, frozenset(wing.name for wing in missing_wings(self.tree)))
        entries = [with_full_links(one.entry, addresses) for one in everything.values() if one.entry is not None]
        if self.access.is_narrow and not shows_hidden:
            entries = [Redaction(self.access, addresses).entry(entry) for entry in entries]
        return Catalog(
            tree=self.tree,
            entries={entry.address: entry for entry in entries},
            wings=self._wings(),
            broken={path: one for path, one in everything.items() if one.entry is None},
            findings=tuple(
                sorted(
                    [*findings, *self.wing_findings, *unlisted, *not_fetched(self.tree)],
                    key=lambda finding: finding.sort_key,
                )
            ),
            files=self.entry_files,
            others=self.others,
            sizes={one.entry.address: one.size for one in everything.values() if one.entry is not None},
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
        found = {file.path.split("/")[0]: Wing(name=file.path.split("/")[0]) for file in self.entry_files}
        stated = {name: without_hidden_wings(wing, self.access) for name, wing in self.stated_wings.items()}
        return dict(sorted({**found, **stated}.items()))


def settings_bytes(tree: Tree) -> bytes | Unreadable:
    """Return the settings file of a tree; empty where it has none."""
    has_settings = any(file.path == SETTINGS_NAME for file in tree.files())
    return read_one(tree, SETTINGS_NAME) if has_settings else b""


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
