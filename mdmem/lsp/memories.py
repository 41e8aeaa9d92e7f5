"""The memories that the files of an editor belong to."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from urllib.parse import unquote

from pygls.uris import to_fs_path
from pygls.workspace import Workspace as EditorWorkspace

from mdmem import SETTINGS_NAME
from mdmem.errors import MdmemError
from mdmem.lsp.client import Abilities
from mdmem.lsp.memory import Document, OpenMemory
from mdmem.store.workspace.location import Location, locate


class Memories:
    """The memories of the editor's files; `workspace` contains its open documents and folders."""

    def __init__(self, *, environment: Mapping[str, str], today: Callable[[], date]) -> None:
        """Read nothing yet."""
        self._environment, self._today = environment, today
        self.workspace = EditorWorkspace(None)
        self.abilities = Abilities()
        self.opened: dict[Path, OpenMemory] = {}
        self._located: dict[Path, Location | None] = {}

    def memory_of(self, file: Path) -> OpenMemory | None:
        """Return the memory that the command line would find from a file; None for one outside its project."""
        if file.parent not in self._located:
            self._located[file.parent] = self._locate(file.parent)
        location = self._located[file.parent]
        if location is None or not (file.is_relative_to(location.root) or file.is_relative_to(location.base)):
            return None
        if location.root not in self.opened:
            memory = self.opened[location.root] = OpenMemory(location, self._environment, self._today)
            memory.abilities, memory.codec = self.abilities, self.workspace.position_codec
        return self.opened[location.root]

    def _locate(self, folder: Path) -> Location | None:
        try:
            there = next(one for one in (folder, *folder.parents) if one.is_dir())
            location = locate(None, self._environment, there)
            # Git may still list the settings of a memory that was deleted.
            return location if (location.root / SETTINGS_NAME).is_file() else None
        except (MdmemError, OSError):
            # Most projects have no memory; several may be equally near; a folder may be closed or its name too long.
            return None

    def document(self, uri: str) -> Document | None:
        """Return a file of a memory, or open code of its project; None for any other file."""
        file = file_of(uri)
        memory = self.memory_of(file) if file is not None else None
        if file is None or memory is None:
            return None
        path = _below(memory.location.root, file)
        opened = self.workspace.text_documents.get(unquote(uri))
        if opened is None or path in memory.documents:
            return memory.document(path) if path is not None else None
        code_path = _below(memory.location.base, file)
        return Document(memory, uri, path, opened.source, opened.version, code_path)

    def update(self, uri: str) -> OpenMemory | None:
        """Take the text that the editor now has of a file, and return its memory."""
        self.close(uri)
        document = self.document(uri)
        if document is None:
            return None
        document.memory.put(document)
        return document.memory

    def close(self, uri: str) -> OpenMemory | None:
        """Let a document go, and return its memory."""
        file = file_of(uri)
        memory = self.memory_of(file) if file is not None else None
        if file is not None and memory is not None and (path := _below(memory.location.root, file)) is not None:
            memory.drop(path)
        return memory

    def locate_again(self) -> list[OpenMemory]:
        """Find the memory of each open document again, and return the memories that went away."""
        gone = [memory for memory in self.opened.values() if not memory.is_there]
        for memory in gone:
            del self.opened[memory.location.root]
        self._located.clear()
        for document in list(self.workspace.text_documents.values()):
            self.update(document.uri)
        return gone

    def all_known(self) -> Sequence[OpenMemory]:
        """Return the memories of the open documents and those of the editor's folders."""
        for uri in (*(folder.uri for folder in self.workspace.folders.values()), self.workspace.root_uri):
            folder = file_of(uri) if uri else None
            if folder is not None:
                self.memory_of(folder / SETTINGS_NAME)
        return list(self.opened.values())


def file_of(uri: str) -> Path | None:
    """Return the file of a uri with the links in its folder resolved; None where it is no file's."""
    try:
        named = to_fs_path(uri)
        if not named or "\0" in named:
            return None
        path = Path(named.removeprefix("//localhost"))
        os.fsencode(path)
        return path.parent.resolve() / path.name
    except (OSError, ValueError, RuntimeError):
        # A name that no file can have, or a circle of links.
        return None


def _below(folder: Path, file: Path) -> str | None:
    return file.relative_to(folder).as_posix() if file.is_relative_to(folder) else None
