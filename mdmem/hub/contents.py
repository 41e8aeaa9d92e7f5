"""Read a commit in the form in which the hub stores it: wings, files with their columns, words, links, and settings."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from zlib import crc32

from msgspec import Struct
from msgspec.structs import replace

from mdmem import SETTINGS_NAME
from mdmem.errors import EnvironmentFaultError, UsageError
from mdmem.hub.repositories import remote_place
from mdmem.markdown.parse import body_links, may_have_links, parse_document, without_code
from mdmem.model.access import EVERYTHING
from mdmem.model.entry import Entry, Searched, Wing
from mdmem.model.fields import LINK_FIELDS, searched_as
from mdmem.model.globs import any_match
from mdmem.model.text import text_hash
from mdmem.store.catalog.addresses import (
    MANIFEST,
    full_address,
    has_short_links,
    is_entry_place,
    is_manifest,
    is_plain_address,
    iter_documents,
    load_entry,
    load_manifest,
    with_full_links,
)
from mdmem.store.catalog.links import reference_of
from mdmem.store.catalog.model import known_addresses
from mdmem.store.git.process import setting
from mdmem.store.git.status import list_revision
from mdmem.store.index.analysis import text_terms
from mdmem.store.settings import WingSettings
from mdmem.store.tree import FileKind, GitTree, TreeFile, TreeView, Unreadable, find_file, settings_bytes, settings_of
from mdmem.store.workspace.location import Snapshot
from mdmem.store.workspace.workspace import Workspace, document_of

COLUMNS = (
    *("path", "kind", "blob", "content", "type", "status", "title", "room", "label", "owner", "focus", "tags"),
    *("has_short_links", "words"),
)
"""The names of the columns in `HubFile.columns`, in order. The database adds a mark for the wing to the words."""

_BATCH = 200
# PostgreSQL's size limits: 1 MB for a tsvector, and 2.7 KB for a row of an index.
_MAX_WORDS = 1_000_000
_MAX_LENGTH = 2_600
# One of 64 entries is in the sample that counts how common each word is.
_SAMPLE, _SAMPLE_RATE = " sample", 64
# The mark for a word of a title. No word contains a blank, so marks and words cannot be confused.
_TITLE = " ="
_UNSTORED = re.compile("[\ud800-\udfff]")

Link = tuple[str, str]
"""A link: a field of the front matter, or `body`, and the address that it links to."""


class WingSource(Struct, frozen=True):
    """The origin of a pinned wing: the repository's address (empty for a local folder), the folder, and the commit."""

    place: str
    path: str
    commit: str


class HubWing(Struct, frozen=True, dict=True):
    """A wing and its files by path from the wing's folder; `source` is set only for a pinned wing."""

    name: str
    files: Mapping[str, TreeFile]
    source: WingSource | None = None

    @property
    def tree(self) -> str:
        """Return a hash of the paths, kinds and contents of all files; nobody can compute it without the files."""
        listed = sorted((path, one.kind, one.digest or "") for path, one in self.files.items())
        return text_hash(repr(listed))

    @cached_property
    def addresses(self) -> frozenset[str]:
        """Return the addresses of the files whose paths are valid for an entry."""
        return _addresses_of(self.files.values())


class HubFile(Struct, frozen=True):
    """One file of a wing; `path` is relative to the wing's folder, and `blob` is git's hash of the content.

    Only the manifest and files at an entry's path have `content`, and only entries have `words` for the search.
    """

    path: str
    kind: FileKind
    blob: str | None
    content: bytes | None = None
    entry: Entry | None = None
    words: str | None = None
    links: frozenset[Link] = frozenset()
    has_short_links: bool = False
    wing: Wing | None = None

    @property
    def columns(self) -> tuple[object, ...]:
        """Return the values for the columns of the file's row, in the order of `COLUMNS`."""
        entry, stated = self.entry, list[object]([None] * 8)
        if entry is not None:
            texts = (entry.title, entry.room, entry.label, entry.owner, entry.focus)
            plain = (None if text is None else plain_text(text) for text in texts)
            stated = [entry.type.value, entry.status.value, *plain, list(map(plain_text, entry.tags))]
        return (self.path, self.kind.value, self.blob, self.content, *stated, self.has_short_links, self.words)


