"""One memory that files of the editor belong to: its files with the open texts laid over them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pygls.uris import from_fs_path

from mdmem.dataclass import dataclass, field
from mdmem.errors import SettingsError
from mdmem.lsp.buffer import Buffer, over_file
from mdmem.settings import Settings
from mdmem.tree import OverlaidTree, Unreadable
from mdmem.workspace.workspace import Workspace

if TYPE_CHECKING:
    from mdmem.catalog import Catalog
    from mdmem.workspace.location import Location


@dataclass(eq=False)
class EditorSession:
    """One memory and its open texts; what follows from both is made anew once either changed.

    `buffers` are the open files of the memory by path from its root; `revision` grows with each change.
    """

    location: Location
    environment: Mapping[str, str]
    today: Callable[[], date]
    buffers: dict[str, Buffer] = field(default_factory=dict)
    revision: int = 0

    @cached_property
    def disk(self) -> Workspace:
        """Return the files on disk as they were looked at last."""
        return Workspace(self.location, self.environment, self.location.root, self.today())

    @cached_property
    def workspace(self) -> Workspace:
        """Return the memory as it would be if each open text was saved."""
        tree = self.disk.tree
        changed = {path: buffer.data for path, buffer in self.buffers.items() if buffer.kept is None}
        return self.disk.over(OverlaidTree(tree, changed)) if changed else self.disk

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

    def buffer_over(self, file: Path, uri: str, text: str, version: int | None) -> Buffer:
        """Return the buffer of a text that an editor has of a file."""
        path, code = _below(self.location.root, file), _below(self.location.base, file)
        on_disk = self.bytes_of(path) if path is not None else None
        return over_file(Buffer(uri, path, text, version, code), on_disk)

    def uri_of(self, path: str) -> str:
        """Return the uri of a file of the memory: the one that the editor gave it, where it is open."""
        return self.buffers[path].uri if path in self.buffers else from_fs_path(str(self.location.root / path)) or ""

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
            content = next(content for _, content in self.disk.whole_tree.read([path]))
        except OSError:
            return None
        return None if isinstance(content, Unreadable) else content

    def put(self, buffer: Buffer) -> None:
        """Take an open text of the memory in, or its next version; code is none of its files."""
        if buffer.path is not None:
            self.buffers[buffer.path] = buffer
            self._forget("workspace", "settings")

    def drop(self, path: str) -> None:
        """Let an open text go: what the file holds counts again."""
        if self.buffers.pop(path, None) is not None:
            self._forget("workspace", "settings")

    def reread(self) -> None:
        """Look at the disk anew; what was parsed stays known."""
        self.disk = self.disk.reread()
        self._forget("workspace", "settings", "tracked_files")

    def _forget(self, *names: str) -> None:
        self.revision += 1
        for name in names:
            self.__dict__.pop(name, None)


def _below(folder: Path, file: Path) -> str | None:
    return file.relative_to(folder).as_posix() if file.is_relative_to(folder) else None
