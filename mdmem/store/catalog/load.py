"""Load a catalog from a tree, with wings of other repositories."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from mdmem.errors import GitError, SettingsError
from mdmem.model.entry import Entry, Wing
from mdmem.model.finding import Finding
from mdmem.store.catalog.addresses import is_entry_place, is_manifest, with_full_links
from mdmem.store.catalog.model import Catalog
from mdmem.store.catalog.redaction import Redaction, known_addresses, without_hidden_wings
from mdmem.store.catalog.snapshot import (
    EntryCache,
    LoadedFile,
    interpret,
    iter_documents,
    not_fetched,
    read_manifest,
    unreadable,
    with_utc,
)
from mdmem.store.git.process import Repository
from mdmem.store.settings import OneSided, Settings, WingSettings, is_path, parse_settings
from mdmem.store.state.local_records import find_pin, store_of
from mdmem.store.tree import (
    SETTINGS_NAME,
    FileKind,
    GitTree,
    MissingWing,
    Tree,
    TreeFile,
    TreeView,
    Unreadable,
    digest_of,
    has_file,
    read_one,
)

if TYPE_CHECKING:
    from mdmem.markdown.parse import Document


class NotHere(Struct, frozen=True):
    """Why a wing of another repository cannot be read, as the end of a sentence about it, and what to type."""

    why: str
    help: str = "`mdmem sync --wings --pinned` fetches it"


# Returns the files of a wing, by its name and its settings; it fetches nothing.
Finder = Callable[[str, WingSettings], Tree | NotHere]


def with_remote_wings(tree: Tree, find: Finder) -> Tree:
    """Return a tree with the wings that its own settings name in other repositories.

    A folder of the tree takes precedence over a wing of its name: the user sees the folder, and the wing is missing.
    """
    settings = settings_of(tree, about=b"git")
    if not settings.remote_wings:
        return tree
    own = {file.path.partition("/")[0] for file in tree.files()}
    wings: dict[str, Tree] = {}
    missing = []
    for name, stated in settings.remote_wings.items():
        found: Tree | NotHere
        if name in own:
            hint = "remove or rename the folder, or take `git` out of the wing's table"
            found = NotHere("is not read, since a folder here has its name", hint)
        else:
            found = find(name, stated)
        if isinstance(found, NotHere):
            message = f"the wing `{name}` of {stated.git} {found.why}"
            missing.append(MissingWing(name, message, found.help, settings.line_of(f"wings.{name}.git")))
        else:
            wings[name] = found
    return TreeView(tree, wings, tuple(missing))


def settings_of(tree: Tree, *, about: bytes) -> Settings:
    """Return the readable settings of a tree, or the defaults if the file does not contain a word."""
    content = settings_bytes(tree)
    # Most memories have no such setting, and need their settings parsed only once.
    if isinstance(content, Unreadable) or about not in content:
        return Settings()
    try:
        return parse_settings(content)
    except SettingsError as error:
        return error.readable if isinstance(error.readable, Settings) else Settings()


def find_remote_wing(cache: Path, root: Path, name: str, stated: WingSettings) -> Tree | NotHere:
    """Return the files of a wing at its pinned commit, or why they cannot be read."""
    if stated.commit is None:
        return NotHere("is not pinned to a commit yet", "`mdmem sync --wings` fetches it and writes the commit")
    url = place_of(stated, root)
    pin = find_pin(cache, url, stated.commit)
    if pin is None:
        return NotHere(f"is not fetched: its commit {stated.commit[:10]} is not here")
    folder = folder_of(name, stated, pin.roots)
    if folder is None:
        listed = ", ".join(f"`{one or '.'}`" for one in pin.roots)
        return NotHere(f"is one of several memories there: {listed}", "choose one with `path`")
    tree = GitTree(Repository.bare(store_of(cache, url)), folder, stated.commit, f"{name} ({stated.commit[:10]})")
    try:
        if tree.files():
            return tree
    except (GitError, OSError):
        return NotHere("was fetched, but can no longer be read")
    at = f"is not there at the commit {stated.commit[:10]}: no file is in `{folder}`"
    return NotHere(at, "set `path` to the memory that contains it, or set another `ref`")


def folder_of(name: str, stated: WingSettings, roots: tuple[str, ...]) -> str | None:
    """Return the folder of a wing from the top of its repository, or None where several memories may contain it."""
    if stated.path is None and len(roots) > 1:
        return None
    root = stated.path if stated.path is not None else "".join(roots)
    return f"{root}/{name}".removeprefix("/")


def place_of(stated: WingSettings, root: Path) -> str:
    """Return the URL or path of a wing's repository; a relative path counts from the root."""
    url = stated.git or ""
    return os.path.normpath(root / url) if is_path(url) else url


# Documents of this many bytes stay in memory for whoever needs their texts next: to parse one again takes 100 µs.
_MOST_BYTES = 32 * 1024 * 1024


def load(tree: Tree) -> Catalog:
    """Load every file of a tree with its document, without a cache.

    Entries keep their links into wings that a narrowed tree hides.
    """
    loading = _Loading(tree)
    loading.take_manifests(iter_documents(tree, [file.path for file in loading.manifests]))
    loaded = {}
    for document in iter_documents(tree, [file.path for file in loading.readable]):
        loading.documents[document.path] = document
        loaded[document.path] = interpret(document)
    return loading.catalog(loaded)


