"""What of a commit goes to the hub: the wings of its memory, those that it pins in other repositories, their files."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from hashlib import sha256

from msgspec import Struct
from msgspec.structs import replace

from mdmem.errors import EnvironmentFaultError, UsageError
from mdmem.hub.names import remote_place, remote_url
from mdmem.hub.rows import HubFile, Link, Terms, is_storable, terms_of
from mdmem.markdown.front_matter import body_of
from mdmem.markdown.links import body_links, may_have_links
from mdmem.markdown.parse import parse_document, without_code
from mdmem.model.access import EVERYTHING
from mdmem.model.entry import Entry
from mdmem.model.fields import LINK_FIELDS
from mdmem.model.globs import any_match
from mdmem.store.catalog import Catalog, is_entry_place, part_of, settings_bytes
from mdmem.store.catalog.addresses import MANIFEST, full_address, is_manifest, is_plain_address, with_full_links
from mdmem.store.catalog.links import reference_of
from mdmem.store.catalog.load import settings_of
from mdmem.store.catalog.redaction import known_addresses
from mdmem.store.catalog.snapshot import LoadedFile, interpret, iter_documents, read_manifest, unreadable
from mdmem.store.git.merge import is_shallow, root_commits
from mdmem.store.git.status import list_revision
from mdmem.store.settings import WingSettings
from mdmem.store.tree import SETTINGS_NAME, FileKind, GitTree, JoinedTree, MissingWing, TreeFile, Unreadable, has_file
from mdmem.store.tree import missing_wings as missing_in
from mdmem.store.workspace.location import Snapshot
from mdmem.store.workspace.workspace import Workspace

# So many files are read and analysed at once.
_PORTION = 200


class WingSource(Struct, frozen=True):
    """Where a wing of another repository lives: the repository's place by name, the folder from its top, the commit.

    The place is empty where it is a folder of this machine.
    """

    place: str
    path: str
    commit: str


class HubWing(Struct, frozen=True):
    """A wing and its files by path from its folder; `source` is None for one of the memory's own."""

    name: str
    files: Mapping[str, TreeFile]
    source: WingSource | None = None

    @property
    def tree(self) -> str:
        """Return a hash that nobody knows who does not have the files, and that no others have."""
        held = sorted((path, one.kind, one.digest or "") for path, one in self.files.items())
        return sha256(repr(held).encode("utf-8", "surrogateescape")).hexdigest()


