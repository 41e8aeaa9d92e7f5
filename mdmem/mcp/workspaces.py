"""Provide the workspaces of calls for one root, which is opened at the first call.

The parsed entries (the catalog) are cached until a file changes. Values computed from them are cached until a file or a
git ref changes.
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
from mdmem.store.git.process import stamp_of
from mdmem.store.index import Progress
from mdmem.store.settings import Settings, readable_settings
from mdmem.store.tree import FileKind, TimedTree, TreeFile
from mdmem.store.workspace.location import Location, locate
from mdmem.store.workspace.workspace import Workspace

# The most callers whose catalogs are cached.
_CALLERS = 8

_Made = TypeVar("_Made")
Make = Callable[[Workspace], _Made]


class _Cached(Struct):
    """A catalog with its files; `made` has for each function its result, and the state of git's refs then."""

    files: tuple[TreeFile, ...]
    digests: Mapping[str, str]
    catalog: Catalog
    made: dict[Any, tuple[object, Any]] = field(default_factory=dict)


class CatalogCache(Struct):
    """A cache of the last loaded catalog for each root and caller."""

    _lock: Any = field(default_factory=threading.Lock)
    _known: dict[tuple[Path, Access], _Cached] = field(default_factory=dict)

    def get(self, workspace: Workspace) -> _Cached:
        """Return the catalog of the current files and values computed from it. Both are kept until a file changes."""
        tree, key = workspace.tree, (workspace.location.root, workspace.access)
        with self._lock:
            before = self._known.get(key)
        # The files are listed before they are loaded, so that the next call notices a change in between.
        files = tree.files()
        digests = tree.digests([file for file in files if file.kind is FileKind.FILE])
        if before is not None and (before.files, before.digests) == (files, digests):
            return before
        # Parsed documents are not cached. They are parsed again when an entry is shown.
        cached = _Cached(files, digests, replace(load(tree, workspace.entry_cache), _documents={}))
        with self._lock:
            self._known.pop(key, None)
            while len(self._known) >= _CALLERS:
                self._known.pop(next(iter(self._known)))
            self._known[key] = cached
        return cached


class ServedWorkspace(Workspace, frozen=True, eq=False, dict=True):
    """The workspace of a call to a server; copies made with `replace` share the cache of catalogs, `recent`."""

    recent: CatalogCache = field(default_factory=CatalogCache)

    def once(self, make: Make[_Made]) -> _Made:
        """Return the result of a function, which is cached until a file or a git ref changes.

        The result needs a method `over`, which gives a copy of it for another workspace with the same files.
        """
        if self._is_plain and make not in self._made:
            # The stamp is taken before the value is computed, so that a change in between is noticed.
            known, stamp = self._cached.made, stamp_of(self.location.repository)
            if make not in known or known[make][0] != stamp:
                known[make] = (stamp, make(self))
            self._made[make] = known[make][1].over(self)
        return super().once(make)

    @cached_property
    def _cached(self) -> _Cached:
        return self.recent.get(self)

    def _loaded(self) -> Catalog:
        """Return the catalog, from the cache if no file changed."""
        return self._cached.catalog.over(self.tree) if self._is_plain else load(self.tree, self.entry_cache)

    @property
    def _is_plain(self) -> bool:
        """Return whether the cache applies: the workspace reads the working tree, and no catalog was given to it."""
        tree = self.given_tree
        is_disk = tree is None or isinstance(tree, TimedTree)
        return is_disk and self.given_catalog is None and self.snapshot.is_working_tree


class Provider:
    """Creates a workspace for each call; all workspaces share the open index and the cached catalogs."""

    def __init__(
        self, root: str | None, *, environment: Mapping[str, str], cwd: Path, today: Callable[[], date]
    ) -> None:
        """Store the arguments that locate the memory; nothing is read yet."""
        self._root, self._environment, self.cwd, self.today = root, environment, cwd, today
        self._lock = threading.Lock()
        self._first: Workspace | None = None
        self._found: Location | None = None
        # Whether an option or a variable states the root, so that it is not searched for.
        self.is_named = root is not None or bool(environment.get("MDMEM_ROOT"))

    def workspace(self, access: Access = EVERYTHING) -> Workspace:
        """Return a new workspace that has read no file yet.

        Raises RootNotFoundError if there is no memory, and SeveralRootsError if there are several.
        """
        first = self._opened()
        if not first.location.root.is_dir():
            # Without this error, the answer would be empty, as if there were no rules.
            raise RootNotFoundError(
                "the memory's folder was deleted after the server started; restore it, or restart the server"
            )
        return replace(first.reread(), today=self.today(), access=access)

    def settings(self) -> Settings:
        """Return the current settings, read only from their file, with defaults for what cannot be read."""
        try:
            return readable_settings(read_regular(self._location().root / SETTINGS_NAME))
        except (MdmemError, OSError):
            return Settings()

    def builder(self, progress: Progress) -> Workspace:
        """Return a workspace with a separate index to build in the background while calls use the old one."""
        return replace(self._opened(), today=self.today(), progress=progress, opened=[])

    def _opened(self) -> Workspace:
        with self._lock:
            location = self._location()
            if self._first is None or self._first.location != location:
                environment, today = self._environment, self.today()
                self._first = ServedWorkspace(location=location, environment=environment, cwd=self.cwd, today=today)
                # The index is opened here, so that threads share it.
                _ = self._first.index
            return self._first

    def _location(self) -> Location:
        """Return the location of the memory; it is searched again only if git failed the last time."""
        if self._found is None or self._found.git_fault:
            self._found = locate(self._root, self._environment, self.cwd)
        return self._found
