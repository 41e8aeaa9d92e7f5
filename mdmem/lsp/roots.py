"""Which memory a file of the editor belongs to, be it an entry or code that rules may bind."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date
from pathlib import Path

from pygls.uris import to_fs_path

from mdmem import SETTINGS_NAME
from mdmem.errors import MdmemError
from mdmem.lsp.buffer import Buffer, over_file
from mdmem.lsp.options import EditorSkills
from mdmem.lsp.session import EditorSession
from mdmem.store.workspace.location import Location, locate


class Roots:
    """The memories that files of the editor belong to, each opened once, and the open texts."""

    def __init__(self, *, environment: Mapping[str, str], today: Callable[[], date]) -> None:
        """Take what says where memories are; nothing is read yet."""
        self._environment, self._today = environment, today
        self.skills = EditorSkills()
        self.folders: Callable[[], Iterable[str]] = tuple
        self.sessions: dict[Path, EditorSession] = {}
        self._found: dict[Path, Location | None] = {}
        self._open: dict[str, tuple[EditorSession | None, Buffer]] = {}

    def session_of(self, file: Path) -> EditorSession | None:
        """Return the memory of a file: the one that the command line would find beside it; None where there is none.

        Only what lies in the memory or in the project around it has to do with it.
        """
        folder = file.parent
        if folder not in self._found:
            self._found[folder] = self._locate(folder)
        location = self._found[folder]
        if location is None or not (file.is_relative_to(location.root) or file.is_relative_to(location.base)):
            return None
        if location.root not in self.sessions:
            self.sessions[location.root] = EditorSession(location, self._environment, self._today, skills=self.skills)
        return self.sessions[location.root]

    def _locate(self, folder: Path) -> Location | None:
        try:
            there = next(one for one in (folder, *folder.parents) if one.is_dir())
            return locate(None, self._environment, there)
        except (MdmemError, OSError):
            # Most projects have no memory, where several are equally near, nobody can say which is meant, and a folder
            # may have a name that none can have, or be shut.
            return None

    def open(self, uri: str, text: str, version: int | None = None) -> EditorSession | None:
        """Take a text in that the editor opened, and return its memory."""
        file = file_of(uri)
        session = self.session_of(file) if file is not None else None
        if file is None or session is None:
            self._open[uri] = (None, Buffer(uri, None, text, version))
            return None
        return self._put(session, session.buffer_over(file, uri, text, version))

    def _put(self, session: EditorSession | None, buffer: Buffer) -> EditorSession | None:
        self._open[buffer.uri] = (session, buffer)
        if session is not None:
            session.put(buffer)
        return session

    def page(self, uri: str) -> tuple[EditorSession, Buffer] | None:
        """Return the memory of a file and its text, be it open or not; None where no memory has to do with it."""
        found = self._open.get(uri)
        if found is not None:
            session, buffer = found
            return None if session is None else (session, buffer)
        file = file_of(uri)
        session = self.session_of(file) if file is not None else None
        if file is None or session is None:
            return None
        closed = session.closed(file)
        return None if closed is None else (session, closed)

    def buffer(self, uri: str) -> Buffer | None:
        """Return the open text of a uri."""
        return self._open[uri][1] if uri in self._open else None

    def change(self, buffer: Buffer) -> EditorSession | None:
        """Take the next version of an open text in, and return its memory."""
        return self._put(self._open[buffer.uri][0], buffer)

    def close(self, uri: str) -> EditorSession | None:
        """Let an open text go, and return its memory; None where it has none or was never opened."""
        session, buffer = self._open.pop(uri, (None, None))
        if session is not None and buffer is not None and buffer.path is not None:
            # An editor may have one file open by two names, and what it holds of the other counts on.
            others = [one for held, one in self._open.values() if held is session and one.path == buffer.path]
            if others:
                session.put(over_file(others[-1], session.bytes_of(buffer.path)))
            else:
                session.drop(buffer.path)
        return session

    def forget_gone(self) -> list[EditorSession]:
        """Let the memories go whose folder went away, and return them."""
        gone = [root for root, session in self.sessions.items() if not session.is_there]
        found = [self.sessions.pop(root) for root in gone]
        self._found = {folder: one for folder, one in self._found.items() if one is None or one.root not in gone}
        for uri, (session, buffer) in self._open.items():
            if session in found:
                self._open[uri] = (None, buffer)
        return found

    def find_new(self) -> list[EditorSession]:
        """Look again for the memories of open texts that had none, and return those that were found."""
        self._found = {folder: one for folder, one in self._found.items() if one is not None}
        homeless = [buffer for session, buffer in self._open.values() if session is None]
        found = [self.open(buffer.uri, buffer.text, buffer.version) for buffer in homeless]
        return list(dict.fromkeys(session for session in found if session is not None))

    def all_known(self) -> list[EditorSession]:
        """Return the memories of the open texts, and those of the editor's folders, where nothing may be open yet."""
        for uri in self.folders():
            folder = file_of(uri)
            if folder is not None:
                self.session_of(folder / SETTINGS_NAME)
        return list(self.sessions.values())

    def __iter__(self) -> Iterator[EditorSession]:
        """Yield the memories that are open."""
        return iter(self.sessions.values())


def file_of(uri: str) -> Path | None:
    """Return the file that a uri names, links in its folder followed; None for what is no file."""
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