class Contents:
    """The memory at one commit, as the hub takes it: what is on disk, or anybody's own, has no part in it."""

    def __init__(self, workspace: Workspace, commit: str) -> None:
        """Take the root's workspace and the whole name of a commit; raises UsageError where that holds no memory."""
        self.commit = commit
        location = workspace.location
        # What is pushed is what the commit is to everybody.
        literal = replace(location, repository=replace(location.get_repository(), is_literal=True))
        meant = replace(workspace.unlimited(), location=literal)
        self.workspace = meant.at(Snapshot(revision=commit, is_resolved=True))
        self.tree = self.workspace.whole_tree
        if not has_file(self.tree, SETTINGS_NAME):
            where = workspace.location.under or "its top"
            raise UsageError(f"the commit {commit[:10]} holds no memory at {where}: there is no {SETTINGS_NAME}")

    @cached_property
    def remote(self) -> str | None:
        """Return the URL of the repository's remote, None where it has none."""
        return remote_url(self.workspace.location.get_repository())

    @cached_property
    def roots(self) -> list[str] | None:
        """Return the commits that the history begins with; None where it is cut off, for there it seems to begin."""
        git = self.workspace.location.get_repository()
        return None if is_shallow(git) else list(root_commits(git, self.commit))

    @property
    def settings(self) -> bytes:
        """Return the settings' file."""
        content = settings_bytes(self.tree)
        return b"" if isinstance(content, Unreadable) else content

    @cached_property
    def tracked(self) -> tuple[str, ...]:
        """Return files of the commit that tell which shared wings are about its code: the first that each meets."""
        manifests = [file.path for file in self.tree.files() if is_manifest(file)]
        read = (read_manifest(one.path.partition("/")[0], one)[0] for one in iter_documents(self.tree, manifests))
        about = [wing.applies_to for wing in read if wing is not None and wing.is_shared and wing.applies_to]
        if not about:
            return ()
        files = [blob.path for blob in list_revision(self.workspace.location.get_repository(), self.commit, "")]
        met = (any_match(globs, files) for globs in about)
        # Of no file at all nothing could be told.
        return tuple(dict.fromkeys([*files[:1], *(path for path in met if path is not None)]))

    @property
    def missing(self) -> tuple[MissingWing, ...]:
        """Return the wings of other repositories that are not at hand."""
        return missing_in(self.tree)

    @property
    def missing_said(self) -> tuple[str, ...]:
        """Return a sentence for each wing that is not at hand, with what fetches it."""
        return tuple(f"{one.message}; {one.help}" for one in self.missing)

    @cached_property
    def wings(self) -> Mapping[str, HubWing]:
        """Return the wings by name, their files with them; one whose path no index of a database takes is left out."""
        found: dict[str, dict[str, TreeFile]] = {}
        for file in self.tree.files():
            name, _, path = file.path.partition("/")
            if path and is_storable(path):
                found.setdefault(name, {})[path] = file
        sources = self._sources()
        return {name: HubWing(name, files, sources.get(name)) for name, files in found.items() if _is_wing(name, files)}

    def _sources(self) -> dict[str, WingSource]:
        if not isinstance(self.tree, JoinedTree):
            return {}
        return {
            name: WingSource(self._places[name], tree.under, tree.commit or "")
            for name, tree in self.tree.wings.items()
            if isinstance(tree, GitTree)
        }

    @cached_property
    def _places(self) -> dict[str, str]:
        """Where the repositories of pinned wings are, by the wings' names."""
        return {name: remote_place(one.git) or "" for name, one in self._stated.items()}

    @cached_property
    def _stated(self) -> dict[str, WingSettings]:
        return settings_of(self.tree, about=b"git").remote_wings

    def awaits(self, name: str, source: WingSource) -> bool:
        """Say whether a wing is pinned as before, and only not at hand."""
        is_missing = any(one.name == name for one in self.missing)
        return is_missing and (self._places[name], self._stated[name].commit) == (source.place, source.commit)

    def files(self, wing: HubWing, paths: Collection[str]) -> Iterator[HubFile]:
        """Yield some files of a wing, read and analysed; raises EnvironmentFaultError for one that git cannot give."""
        asked = [wing.files[path] for path in sorted(paths)]
        for start in range(0, len(asked), _PORTION):
            yield from self._portion(wing, asked[start : start + _PORTION])

    def _portion(self, wing: HubWing, files: list[TreeFile]) -> Iterator[HubFile]:
        manifest = f"{wing.name}/{MANIFEST}"
        plain = [one.path for one in files if one.kind is FileKind.FILE]
        content = dict(self.tree.read([path for path in plain if path == manifest or is_entry_place(path)]))
        for path, found in content.items():
            if isinstance(found, Unreadable):
                raise EnvironmentFaultError(f"{path} cannot be read: {found.reason}")
        loaded = self._loaded({file.path: file for file in files if file.path in content and file.path != manifest})
        passages = self._passages(loaded)
        for file in files:
            path, read = file.path.partition("/")[2], content.get(file.path)
            if not isinstance(read, bytes):
                meant = unreadable(file) if is_entry_place(file.path) else None
                yield HubFile(path, file.kind, file.digest, loaded=meant)
            elif file.path == manifest:
                stated, faults = read_manifest(wing.name, parse_document(file.path, read))
                yield HubFile(path, file.kind, file.digest, read, wing=stated, is_sound=not faults)
            else:
                meant = loaded[file.path]
                links, is_short = self.links(wing, meant, read)
                terms = passages.get(file.path.removesuffix(".md"), ())
                yield HubFile(path, file.kind, file.digest, read, meant, None, terms, links, is_short)

    def _loaded(self, files: Mapping[str, TreeFile]) -> dict[str, LoadedFile]:
        """Return what files in entries' places mean; what a check parsed before is not parsed again."""
        cache = self.workspace.entry_cache
        known = {path: cache.loaded(path, file.digest) for path, file in files.items()}
        found = {path: one for path, one in known.items() if one is not None}
        unknown = [path for path in files if path not in found]
        return found | {one.path: interpret(one) for one in iter_documents(self.tree, unknown)}

    def _passages(self, loaded: Mapping[str, LoadedFile]) -> dict[str, tuple[Terms, ...]]:
        """Return the terms of entries by address."""
        entries = {one.entry.address: one.entry for one in loaded.values() if one.entry is not None}
        part = self.workspace.with_catalog(replace(self._nothing, entries=entries))
        return {one.key: terms_of(one) for one in part.texts(list(entries))}

    @cached_property
    def _nothing(self) -> Catalog:
        return part_of(self.tree, {}, {})

    def links(self, wing: HubWing, loaded: LoadedFile, content: bytes) -> tuple[frozenset[Link], bool]:
        """Return what a file of a wing links, and whether that may depend on which other files are there."""
        entry = loaded.entry
        if entry is None:
            return frozenset(), False
        addresses, body = self._addresses(wing), body_of(content)
        full = with_full_links(entry, addresses)
        found = {(name, target) for name in LINK_FIELDS for target in full.links(name)}
        found.update(("relations", one.to) for one in entry.relations)
        in_body = list(links_in_body(entry, body, addresses))
        found.update(("body", target) for target, _ in in_body)
        is_short = loaded.has_short_links or any(short for _, short in in_body)
        return frozenset(link for link in found if _may_be_address(link[1])), is_short

    def _addresses(self, wing: HubWing) -> Collection[str]:
        if wing.source is None:
            return self._all_addresses
        if wing.name not in self._pinned_addresses:
            self._pinned_addresses[wing.name] = _addresses_of(wing.files.values())
        return self._pinned_addresses[wing.name]

    @cached_property
    def _all_addresses(self) -> Collection[str]:
        missing = frozenset(one.name for one in self.missing)
        return known_addresses(_addresses_of(self.tree.files()), EVERYTHING, missing)

    @cached_property
    def _pinned_addresses(self) -> dict[str, frozenset[str]]:
        return {}