class Contents:
    """The memory at one commit. The working tree and private memories are not part of it."""

    def __init__(self, workspace: Workspace, commit: str) -> None:
        """Store the workspace and the full hash of the commit. Raises UsageError if the commit has no memory."""
        self.commit = commit
        location = workspace.location
        # Ignore `git replace` in this clone, so that a commit means the same to everybody.
        literal = replace(location, repository=replace(location.get_repository(), is_literal=True))
        unlimited = replace(workspace.unlimited(), location=literal)
        self.workspace = unlimited.at(Snapshot(revision=commit))
        self.tree = self.workspace.whole_tree
        if find_file(self.tree.files(), SETTINGS_NAME) is None:
            where = workspace.location.under or "its top"
            raise UsageError(f"the commit {commit[:10]} has no memory at {where}: there is no {SETTINGS_NAME}")

    @cached_property
    def remote(self) -> str | None:
        """Return the URL of the repository's remote, or None if there is no remote."""
        return setting(self.workspace.location.get_repository(), "remote.origin.url")

    @property
    def settings(self) -> bytes:
        """Return the bytes of the settings file; empty if it is missing or cannot be read."""
        content = settings_bytes(self.tree)
        return b"" if isinstance(content, Unreadable) else content

    @cached_property
    def tracked(self) -> tuple[str, ...]:
        """Return a tracked file that matches for each shared wing with globs, and the first file of the repository."""
        manifests = [file.path for file in self.tree.files() if is_manifest(file)]
        read = (load_manifest(one).wing for one in iter_documents(self.tree, manifests))
        about = [wing.applies_to for wing in read if wing is not None and wing.is_shared and wing.applies_to]
        if not about:
            return ()
        files = [blob.path for blob in list_revision(self.workspace.location.get_repository(), self.commit, "")]
        matches = (any_match(globs, files) for globs in about)
        # If no file matches, send one file anyway, because otherwise nothing is known about the code.
        return tuple(dict.fromkeys([*files[:1], *(path for path in matches if path is not None)]))

    @property
    def missing_sentences(self) -> tuple[str, ...]:
        """Return a sentence for each wing of another repository that is not fetched here."""
        return tuple(f"{one.message}; {one.help}" for one in self.tree.missing_wings.values())

    @cached_property
    def wings(self) -> Mapping[str, HubWing]:
        """Return the commit's wings by name; raises UsageError if the hub cannot store an entry's file."""
        found: dict[str, dict[str, TreeFile]] = {}
        for file in self.tree.files():
            name, _, path = file.path.partition("/")
            if path and is_storable(file.path):
                found.setdefault(name, {})[path] = file
            elif path and is_entry_place(file.path) and plain_text(file.path) != file.path:
                raise UsageError(f"the hub cannot store the name {file.path!a}, which is not UTF-8; rename it")
        trees = self.tree.wings if isinstance(self.tree, TreeView) else {}
        sources = {
            name: WingSource(self._place(name), tree.under, tree.commit or "")
            for name, tree in trees.items()
            if isinstance(tree, GitTree)
        }
        return {
            name: HubWing(name, files, sources.get(name))
            for name, files in found.items()
            if MANIFEST in files or any(is_entry_place(f"{name}/{path}") for path in files)
        }

    @cached_property
    def _pinned(self) -> dict[str, WingSettings]:
        return settings_of(self.tree).remote_wings

    def _place(self, name: str) -> str:
        return remote_place(self._pinned[name].git) or ""

    def awaits(self, name: str, source: WingSource) -> bool:
        """Return whether a wing is not fetched here, but the hub has it at the pinned commit (`source`)."""
        is_missing = name in self.tree.missing_wings
        return is_missing and (self._place(name), self._pinned[name].commit) == (source.place, source.commit)

    def batches(self, wing: HubWing, paths: Collection[str]) -> Iterator[list[HubFile]]:
        """Yield the files of a wing at some paths, parsed and analysed, in lists of at most 200."""
        chosen = [wing.files[path] for path in sorted(paths)]
        for start in range(0, len(chosen), _BATCH):
            batch = chosen[start : start + _BATCH]
            files = [one.path for one in batch if one.kind is FileKind.FILE]
            wanted = [path for path in files if is_entry_place(path) or path == f"{wing.name}/{MANIFEST}"]
            contents, read = dict(self.tree.read(wanted)), []
            for file in batch:
                path, content = file.path.partition("/")[2], contents.get(file.path)
                if isinstance(content, Unreadable):
                    raise EnvironmentFaultError(f"{file.path} cannot be read: {content.reason}")
                one = HubFile(path, file.kind, file.digest, content)
                if content is not None:
                    document = parse_document(file.path, content)
                    entry = load_entry(document).entry if path != MANIFEST else None
                    if entry is not None:
                        is_sampled = crc32(f"{path} {file.digest}".encode()) % _SAMPLE_RATE == 0
                        words = words_of(entry, document.body, is_sampled=is_sampled)
                        links, is_short = self._links(wing, entry, document.body)
                        one = replace(one, entry=entry, words=words, links=links, has_short_links=is_short)
                    elif path == MANIFEST:
                        one = replace(one, wing=load_manifest(document).wing)
                read.append(one)
            yield read

    def _links(self, wing: HubWing, entry: Entry, body: str) -> tuple[frozenset[Link], bool]:
        """Return the links of an entry, and whether their targets depend on which other files exist."""
        addresses = self._own_addresses if wing.source is None else wing.addresses
        full = with_full_links(entry, addresses)
        found = {(name, target) for name in LINK_FIELDS for target in full.links(name)}
        found.update(("relations", one.to) for one in entry.relations)
        is_short = has_short_links(entry)
        for link in body_links(without_code(body)) if may_have_links(body) else ():
            if link.is_path:
                path = reference_of(link, entry.address, addresses).path or ""
                if is_entry_place(path) and not path.startswith("../"):
                    found.add(("body", path.removesuffix(".md")))
            else:
                is_short = is_short or not is_plain_address(link.target)
                found.add(("body", full_address(link.target, entry.address, addresses) or link.target))
        return frozenset(one for one in found if one[1].count("/") == 2 and is_storable(one[1])), is_short

    @cached_property
    def _own_addresses(self) -> Collection[str]:
        missing = frozenset(self.tree.missing_wings)
        return known_addresses(_addresses_of(self.tree.files()), EVERYTHING, missing)


