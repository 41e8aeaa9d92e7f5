"""Where a call gets its workspace: one root, opened at the first call."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path

from msgspec.structs import replace

from mdmem import SETTINGS_NAME
from mdmem.disk import read_regular
from mdmem.errors import MdmemError, RootNotFoundError, SettingsError
from mdmem.mcp.served_workspace import ServedWorkspace
from mdmem.model.access import EVERYTHING, Access
from mdmem.profile import Profile
from mdmem.store.index.protocol import Progress
from mdmem.store.settings import Settings, parse_settings
from mdmem.store.workspace.location import Location, locate
from mdmem.store.workspace.workspace import Parts, Workspace


class Provider:
    """Gives each call a workspace of its own; the open index and the parsed files are shared by all of them."""

    def __init__(
        self, root: str | None, *, environment: Mapping[str, str], cwd: Path, today: Callable[[], date]
    ) -> None:
        """Take what says where the memory is; nothing is read yet."""
        self._root, self._environment, self.cwd, self.today = root, environment, cwd, today
        self._turn = threading.Lock()
        self._first: Workspace | None = None
        self._found: Location | None = None
        self._parsed: tuple[bytes, Settings] | None = None

    @property
    def is_named(self) -> bool:
        """Say whether somebody named the root: then it is that one or none."""
        return self._root is not None or bool(self._environment.get("MDMEM_ROOT"))

    def workspace(self, access: Access = EVERYTHING) -> Workspace:
        """Return a workspace that has read nothing yet; raises RootNotFoundError and SeveralRootsError."""
        first = self._opened()
        if not first.location.root.is_dir():
            # An empty answer would say that nothing binds.
            raise RootNotFoundError("the memory's folder is gone since the server was started")
        return replace(first.reread(), today=self.today(), access=access)

    def settings(self) -> Settings:
        """Return the settings as they are now, so far as they can be read; raises what `workspace` raises, and OSError.

        Only their own file is read: these are the server's, and every call asks for them.
        """
        content = self._settings_bytes()
        if self._parsed is None or self._parsed[0] != content:
            try:
                self._parsed = (content, parse_settings(content))
            except SettingsError as error:
                self._parsed = (content, error.readable if isinstance(error.readable, Settings) else Settings())
        return self._parsed[1]

    def profile(self) -> Profile:
        """Return which tools are listed, by the settings as they are now, so far as they can be read."""
        try:
            return self.settings().profile
        except (MdmemError, OSError):
            return Profile.CORE

    def _settings_bytes(self) -> bytes:
        try:
            return read_regular(self._location().root / SETTINGS_NAME)
        except FileNotFoundError:
            return b""

    def builder(self, progress: Progress) -> Workspace:
        """Return a workspace with an index of its own, for whoever builds it: the others are asked meanwhile."""
        return replace(self._opened(), today=self.today(), progress=progress, parts=Parts())

    def _opened(self) -> Workspace:
        with self._turn:
            if self._first is None or self._first.location != self._location():
                self._first = self._open()
                # Made here, once: two threads would each make one of their own.
                _ = self._first.index
            return self._first

    def _location(self) -> Location:
        """Return where the memory is: found once, but again while git refuses to say; it costs less than to open it."""
        if self._found is None or self._found.git_fault:
            self._found = locate(self._root, self._environment, self.cwd)
        return self._found

    def _open(self) -> Workspace:
        return ServedWorkspace(
            location=self._location(), environment=self._environment, cwd=self.cwd, today=self.today()
        )