def load_cached(tree: Tree, cache: EntryCache) -> Catalog:
    """Load a tree, reading only the files whose content the cache does not have.

    Entries have no links into wings that a narrowed tree hides.
    """
    loading = _Loading(tree)
    is_on_disk = tree.is_on_disk
    digests = tree.digests([*loading.readable, *loading.manifests])
    loaded: dict[str, LoadedFile] = {}
    unknown: dict[str, TreeFile] = {}
    size = 0
    for file in loading.readable:
        known = cache.loaded(file.path, digests.get(file.path))
        if known is not None:
            loaded[file.path] = known
        else:
            unknown[file.path] = file
    for document in iter_documents(tree, list(unknown)):
        path = document.path
        size += len(document.data)
        if size <= _MOST_BYTES:
            loading.documents[path] = document
        loaded[path] = found = with_utc(interpret(document))
        if not found.is_closed:
            # The file may have changed since it was listed.
            digests[path] = unknown[path].digest or digest_of(document.data)
            cache.learn(path, digests[path], found, is_on_disk=is_on_disk)
    for file in loading.manifests:
        row = cache.manifest(file.path, digests.get(file.path))
        if row is not None:
            loading.take_wing(file.path, row.wing)
            continue
        [document] = iter_documents(tree, [file.path])
        if not loading.take_manifests([document]):
            digests[file.path] = file.digest or digest_of(document.data)
            wing = loading.stated_wings.get(file.path.split("/")[0])
            cache.learn_manifest(file.path, digests[file.path], wing, is_on_disk=is_on_disk)
    # Whoever sees only some of the files cannot tell which are gone.
    is_whole = is_on_disk and not loading.access.is_narrow and not tree.missing_wings
    cache.save({file.path for file in tree.files()} if is_whole else None)
    return loading.catalog(loaded, digests, shows_hidden=False)


def part_of(tree: Tree, documents: Mapping[str, Document], loaded: Mapping[str, LoadedFile]) -> Catalog:
    """Return the catalog of some files alone."""
    files = tuple(map(TreeFile, documents))
    found = [loaded[file.path] for file in files]
    return Catalog(
        tree=tree,
        entries={one.entry.address: one.entry for one in found if one.entry is not None},
        wings={},
        broken={one.path: one for one in found if one.entry is None},
        findings=_sorted(finding for one in found for finding in one.findings),
        files=files,
        others=(),
        sizes={one.entry.address: one.size for one in found if one.entry is not None},
        _documents=dict(documents),
    )


class _Loading:
    """One pass over a tree's files."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.access = tree.access
        files = tree.files()
        self.entry_files = tuple(file for file in files if is_entry_place(file.path))
        self.others = tuple(file for file in files if not is_entry_place(file.path))
        self.readable = [file for file in self.entry_files if file.kind is FileKind.FILE]
        self.manifests = [file for file in self.others if is_manifest(file)]
        self.documents: dict[str, Document] = {}
        self.stated_wings: dict[str, Wing] = {}
        self.wing_findings: list[Finding] = []

    def take_manifests(self, documents: Iterable[Document]) -> list[Finding]:
        """Add the wings of manifests, and return the findings about them."""
        found = []
        for document in documents:
            self.documents[document.path] = document
            wing, faults = read_manifest(document.path.split("/")[0], document)
            found += faults
            self.take_wing(document.path, wing)
        self.wing_findings += found
        return found

    def take_wing(self, path: str, wing: Wing | None) -> None:
        """Add the wing of a manifest; None where it is prose."""
        name = path.split("/")[0]
        if wing is not None:
            self.stated_wings[name] = wing if wing.name == name else wing.with_changes(name=name)

    def catalog(
        self, loaded: Mapping[str, LoadedFile], digests: dict[str, str] | None = None, *, shows_hidden: bool = True
    ) -> Catalog:
        found = [loaded.get(file.path) or unreadable(file) for file in self.entry_files]
        unlisted = [unreadable(file).findings[0] for file in self.others if file.kind is FileKind.UNREADABLE]
        return Catalog(
            tree=self.tree,
            entries=self._entries(found, shows_hidden=shows_hidden),
            wings=self._wings(),
            broken={one.path: one for one in found if one.entry is None},
            findings=_sorted(
                [
                    *(finding for one in found for finding in one.findings),
                    *self.wing_findings,
                    *unlisted,
                    *not_fetched(self.tree),
                ]
            ),
            files=self.entry_files,
            others=self.others,
            sizes={one.entry.address: one.size for one in found if one.entry is not None},
            _documents=self.documents,
            _digests=digests,
            one_end_suffices=settings_of(self.tree, about=b"one_sided").one_sided is OneSided.FACT,
        )

    def _entries(self, loaded: Iterable[LoadedFile], *, shows_hidden: bool) -> dict[str, Entry]:
        """Return the entries by address, with their short links resolved as far as possible."""
        loaded = list(loaded)
        entries = {one.entry.address: one.entry for one in loaded if one.entry is not None}
        short = [one.entry for one in loaded if one.has_short_links and one.entry is not None]
        if not short and not self.access.is_narrow:
            return entries
        there = frozenset(file.path.removesuffix(".md") for file in self.entry_files)
        known = known_addresses(there, self.access, frozenset(wing.name for wing in self.tree.missing_wings))
        entries |= {entry.address: with_full_links(entry, known) for entry in short}
        if self.access.is_narrow and not shows_hidden:
            redaction = Redaction(self.access, known)
            entries = {address: redaction.entry(entry) for address, entry in entries.items()}
        return entries

    def _wings(self) -> dict[str, Wing]:
        found = {name: Wing(name=name) for name in {file.path.partition("/")[0] for file in self.entry_files}}
        stated = {name: without_hidden_wings(wing, self.access) for name, wing in self.stated_wings.items()}
        return dict(sorted({**found, **stated}.items()))


def _sorted(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(findings, key=lambda finding: finding.sort_key))


def settings_bytes(tree: Tree) -> bytes | Unreadable:
    """Return the settings file of a tree; empty where it has none."""
    return read_one(tree, SETTINGS_NAME) if has_file(tree, SETTINGS_NAME) else b""
