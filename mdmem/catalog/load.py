"""From a tree to its catalog: whole, or through the cache; one bad file never stops the rest."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING

from mdmem.catalog.addresses import is_manifest, with_full_links
from mdmem.catalog.cache import ParsedFiles
from mdmem.catalog.content import ContentCache, as_kept
from mdmem.catalog.entries import (
    Entries,
    closed_of,
    differing,
    entries_like,
    entries_of,
    lineage_for,
    with_entries,
    without,
)
from mdmem.catalog.former import Former
from mdmem.catalog.interpret import LoadedFile, interpret, iter_documents, not_fetched, read_manifest, unreadable
from mdmem.catalog.model import Catalog
from mdmem.catalog.redaction import Redaction, known_addresses, without_hidden_wings
from mdmem.catalog.remote_wings import settings_of
from mdmem.catalog.table import Table
from mdmem.dataclass import replace
from mdmem.digests import identity_of
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
    find_file,
    first_names,
    has_file,
    missing_wings,
    path_of,
    read_one,
)

if TYPE_CHECKING:
    from mdmem.catalog.entries import Before
    from mdmem.document.parse import Document

# So many documents are kept for whoever asks for their texts next.
_HELD = 2_500


def load(tree: Tree, *, parsed: ParsedFiles | None = None) -> Catalog:
    """Load every file of a tree, parsing those that were not parsed before: what `check` reads.

    Entries keep their links into wings that a narrowed tree does not show, so that no check takes them for silent.
    """
    return _Loading(tree, parsed or ParsedFiles()).whole()


def load_cached(tree: Tree, cache: Path | ContentCache, *, parsed: ParsedFiles | None = None) -> Catalog:
    """Load a tree through the cache of parsed entries, reading only content that was never parsed before.

    What this process has loaded before is taken from `parsed`. Entries have no links into wings that a narrowed tree
    does not show. The cache may be a folder.
    """
    kept = cache if isinstance(cache, ContentCache) else ContentCache(cache)
    return _Loading(tree, parsed or ParsedFiles()).through(kept)


def part_of(tree: Tree, documents: Mapping[str, Document], loaded: Mapping[str, LoadedFile]) -> Catalog:
    """Return the catalog of some files alone, which knows nothing of the others: for what asks for one file."""
    files = tuple(map(TreeFile, documents))
    meant = entries_of(files, loaded)
    return Catalog(
        tree=tree,
        entries=meant.entries,
        wings={},
        broken=meant.broken,
        findings=tuple(sorted(meant.findings, key=lambda finding: finding.sort_key)),
        files=files,
        others=(),
        sizes=meant.sizes,
        _documents=dict(documents),
    )


def _table_of(tree: Tree) -> Table | None:
    """Return the table in which the files of a tree are remembered: those on disk, as they are there."""
    inner: Tree | None = tree
    while inner is not None and not isinstance(inner, (WorkingTree, OverlaidTree)):
        inner = getattr(inner, "below", None)
    return inner.stats if isinstance(inner, WorkingTree) and isinstance(inner.stats, Table) else None


class _Loading:
    """One pass over a tree's files."""

    def __init__(self, tree: Tree, parsed: ParsedFiles) -> None:
        self.tree = tree
        self.parsed = parsed
        self.access = access_to(tree)
        self.table = _table_of(tree)
        self.entry_files, self.readable, self.others = parsed.placed(tree.files())
        self.manifests = [file for file in self.others if is_manifest(file)]
        self.documents: dict[str, Document] = {}
        self.stated_wings: dict[str, Wing] = {}
        self.wings_of_manifests: dict[str, Wing | None] = {}
        self.wing_findings: list[Finding] = []

    def whole(self) -> Catalog:
        parsed = self.parsed
        self._take_manifests(parsed.documents(self.tree, self.manifests))
        loaded = {}
        for document, meant in parsed.entries(self.tree, self.readable):
            self.documents[document.path] = document
            loaded[document.path] = meant
        return self._catalog(entries_of(self.entry_files, loaded))

    def through(self, cache: ContentCache) -> Catalog:
        parsed, digests = self.parsed, self.tree.digests([*self.readable, *self.manifests])
        table, before = self.table, self._before()
        told = identity_of(digests) if isinstance(before, Former) else None
        are_same = isinstance(before, Former) and before.identity == told
        changed = None
        if before is not None:
            # Where all have a digest, then as now, none of them is looked up.
            are_all = are_same and not before.files and len(digests) == len(self.entry_files) + len(self.manifests)
            changed = closed_of(before) if are_all else differing(before, self.entry_files, digests)
        wanted = digests if changed is None else {path: digests[path] for path in changed & digests.keys()}
        loaded = table.loaded(wanted) if table is not None else parsed.known(wanted)
        there = self.entry_files if changed is None else self._at(changed)
        unknown = [file.path for file in there if file.kind is FileKind.FILE and file.path not in loaded]
        met = cache.files({path: digests.get(path) for path in unknown})
        unread = [path for path in unknown if path not in met]
        former = self._former(unread, before, cache)
        seen = self._interpreted(unread, former)
        fresh = {path: one for path, (one, _) in seen.items() if not one.is_closed}
        if others := {path: seen[path][1] for path in fresh if seen[path][1] != digests.get(path)}:
            digests |= others
            if isinstance(before, Former):
                before.forget_unlike()
        wings = self._learn_manifests(cache, digests)
        # Whoever sees a part cannot tell what is used, or gone.
        is_part = self.access.is_narrow
        if fresh:
            learned = {digests[path]: one for path, one in fresh.items()}
            cache.keep(learned, None if is_part else set(digests.values()))
        loaded.update(met)
        if table is not None:
            table.learn(digests, met | fresh, wings)
            if changed is None or changed or wings:
                table.save(None if is_part else self.tree.files())
        elif unknown:
            parsed.learn(loaded | fresh, digests)
        loaded.update((path, one) for path, (one, _) in seen.items())
        is_told = told is not None and not (fresh or wings)
        # What is held twice of a hundred thousand files is felt.
        del seen, met, fresh
        if before is None or changed is None:
            catalog = self._catalog(entries_of(self.entry_files, loaded), digests, shows_hidden=False)
        else:
            catalog = self._catalog(entries_like(before, there, loaded, changed=changed), digests)
        if is_told:
            vars(catalog)["identity"] = told
        if not is_part:
            parsed.last = replace(catalog, _documents={})
        if table is not None and not is_part and not missing_wings(self.tree):
            table.save_whole(catalog, self.wings_of_manifests)
        return catalog

    def _at(self, paths: Iterable[str]) -> list[TreeFile]:
        """Return the files at some entries' places, in their order."""
        found = (find_file(self.entry_files, path) for path in sorted(paths))
        return [file for file in found if file is not None]

    def _before(self) -> Before | None:
        """Return what this catalog may have most in common with; none where not all of either is seen."""
        last = self.parsed.last
        if self.access.is_narrow or missing_wings(self.tree) or (last is not None and last.missing_wings):
            return None
        table = self.table or self.parsed.beside
        return last if last is not None or table is None else table.take_former()

    def _learn_manifests(self, cache: ContentCache, digests: dict[str, str]) -> dict[str, Wing | None]:
        """Take what manifests state, and return it, by path, of those without a fault that the table does not know."""
        learned, fresh = {}, {}
        for file in self.manifests:
            name, digest = file.path.split("/")[0], digests.get(file.path, "")
            row = self.table.manifest(file.path, digest) if self.table is not None else None
            if row is not None and row.is_parsed:
                wing = row.wing
            elif digest in cache.wings:
                learned[file.path] = wing = cache.wings[digest]
            else:
                self._take_manifests(iter_documents(self.tree, [file.path]))
                if any(finding.place.path == file.path for finding in self.wing_findings):
                    continue
                # The file may have changed since it was listed.
                digests[file.path] = self.tree.identity(file.path, self.documents[file.path].data)
                learned[file.path] = fresh[digests[file.path]] = wing = self.stated_wings.get(name)
            self.wings_of_manifests[file.path] = wing
            if wing is not None:
                self.stated_wings[name] = wing if wing.name == name else wing.with_changes(name=name)
        if fresh:
            cache.keep_wings(fresh)
        return learned

    def _interpreted(
        self, paths: Sequence[str], former: Mapping[str, LoadedFile]
    ) -> Mapping[str, tuple[LoadedFile, str]]:
        """Return what files mean and the identity of their bytes."""
        found = {}
        for document in iter_documents(self.tree, paths):
            # Each takes four times as much as what it means: of many none is held on to.
            if len(paths) <= _HELD:
                self.documents[document.path] = document
            meant = as_kept(interpret(document, former.get(document.path)))
            found[document.path] = meant, self.tree.identity(document.path, document.data)
        return found

    def _former(self, paths: Collection[str], before: Before | None, cache: ContentCache) -> dict[str, LoadedFile]:
        """Return what some files meant when they had another content, by path, where that is known."""
        then = before.file_digests if before is not None and paths else {}
        digests = {path: then[path] for path in paths if path in then}
        known = self.table.before(paths) if self.table is not None else self.parsed.known(digests)
        return known | cache.files({path: digest for path, digest in digests.items() if path not in known})

    def _catalog(self, meant: Entries, digests: dict[str, str] | None = None, *, shows_hidden: bool = True) -> Catalog:
        unlisted = [unreadable(file).findings[0] for file in self.others if file.kind is FileKind.UNREADABLE]
        entries = meant.entries
        if meant.open or self.access.is_narrow:
            known = frozenset(file.path.removesuffix(".md") for file in self.entry_files)
            addresses = known_addresses(known, self.access, frozenset(wing.name for wing in missing_wings(self.tree)))
            told = {address: with_full_links(entry, addresses) for address, entry in meant.open.items()}
            entries = {**entries, **told} if told else entries
            if self.access.is_narrow and not shows_hidden:
                redaction = Redaction(self.access, addresses)
                entries = {address: redaction.entry(entry) for address, entry in entries.items()}
        one_end_suffices = settings_of(self.tree, about=b"one_sided").one_sided is OneSided.FACT
        lineage = meant.lineage_of(entries)
        return Catalog(
            tree=self.tree,
            entries=entries,
            wings=self._wings(),
            broken=meant.broken,
            findings=tuple(
                sorted(
                    [*meant.findings, *self.wing_findings, *unlisted, *not_fetched(self.tree)],
                    key=lambda finding: finding.sort_key,
                )
            ),
            files=self.entry_files,
            others=self.others,
            sizes=meant.sizes,
            _documents=self.documents,
            _digests=digests,
            one_end_suffices=one_end_suffices,
            short={} if self.access.is_narrow else meant.short,
            _chains=(entries, lineage) if lineage is not None else None,
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
    left_out = {path.removesuffix(".md") for path in gone}
    new = {one.entry.address: one.entry for one in loaded.values() if one.entry is not None}
    known = catalog.addresses
    known = known if not left_out and new.keys() <= known else (known - left_out) | new.keys()
    full = {address: with_full_links(entry, known) for address, entry in new.items()}
    entries = with_entries(catalog.entries, full, gone=left_out)
    lineage = lineage_for(entries, catalog.lineage, catalog.entries, changed=left_out | new.keys())
    added = [TreeFile(path) for path in changed if path in gone or find_file(catalog.files, path) is None]
    files = catalog.files
    if gone or added:
        kept = (file for file in files if file.path not in gone)
        files = tuple(sorted([*kept, *added], key=path_of))
    findings = [one for one in catalog.findings if one.place.path not in gone]
    findings += [finding for one in loaded.values() for finding in one.findings]
    digests = catalog.file_digests | {path: digest_of(content) for path, content in changed.items()}
    sizes = without(catalog.sizes, left_out)
    sizes |= {one.entry.address: one.size for one in loaded.values() if one.entry is not None}
    return replace(
        catalog,
        tree=tree,
        entries=entries,
        findings=tuple(sorted(findings, key=lambda finding: finding.sort_key)),
        files=files,
        sizes=sizes,
        _documents=dict(documents),
        _digests=digests,
        _chains=(entries, lineage) if lineage is not None else None,
    )
