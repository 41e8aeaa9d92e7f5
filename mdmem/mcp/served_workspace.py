"""The workspace of a server: what was made of the files once is kept as long as neither they nor the refs changed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

from mdmem.access import Access
from mdmem.catalog import Catalog, load_cached
from mdmem.errors import MdmemError
from mdmem.git import Repository
from mdmem.git.default_branch import find_default_branch
from mdmem.git.stamp import stamp_of
from mdmem.tree import FileKind, Tree, TreeFile
from mdmem.workspace.deadline import TimedTree
from mdmem.workspace.workspace import Workspace

# So many callers' views are kept.
_VIEWS = 8


class Laid(Protocol):
    """What is made of a workspace, and can be laid over another one of the same files."""

    def over(self, workspace: Workspace) -> Self:
        """Return the same, as another workspace reads it."""
        ...


_Made = TypeVar("_Made")
Make = Callable[[Workspace], _Made]


@dataclass(frozen=True, slots=True)
class _Seen:
    """What the files were when a catalog was loaded from them; looked at before that, so that it is never too new."""

    files: tuple[TreeFile, ...]
    digests: Mapping[str, str]

    @classmethod
    def of(cls, tree: Tree) -> _Seen:
        files = tree.files()
        return cls(files, tree.digests([file for file in files if file.kind is FileKind.FILE]))


@dataclass(slots=True)
class _Kept:
    """A catalog of files as they were seen, and what was made of it while the repository was as it is noted with it."""

    seen: _Seen
    catalog: Catalog
    made: dict[Make[Any], tuple[object, Laid]] = field(default_factory=dict)


class KeptViews:
    """The catalog that was loaded last, for each root and each view that a caller may have of its files."""

    def __init__(self) -> None:
        """Start without any."""
        self._turn = threading.Lock()
        self._known: dict[tuple[Path, Access], _Kept] = {}

    def of(self, workspace: Workspace) -> _Kept:
        """Return what is kept of the files as they are now."""
        # A caller's own memory is read beside the team's.
        tree, view = workspace.tree, (workspace.location.root, workspace.access)
        seen = _Seen.of(tree)
        with self._turn:
            before = self._known.get(view)
        if before is not None and before.seen == seen:
            return before
        loaded = load_cached(tree, workspace.cache_folder, parsed=workspace.parsed)
        # What was parsed on the way is read again by whoever shows it.
        kept = _Kept(seen, replace(loaded, _documents={}))
        with self._turn:
            self._known.pop(view, None)
            while len(self._known) >= _VIEWS:
                self._known.pop(next(iter(self._known)))
            self._known[view] = kept
        return kept


@dataclass(frozen=True)
class ServedWorkspace(Workspace):
    """A workspace of a server; replaced, it shares what was loaded."""

    recent: KeptViews = field(default_factory=KeptViews, repr=False, compare=False)

    def once(self, make: Make[_Made]) -> _Made:
        """Return what a function makes of the files, that of a call before where all that it is made of is the same."""
        if self._is_plain and make not in self._made:
            self._made[make] = self._made_before(make)
        return super().once(make)

    def _made_before(self, make: Make[Any]) -> Laid:
        kept, state = self._kept, _state_of(self.location.repository)
        before = kept.made.get(make)
        if before is not None and before[0] == state:
            return before[1].over(self)
        made: Laid = make(self)
        kept.made[make] = (state, made)
        return made

    @cached_property
    def _kept(self) -> _Kept:
        return self.recent.of(self)

    def _loaded(self) -> Catalog:
        """Return the entries, those of a call before where nothing changed."""
        if not self._is_plain:
            return load_cached(self.tree, self.cache_folder, parsed=self.parsed)
        return self._kept.catalog.over(self.tree)

    @property
    def _is_plain(self) -> bool:
        """Say whether these are the files on disk as they are, and nothing is known of them yet."""
        tree = self.parts.tree
        is_disk = tree is None or isinstance(tree, TimedTree)
        return is_disk and self.parts.catalog is None and self.snapshot.is_working_tree


def _state_of(repository: Repository | None) -> object:
    """Return what is another value once what is agreed upon, or what is checked out, changed; looked at before use."""
    if repository is None:
        return None
    try:
        return stamp_of(repository), find_default_branch(repository)
    except MdmemError:
        # Equal to nothing: what cannot be told is asked again.
        return object()