def _is_wing(name: str, files: Mapping[str, TreeFile]) -> bool:
    return MANIFEST in files or any(is_entry_place(f"{name}/{path}") for path in files)


def _addresses_of(files: Iterable[TreeFile]) -> frozenset[str]:
    return frozenset(file.path.removesuffix(".md") for file in files if is_entry_place(file.path))


def links_in_body(entry: Entry, body: str, addresses: Collection[str]) -> Iterator[tuple[str, bool]]:
    """Yield what the body of an entry links, and whether that may depend on which other files are there."""
    if not may_have_links(body):
        return
    for link in body_links(without_code(body)):
        if link.is_path:
            path = reference_of(link, entry.address, addresses).path or ""
            if is_entry_place(path) and not path.startswith("../"):
                yield path.removesuffix(".md"), False
        else:
            full = full_address(link.target, entry.address, addresses)
            yield full or link.target, not is_plain_address(link.target)


def _may_be_address(target: str) -> bool:
    return target.count("/") == 2 and is_storable(target)


def narrow_settings(content: bytes) -> bytes:
    """Return settings without what they say of single wings: nobody is told of one by its name, or where it lives.

    Those that cannot be read are empty: what is wrong with them may name a wing, too.
    """
    try:
        stated = tomllib.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return b""
    kept = {key: value for key, value in stated.items() if key not in ("wings", "default_wing")}
    return "".join(f"{_toml(key)} = {_toml(value)}\n" for key, value in kept.items()).encode()


def _toml(value: object) -> str:
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_toml(key)} = {_toml(inner)}' for key, inner in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value).lower() if isinstance(value, bool) else str(value)
