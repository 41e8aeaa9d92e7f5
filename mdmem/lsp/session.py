"""One memory that files of the editor belong to: its files with the open texts laid over them.

Which files changed since somebody looked: those of some paths, or nobody can say which.

Who names an entry, in fields and in texts: of closed files what each content links, of open ones what they say.

So nothing but the open texts is looked at again while somebody types.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace
from pygls.uris import from_fs_path

from mdmem.checks.kept_findings import ExtractStore
from mdmem.checks.run import facts_of
from mdmem.errors import MdmemError, SettingsError
from mdmem.lsp.buffer import Buffer, over_file
from mdmem.lsp.options import EditorSkills
from mdmem.lsp.spots import meant, parts_of
from mdmem.markdown.links import BodyLink, body_links, may_have_links
from mdmem.markdown.parse import without_code
from mdmem.model.fields import LINK_FIELDS
from mdmem.model.finding import Finding
from mdmem.store.catalog import Catalog
from mdmem.store.catalog.links import reference_of
from mdmem.store.git.discovery import Stamp, stamp_of
from mdmem.store.settings import Settings
from mdmem.store.tree import SETTINGS_NAME, FileKind, OverlaidTree, Tree, Unreadable, read_one
from mdmem.store.workspace.workspace import Workspace

if TYPE_CHECKING:
    from mdmem.store.workspace.location import Location


class EditedMemory(Struct, frozen=True):
    """A memory as it would be if the open texts were saved, as it lies on disk, and those texts by path."""

    catalog: Catalog
    disk: Catalog
    open: Mapping[str, Buffer]


class BackLinks(Struct, eq=False):
    """The links in the bodies of the files on disk, kept by content."""

    _of: dict[str, tuple[str, tuple[BodyLink, ...]]] = field(default_factory=dict)
    _by_id: dict[str, set[str]] = field(default_factory=dict)
    _digests: Mapping[str, str] = field(default_factory=dict)

    def naming(self, memory: EditedMemory, address: str) -> tuple[str, ...]:
        """Return the entries that name another in a field or in their text, sorted."""
        found = {other for other, _ in fields_naming(memory, address)}
        for one in self._candidates(memory.disk, address):
            links = (reference_of(link, one, memory.catalog.entries) for link in self._of[one][1])
            if f"{one}.md" not in memory.open and one not in found and any(link.target == address for link in links):
                found.add(one)
        found.update(_open_ones(memory, address))
        return tuple(sorted(found - {address}))

    def _candidates(self, catalog: Catalog, address: str) -> frozenset[str]:
        self._refresh(catalog)
        return frozenset(self._by_id.get(_id_of(address), ()))

    def _refresh(self, catalog: Catalog) -> None:
        """Take in what the bodies of a catalog link that were not read yet; nothing where it holds the same."""
        digests = catalog.digests
        if digests is self._digests:
            return
        for gone in [one for one, (digest, _) in self._of.items() if digests.get(one) != digest]:
            self._forget(gone)
        new = [one for one, digest in digests.items() if self._digests.get(one) != digest]
        for one, body in catalog.plain_bodies(new):
            if may_have_links(body):
                self._keep(one, digests[one], tuple(body_links(without_code(body))))
        self._digests = digests

    def _forget(self, address: str) -> None:
        for link in self._of.pop(address)[1]:
            self._by_id.get(_id_of(link.target), set()).discard(address)

    def _keep(self, address: str, digest: str, links: tuple[BodyLink, ...]) -> None:
        if links:
            self._of[address] = (digest, links)
        for link in links:
            self._by_id.setdefault(_id_of(link.target), set()).add(address)


def fields_naming(memory: EditedMemory, address: str) -> Iterator[tuple[str, str]]:
    """Yield the entries that hold an address in a field, with the field; of a relation with its type."""
    near = memory.disk.adjacency
    # Of a supersession either end may be silent, and both are neighbours.
    around = {other for other, _ in (*near.incoming.get(address, ()), *near.outgoing.get(address, ()))}
    for other in sorted(around.union(path.removesuffix(".md") for path in memory.open)):
        entry = memory.catalog.entries.get(other)
        if entry is not None:
            yield from ((other, name) for name in LINK_FIELDS if address in entry.links(name))
            yield from ((other, one.type) for one in entry.relations if one.to == address)


def _open_ones(memory: EditedMemory, address: str) -> Iterator[str]:
    """Yield the entries whose open texts name another, be they readable or not."""
    for path, buffer in memory.open.items():
        near = path.removesuffix(".md")
        # What does not hold the id names nothing that it ends.
        if near in memory.catalog.addresses and _id_of(address) in buffer.text:
            spots = parts_of(buffer.text).addresses
            if any(meant(spot, near, memory.catalog) == address for spot in spots):
                yield near


def _id_of(written: str) -> str:
    """Return the entry-id of an address, however it is written."""
    return written.rstrip("/").rsplit("/", 1)[-1].removesuffix(".md")


class Edits(Struct, frozen=True):
    """The paths of files that hold other bytes; None where more may have changed: what is there, git, everything."""

    paths: frozenset[str] | None = None

    @classmethod
    def none(cls) -> Edits:
        """Return that nothing changed."""
        return cls(frozenset())

    def with_more(self, paths: frozenset[str] | None) -> Edits:
        """Return these edits with those of more paths."""
        return Edits(None if paths is None or self.paths is None else self.paths | paths)


def differing(before: Tree, after: Tree) -> frozenset[str] | None:
    """Return the paths at which two trees hold other bytes; None where they do not hold the same files."""
    files = after.files()
    if before.files() != files:
        return None
    plain = [file for file in files if file.kind is FileKind.FILE]
    return frozenset(path for path, _ in before.digests(plain).items() ^ after.digests(plain).items())


_Made = TypeVar("_Made")


class EditorSession(Struct, eq=False, dict=True):
    """One memory and its open texts; what follows from both is made anew once either changed.

    `buffers` are the open files of the memory by path from its root; `revision` grows with each change.
    `findings` are those that were told last, and `skills` the editor's.
    """

    location: Location
    environment: Mapping[str, str]
    today: Callable[[], date]
    buffers: dict[str, Buffer] = field(default_factory=dict)
    revision: int = 0
    skills: EditorSkills = EditorSkills()
    findings: tuple[Finding, ...] = ()
    back_links: BackLinks = field(default_factory=BackLinks)
    _stamp: Stamp | None = None

    @cached_property
    def disk(self) -> Workspace:
        """Return the files on disk as they were looked at last."""
        return Workspace(self.location, self.environment, self.location.root, self.today())

    @cached_property
    def _overlay(self) -> OverlaidTree:
        return OverlaidTree(self.disk.tree)

    @cached_property
    def workspace(self) -> Workspace:
        """Return the memory as it would be if each open text was saved."""
        changed = {path: buffer.data for path, buffer in self.buffers.items() if buffer.kept is None}
        # What was read of the disk stays read, until that is looked at anew.
        tree = replace(self._overlay, changed=changed)
        return self.disk.over(tree)

    def once(self, make: Callable[[EditorSession], _Made]) -> _Made:
        """Return what a function makes of this session, made when it is first asked for."""
        if make not in self._made:
            self._made[make] = make(self)
        made: _Made = self._made[make]
        return made

    @cached_property
    def _made(self) -> dict[Callable[[EditorSession], Any], Any]:
        return {}

    @property
    def catalog(self) -> Catalog:
        """Return the entries of the memory as it would be."""
        return self.workspace.catalog

    @cached_property
    def settings(self) -> Settings:
        """Return the settings, so far as they can be read."""
        try:
            return self.workspace.settings
        except SettingsError as error:
            return error.readable if isinstance(error.readable, Settings) else Settings()

    @cached_property
    def tracked_files(self) -> frozenset[str]:
        """Return the files that git tracks, counted from the repository's top, as of the last look at the disk."""
        return self.disk.tracked_files()

    @cached_property
    def facts(self) -> Any:
        """Return what git has to say, as of the last look at the disk; None outside git."""
        self._stamp = self._stamp_now()
        return facts_of(self.workspace)

    @cached_property
    def extracts(self) -> ExtractStore:
        """Return what the checks know of files from earlier runs."""
        return ExtractStore(self.disk.cache_folder, is_written=False).load()

    def uri_of(self, path: str) -> str:
        """Return the uri of a file of the memory: the one that the editor gave it, where it is open."""
        return self.buffers[path].uri if path in self.buffers else from_fs_path(str(self.location.root / path)) or ""

    def buffer_over(self, file: Path, uri: str, text: str, version: int | None) -> Buffer:
        """Return the buffer of a text that an editor has of a file."""
        path, code = _below(self.location.root, file), _below(self.location.base, file)
        on_disk = self.bytes_of(path) if path is not None else None
        return over_file(Buffer(uri, path, text, version, code), on_disk)

    def naming(self, address: str) -> tuple[str, ...]:
        """Return the entries that name another in a field or in their text, sorted."""
        return self.back_links.naming(self._memory, address)

    def fields_naming(self, address: str) -> tuple[tuple[str, str], ...]:
        """Return the entries that hold an address in a field, each with the field."""
        return tuple(fields_naming(self._memory, address))

    @property
    def _memory(self) -> EditedMemory:
        return EditedMemory(self.catalog, self.disk.catalog, self.buffers)

    def uri_of_code(self, path: str) -> str:
        """Return the uri of a file of the code, by its path from the repository's top."""
        return from_fs_path(str(self.location.base / path)) or ""

    def buffer_of(self, path: str) -> Buffer | None:
        """Return a file of the memory as the editor has it, or else as it lies on disk; None where it is not there."""
        if path in self.buffers:
            return self.buffers[path]
        content = self.bytes_of(path)
        if content is None:
            return None
        text = content.decode("utf-8", "replace").removeprefix("\ufeff")
        return over_file(Buffer(self.uri_of(path), path, text), content)

    def closed(self, file: Path) -> Buffer | None:
        """Return a file of the memory as it lies on disk; None for one that is not there, or no file of it."""
        path = _below(self.location.root, file)
        return self.buffer_of(path) if path is not None else None

    def bytes_of(self, path: str) -> bytes | None:
        """Return a file's bytes on disk; None where it is not there or cannot be read."""
        try:
            content = read_one(self.disk.whole_tree, path)
        except (MdmemError, OSError):
            return None
        return None if isinstance(content, Unreadable) else content

    def put(self, buffer: Buffer) -> None:
        """Take an open text of the memory in, or its next version; code is none of its files."""
        if buffer.path is None:
            return
        before = self.buffers.get(buffer.path)
        self.buffers[buffer.path] = buffer
        if before is not None or buffer.kept is None:
            self._mark([buffer.path])

    def drop(self, path: str) -> None:
        """Let an open text go: what the file holds counts again."""
        buffer = self.buffers.pop(path, None)
        if buffer is not None and buffer.kept is None:
            self._mark([path])

    @property
    def is_there(self) -> bool:
        """Say whether the folder is a memory still."""
        return (self.location.root / SETTINGS_NAME).is_file()

    def look(self) -> bool:
        """Look at the disk and at git anew, and say whether anything is another than before."""
        stamp = self._stamp_now()
        fresh = replace(self.disk.reread(), today=self.today())
        changed = differing(self.disk.tree, fresh.tree)
        # What is in force depends on the day, and an editor stays open for many.
        is_same = stamp is not None and stamp == self._stamp and fresh.today == self.disk.today
        if is_same and changed == frozenset():
            return False
        self._stamp, self.disk = stamp, fresh
        # What git says depends on its own files and on which files there are, not on what these hold.
        is_text = is_same and changed is not None
        for name in ("_overlay",) if is_text else ("_overlay", "facts", "tracked_files", "settings"):
            self.__dict__.pop(name, None)
        for path, buffer in self.buffers.items():
            self.buffers[path] = over_file(buffer, self.bytes_of(path))
        self._mark(changed if is_text else None)
        return True

    def _stamp_now(self) -> Stamp | None:
        """Return what tells whether git would answer otherwise; None where nothing does."""
        return stamp_of(self.location.repository) if self.location.repository is not None else ()

    def _mark(self, paths: Iterable[str] | None) -> None:
        self.revision += 1
        found = None if paths is None else frozenset(paths)
        self.__dict__.pop("workspace", None)
        if found is None or not all(path.endswith(".md") for path in found):
            self.__dict__.pop("settings", None)


def _below(folder: Path, file: Path) -> str | None:
    return file.relative_to(folder).as_posix() if file.is_relative_to(folder) else None
