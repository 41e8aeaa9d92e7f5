"""Where a call gets its workspace: one root, opened at the first call.

The workspace of a server: what was made of the files once is kept as long as neither they nor the refs changed.
"""

from __future__ import annotations

import gc
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
from mdmem.errors import MdmemError, RootNotFoundError, SettingsError
from mdmem.model.access import EVERYTHING, Access
from mdmem.store.catalog import Catalog, load_cached
from mdmem.store.git.discovery import Stamp, stamp_of
from mdmem.store.index.protocol import Progress
from mdmem.store.settings import Settings, parse_settings
from mdmem.store.settings.model import Profile
from mdmem.store.tree import FileKind, Tree, TreeFile
from mdmem.store.workspace.deadline import TimedTree
from mdmem.store.workspace.location import Location, locate
from mdmem.store.workspace.workspace import Parts, Workspace

# So many callers' views are kept.
_VIEWS = 8
# To take so many entries out of what is looked through for garbage costs less than to look through them again.
_MANY = 2_000


_Made = TypeVar("_Made")
Make = Callable[[Workspace], _Made]


class _Seen(Struct, frozen=True):
    """What the files were when a catalog was loaded from them; looked at before that, so that it is never too new."""

    files: tuple[TreeFile, ...]
    readable: tuple[TreeFile, ...]
    digests: Mapping[str, str]

    @classmethod
    def of(cls, tree: Tree, before: _Seen | None) -> _Seen:
        files = tree.files()
        # Of files that are listed as before no list is made anew: a tree knows by it what it is asked for.
        if before is not None and before.files == files:
            return cls(files, before.readable, tree.digests(before.readable))
        readable = tuple(file for file in files if file.kind is FileKind.FILE)
        return cls(files, readable, tree.digests(readable))


class _Kept(Struct):
    """A catalog of files as they were seen, and what was made of it while the repository was as it is noted with it."""

    seen: _Seen
    catalog: Catalog
    made: dict[Make[Any], tuple[Stamp | None, Any]] = field(default_factory=dict)


class KeptViews:
    """The catalog that was loaded last, for each root and each view that a caller may have of its files."""

    def __init__(self) -> None:
        """Start without any; `tracked` are the files that git tracks, by root."""
        self._turn = threading.Lock()
        self.tracked: dict[Path, tuple[Stamp | None, frozenset[str]]] = {}
        self._known: dict[tuple[Path, Access], _Kept] = {}

    def of(self, workspace: Workspace) -> _Kept:
        """Return what is kept of the files as they are now."""
        # A caller's own memory is read beside the team's.
        tree, view = workspace.tree, (workspace.location.root, workspace.access)
        with self._turn:
            before = self._known.get(view)
        seen = _Seen.of(tree, before.seen if before is not None else None)
        if before is not None and before.seen == seen:
            return before
        loaded = load_cached(tree, workspace.entry_cache)
        # What was parsed on the way is read again by whoever shows it.
        kept = _Kept(seen, replace(loaded, _documents={}))
        if before is None and len(loaded.entries) > _MANY:
            # What stays as long as the files do is not walked through with each question's thousands of matches.
            gc.unfreeze()
            gc.collect()
            gc.freeze()
        with self._turn:
            self._known.pop(view, None)
            while len(self._known) >= _VIEWS:
                self._known.pop(next(iter(self._known)))
            self._known[view] = kept
        return kept


class ServedWorkspace(Workspace, frozen=True, eq=False, dict=True):
    """A workspace of a server; replaced, it shares what was loaded."""

    recent: KeptViews = field(default_factory=KeptViews)

    def once(self, make: Make[_Made]) -> _Made:
        """Return what a function makes of the files, that of a call before where all that it is made of is the same."""
        if self._is_plain and make not in self._made:
            self._made[make] = self._while_still(self._kept.made, make, make).over(self)
        return super().once(make)

    def tracked_files(self) -> frozenset[str]:
        """Return the files that git tracks, those of a call before where git's index is the same."""
        tracked = super().tracked_files
        found: frozenset[str] = self._while_still(self.recent.tracked, self.location.root, lambda _: tracked())
        return found

    def _while_still(self, known: dict[Any, tuple[Stamp | None, Any]], key: object, make: Make[Any]) -> Any:
        """Return what is known under a key as long as the repository is the same, else what a function makes."""
        repository = self.location.repository
        # Looked at before, so that it is never too new.
        stamp = stamp_of(repository) if repository is not None else ()
        before = known.get(key)
        if stamp is None or before is None or before[0] != stamp:
            before = known[key] = (stamp, make(self))
        return before[1]

    @cached_property
    def _kept(self) -> _Kept:
        return self.recent.of(self)

    def _loaded(self) -> Catalog:
        """Return the entries, those of a call before where nothing changed."""
        if not self._is_plain:
            return load_cached(self.tree, self.entry_cache)
        return self._kept.catalog.over(self.tree)

    @property
    def _is_plain(self) -> bool:
        """Say whether these are the files on disk as they are, and nothing is known of them yet."""
        tree = self.parts.tree
        is_disk = tree is None or isinstance(tree, TimedTree)
        return is_disk and self.parts.catalog is None and self.snapshot.is_working_tree


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