def _addresses_of(files: Iterable[TreeFile]) -> frozenset[str]:
    return frozenset(file.path.removesuffix(".md") for file in files if is_entry_place(file.path))


def words_of(entry: Entry, body: str, *, is_sampled: bool = False) -> str:
    """Return the words of an entry as the text of a `tsvector`, in which the words of the title are also marked.

    With `is_sampled`, another mark puts the entry into the sample that counts how common each word is. After one
    megabyte, further words are left out; the words of the title come first.
    """
    document = document_of(entry, body, "")
    title, tags = (
        "\n".join(text for name in searched_as(kind) for text in document.fields.get(name, ()))
        for kind in (Searched.TITLE, Searched.TAG)
    )
    in_title = sorted(text_terms(title))
    found = [_SAMPLE] if is_sampled else []
    size = 0
    for term in (*in_title, *(f"{_TITLE}{term}" for term in in_title), *sorted(text_terms(f"{document.body}\n{tags}"))):
        size += len(term.encode())
        if size > _MAX_WORDS:
            break
        found.append(term)
    return " ".join(map(lexeme, found))


def lexeme(term: str) -> str:
    """Return a term quoted for a `tsvector` or a `tsquery`."""
    return "'" + plain_text(term).replace("\\", "\\\\").replace("'", "''") + "'"


def plain_text(text: str) -> str:
    """Return a text with U+FFFD in place of NUL characters and lone surrogates, which PostgreSQL cannot store."""
    return _UNSTORED.sub("\ufffd", text.replace("\0", "\ufffd"))


def is_storable(path: str) -> bool:
    """Return whether the hub can store a path. No file system allows a longer path for an entry."""
    return plain_text(path) == path and len(path.encode()) <= _MAX_LENGTH


def narrow_settings(content: bytes) -> bytes:
    """Return the settings without their wings, for callers who may see only some wings; nothing if they are invalid."""
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
