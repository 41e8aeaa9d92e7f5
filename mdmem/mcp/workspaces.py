"""Where a call gets its workspace: one root, opened at the first call.

A catalog stays in memory as long as the files do not change, and its views as long as the refs do not change either.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from mdmem import SETTINGS_NAME
from mdmem.disk import read_regular
from mdmem.errors import MdmemError, RootNotFoundError
from mdmem.model.access import EVERYTHING, Access
from mdmem.store.catalog.load import load
from mdmem.store.catalog.model import Catalog
from mdmem.store.git.discovery import stamp_of
from mdmem.store.index.records import Progress
from mdmem.store.settings import Profile, Settings, readable_settings
from mdmem.store.tree import FileKind, TreeFile
from mdmem.store.workspace.location import Location, locate
from mdmem.store.workspace.workspace import TimedTree, Workspace

# Callers whose catalogs stay in memory.
_CALLERS = 8

_Made = TypeVar("_Made")
Make = Callable[[Workspace], _Made]


class _Cached(Struct):
    """A catalog with the files that it was loaded from, and the views that were made of it, each with its refs."""

    files: tuple[TreeFile, ...]
    digests: Mapping[str, str]
    catalog: Catalog
    made: dict[Any, tuple[object, Any]] = field(default_factory=dict)


class CatalogCache:
    """The catalog that was loaded last, for each root and caller."""

    def __init__(self) -> None:
        """Start without any."""
        self._lock = threading.Lock()
        self._known: dict[tuple[Path, Access], _Cached] = {}

    def get(self, workspace: Workspace) -> _Cached:
        """Return the catalog of the files as they are now."""
        tree, key = workspace.tree, (workspace.location.root, workspace.access)
        with self._lock:
            before = self._known.get(key)
        # The files are listed before they are loaded: a change meanwhile is found at the next call.
        files = tree.files()
        digests = tree.digests([file for file in files if file.kind is FileKind.FILE])
        if before is not None and (before.files, before.digests) == (files, digests):
            return before
        # Documents that were parsed on the way are parsed again where they are shown.
        cached = _Cached(files, digests, replace(load(tree, workspace.entry_cache), _documents={}))
        with self._lock:
            self._known.pop(key, None)
            while len(self._known) >= _CALLERS:
                self._known.pop(next(iter(self._known)))
            self._known[key] = cached
        return cached


class ServedWorkspace(Workspace, frozen=True, eq=False, dict=True):
    """A workspace of a server; replaced, it shares what was loaded."""

    recent: CatalogCache = field(default_factory=CatalogCache)

    def once(self, make: Make[_Made]) -> _Made:
        """Return a function's result, cached while neither the files nor the refs change."""
        if self._is_plain and make not in self._made:
            known, repository = self._cached.made, self.location.repository
            # Taken before the value is made, so that it is never too new.
            stamp = stamp_of(repository) if repository is not None else None
            if make not in known or known[make][0] != stamp:
                known[make] = (stamp, make(self))
            self._made[make] = known[make][1].over(self)
        return super().once(make)

    @cached_property
    def _cached(self) -> _Cached:
        return self.recent.get(self)

    def _loaded(self) -> Catalog:
        """Return the entries, those of an earlier call where nothing changed."""
        return self._cached.catalog.over(self.tree) if self._is_plain else load(self.tree, self.entry_cache)

    @property
    def _is_plain(self) -> bool:
        """Return whether these are the unchanged files on disk, and nothing is cached for them yet."""
        tree = self.given_tree
        is_disk = tree is None or isinstance(tree, TimedTree)
        return is_disk and self.given_catalog is None and self.snapshot.is_working_tree


class Provider:
    """Give each call its own workspace; all share the open index and the parsed files."""

    def __init__(
        self, root: str | None, *, environment: Mapping[str, str], cwd: Path, today: Callable[[], date]
    ) -> None:
        """Store the arguments that locate the memory; nothing is read yet."""
        self._root, self._environment, self.cwd, self.today = root, environment, cwd, today
        self._lock = threading.Lock()
        self._first: Workspace | None = None
        self._found: Location | None = None
        self._parsed: tuple[bytes, Settings] | None = None

    @property
    def is_named(self) -> bool:
        """Return whether the user gave the root: then no other is searched for."""
        return self._root is not None or bool(self._environment.get("MDMEM_ROOT"))

    def workspace(self, access: Access = EVERYTHING) -> Workspace:
        """Return a workspace that has read nothing yet; raises RootNotFoundError and SeveralRootsError."""
        first = self._opened()
        if not first.location.root.is_dir():
            # An empty answer would say that nothing binds.
            raise RootNotFoundError("the memory's folder is gone since the server was started")
        return replace(first.reread(), today=self.today(), access=access)

    def settings(self) -> Settings:
        """Return the settings as they are now, as far as they can be read, from their own file alone.

        Raises the errors of `workspace`, and OSError.
        """
        try:
            content = read_regular(self._location().root / SETTINGS_NAME)
        except FileNotFoundError:
            content = b""
        if self._parsed is None or self._parsed[0] != content:
            self._parsed = (content, readable_settings(content))
        return self._parsed[1]

    def profile(self) -> Profile:
        """Return which tools are listed by the settings as they are now."""
        try:
            return self.settings().profile
        except (MdmemError, OSError):
            return Profile.CORE

    def builder(self, progress: Progress) -> Workspace:
        """Return a workspace with a separate index to build in the background while calls use the old one."""
        return replace(self._opened(), today=self.today(), progress=progress, opened=[])

    def _opened(self) -> Workspace:
        with self._lock:
            location = self._location()
            if self._first is None or self._first.location != location:
                environment, today = self._environment, self.today()
                self._first = ServedWorkspace(location=location, environment=environment, cwd=self.cwd, today=today)
                # Opened here, or two threads would each open one of their own.
                _ = self._first.index
            return self._first

    def _location(self) -> Location:
        """Return the location of the memory; it is searched again only after git refused to answer."""
        if self._found is None or self._found.git_fault:
            self._found = locate(self._root, self._environment, self.cwd)
        return self._found
