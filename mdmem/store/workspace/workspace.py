"""A root opened for one command: its tree, settings, catalog and index."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import date
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from mdmem import SETTINGS_NAME
from mdmem.errors import GitError, MdmemError, SettingsError, UsageError
from mdmem.markdown.text import content_of
from mdmem.model.access import EVERYTHING, Access
from mdmem.model.entry import Entry, Searched
from mdmem.model.fields import searched_as
from mdmem.model.finding import Place
from mdmem.store.catalog.load import find_remote_wing, load, settings_bytes, with_remote_wings
from mdmem.store.catalog.model import Catalog
from mdmem.store.catalog.redaction import visible_settings
from mdmem.store.catalog.snapshot import EntryCache
from mdmem.store.git.merge import merge
from mdmem.store.git.process import resolve, staged_index
from mdmem.store.git.status import list_tracked
from mdmem.store.index.records import IndexBusyError, IndexDocument, IndexWriteError, Progress, TextAnswer
from mdmem.store.settings import Settings, parse_settings
from mdmem.store.state.files import Places, places
from mdmem.store.tree import FileKind, GitTree, Tree, TreeFile, TreeView, Unreadable, WorkingTree, narrowed, read_one
from mdmem.store.workspace.location import Location, Snapshot, snapshot_at
from mdmem.store.workspace.scope import find_wing

if TYPE_CHECKING:
    from mdmem.store.git.merge import MergeResult, PathConflict
    from mdmem.store.index.fulltext import FullTextIndex


_Made = TypeVar("_Made")
# Files whose lines are cached while findings are printed.
_SHOWN_FILES = 16


# Not an `Exception`: the index takes any of those for damage, and would be rebuilt.
class OverdueError(BaseException):
    """The time for an answer is over."""


Clock = Callable[[], float]


class TimedTree(TreeView, kw_only=True):
    """A tree that raises OverdueError when it is read after a moment of a clock."""

    until: float
    clock: Clock

    def files(self) -> tuple[TreeFile, ...]:
        """Return everything below the root."""
        return self._in_time(self.below.files())

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | Unreadable]]:
        """Yield each path with its bytes."""
        return map(self._in_time, self.below.read(paths))

    def digests(self, files: Sequence[TreeFile]) -> dict[str, str]:
        """Return the digest of each file that can be read, by path."""
        return self._in_time(self.below.digests(files))

    def _in_time(self, result: _Made) -> _Made:
        if self.clock() > self.until:
            raise OverdueError
        return result


def document_of(entry: Entry, body: str, digest: str) -> IndexDocument:
    """Return the document of an entry, whose body may be left out."""

    def texts_of(value: str | date | tuple[str, ...] | None) -> tuple[str, ...]:
        if value is None or isinstance(value, tuple):
            return value or ()
        return (value.isoformat() if isinstance(value, date) else str(value),)

    stated = {name: texts_of(getattr(entry, name)) for name in searched_as(*Searched)}
    return IndexDocument(entry.address, digest, content_of(entry, body), entry.wing, entry.room, stated)


class Workspace(Struct, frozen=True, eq=False, dict=True):
    """One root at one snapshot, on one day and for one caller; each part is made when it is first needed.

    No part has anything that the caller's access hides. `index_source` is the workspace whose files the index is
    updated from, if it is not this one. `is_timed` says that answers have a time limit. `given_tree` and
    `given_catalog` take the place of those that it would make itself, and `opened` has the index once it was needed;
    workspaces of the same root share it.
    """

    location: Location
    environment: Mapping[str, str]
    cwd: Path
    today: date
    snapshot: Snapshot = field(default_factory=Snapshot)
    progress: Progress | None = None
    access: Access = EVERYTHING
    cache: EntryCache = field(default_factory=EntryCache)
    index_source: Workspace | None = None
    is_timed: bool = False
    given_tree: Tree | None = None
    given_catalog: Catalog | None = None
    opened: list[FullTextIndex] = field(default_factory=list)

    def at(self, snapshot: Snapshot) -> Self:
        """Return the same root at another snapshot; the cache of parsed files is shared."""
        return replace(self.reread(), snapshot=snapshot, opened=[])

    def as_of(self, name: str | None) -> Self:
        """Return the same root at a revision, or at a date and judged on that day; itself for None.

        Raises UnknownRevisionError, UsageError and GitError.
        """
        if name is None:
            return self
        snapshot, day = snapshot_at(self.location, name, today=self.today)
        return replace(self.at(snapshot), today=day)

    def reread(self) -> Self:
        """Return the same root with its files as they are now; the index stays open."""
        return replace(self, given_tree=None, given_catalog=None)

    def over(self, tree: Tree) -> Self:
        """Return the same root with the files of another tree."""
        return replace(self, given_tree=tree, given_catalog=None)

    def with_catalog(self, catalog: Catalog) -> Self:
        """Return the same files with another catalog."""
        return replace(self, given_tree=self.whole_tree, given_catalog=catalog)

    def with_index(self, index: FullTextIndex) -> Self:
        """Return the same root with an open full-text index."""
        return replace(self, opened=[index])

    def unlimited(self) -> Self:
        """Return the same root with full access, for work whose result is not shown."""
        return replace(self.reread(), access=EVERYTHING) if self.access.is_narrow else self

    def within(self, seconds: float, *, clock: Clock) -> Self:
        """Return the same files with a time limit in seconds; reading after it raises OverdueError."""
        return replace(self.over(TimedTree(self.whole_tree, until=clock() + seconds, clock=clock)), is_timed=True)

    def once(self, make: Callable[[Workspace], _Made]) -> _Made:
        """Return a function's result for this workspace, which is computed once."""
        if make not in self._made:
            self._made[make] = make(self)
        made: _Made = self._made[make]
        return made

    @cached_property
    def _made(self) -> dict[Callable[[Workspace], Any], Any]:
        return {}

    @cached_property
    def tree(self) -> Tree:
        """Return the visible files of the snapshot; raises the errors of `whole_tree`."""
        given = self.given_catalog
        return narrowed(self.whole_tree, self.access) if given is None else given.tree

    @cached_property
    def whole_tree(self) -> Tree:
        """Return the files of the snapshot, and the wings that its own settings name in other repositories.

        Raises GitError without git, and UnknownRevisionError.
        """
        if self.given_tree is not None:
            return self.given_tree
        location = self.location
        if not self.snapshot.is_working_tree:
            return self._joined(self._git_tree())
        is_top = location.repository is not None and location.under == ""
        return self._joined(WorkingTree(location.root, is_top, self.entry_cache, repository=location.repository))

    def _joined(self, tree: Tree) -> Tree:
        root = self.location.root
        return with_remote_wings(tree, lambda name, stated: find_remote_wing(self.cache_folder, root, name, stated))

    @property
    def entry_cache(self) -> EntryCache:
        """Return the cache of the loaded entries of this worktree."""
        return self.cache.bind(self._places.index / "snapshot")

    def _git_tree(self) -> GitTree:
        repository, under, snapshot = self.location.get_repository(), self.location.under, self.snapshot
        if snapshot.merge_into is not None:
            merged = self.merged
            change, into = _named(snapshot.revision or "HEAD", merged.commit), _named(snapshot.merge_into, merged.into)
            return GitTree(merged.repository, under, merged.tree, f"merge of {change} into {into}")
        if snapshot.revision is None:
            return GitTree(repository, under, None, "git index", staged_index(repository, self.environment, self.cwd))
        commit = resolve(repository, snapshot.revision)
        return GitTree(repository, under, commit, _named(snapshot.name or snapshot.revision, commit))

    @cached_property
    def merged(self) -> MergeResult:
        """Return the merge of the snapshot; raises UsageError if it is none, and the errors of `git.merge.merge`."""
        if self.snapshot.merge_into is None:
            raise UsageError(f"{self.tree.name} is not a merge; name what to merge into")
        return merge(self.location.get_repository(), self.snapshot.merge_into, self.snapshot.revision or "HEAD")

    @cached_property
    def sides(self) -> tuple[Self, Self, Self]:
        """Return the change, the commit that it is merged into, and their common ancestor."""
        merged = self.merged
        ours, theirs = self.snapshot.revision or "HEAD", self.snapshot.merge_into or ""
        return self._side(ours, merged.commit), self._side(theirs, merged.into), self._side("", merged.ancestor)

    def _side(self, name: str, commit: str) -> Self:
        """Return the root at a commit; the name may mean another one by now."""
        shown = _named(name, commit) if name else f"the merge base {commit[:10]}"
        tree = self._joined(GitTree(self.location.get_repository(), self.location.under, commit, shown))
        return self.at(Snapshot(revision=commit)).over(tree)

    @cached_property
    def conflicts(self) -> tuple[PathConflict, ...]:
        """Return the conflicts below the root, by path from the root, in files that are read."""
        prefix, found = self.location.prefix, []
        below = (one for one in self.merged.conflicts if one.path.startswith(prefix))
        for one in (replace(one, path=one.path.removeprefix(prefix)) for one in below):
            is_hidden = any(part.startswith(".") for part in one.path.split("/"))
            # At a repository's top only the wings of any side are part of the memory.
            is_read = bool(prefix) or any(
                file.path.split("/")[0] == one.path.split("/")[0]
                for workspace in (self, *self.sides)
                for file in workspace.tree.files()
            )
            if is_read and not is_hidden and self.access.sees(one.path):
                found.append(one)
        return tuple(found)

    @cached_property
    def commits(self) -> tuple[str, ...]:
        """Return the commits from which to read the history of the files; empty means HEAD."""
        if self.snapshot.merge_into is not None:
            return (self.merged.commit, self.merged.into)
        revision = self.snapshot.revision
        return (resolve(self.location.get_repository(), revision),) if revision is not None else ()

    @cached_property
    def settings(self) -> Settings:
        """Return the settings of the tree that is read; raises SettingsError."""
        if not self.access.is_narrow:
            return self._stated_settings()

        def is_known(name: str) -> bool:
            return find_wing(name, self.catalog.wings) is not None

        return visible_settings(self._stated_settings, self.access, is_known)

    def _stated_settings(self) -> Settings:
        content = settings_bytes(self.tree)
        if isinstance(content, Unreadable):
            raise SettingsError(f"{SETTINGS_NAME} cannot be read: {content.reason.lower()}")
        return parse_settings(content)

    @cached_property
    def catalog(self) -> Catalog:
        """Return the entries, through the cache of parsed files."""
        return self._loaded() if self.given_catalog is None else self.given_catalog

    def _loaded(self) -> Catalog:
        """Load the entries; servers and the hub override this."""
        return load(self.tree, self.entry_cache)

    @property
    def index(self) -> FullTextIndex:
        """Return the full-text index, which only questions about the working tree write."""
        if not self.opened:
            from mdmem.store.index.fulltext import FOLDER, FullTextIndex

            persist = self.snapshot.is_working_tree
            self.opened.append(FullTextIndex(self._places.index / FOLDER, persist=persist, progress=self.progress))
        return self.opened[0]

    @cached_property
    def _places(self) -> Places:
        return places(self.location.root, self.location.repository, self.environment)

    def tracked_files(self) -> frozenset[str]:
        """Return the files that git tracks, from the repository's top; none if git cannot tell."""
        if self.location.repository is None:
            return frozenset()
        with contextlib.suppress(GitError):
            return list_tracked(self.location.repository)
        return frozenset()

    @property
    def state_folder(self) -> Path:
        """Return the folder of the local state: the lock of the writers, pending writes, times."""
        return self._places.state

    @property
    def cache_folder(self) -> Path:
        """Return the cache folder that worktrees share."""
        return self._places.shared

    @cached_property
    def whole_catalog(self) -> Catalog:
        """Return the entries with links that the caller may not follow, for the checks."""
        return load(self.tree) if self.access.is_narrow else self.catalog

    def find_text(self, words: str, among: Collection[str], *, syntax: bool = False) -> TextAnswer:
        """Search the index for words.

        All callers share the index, so it is only updated from all files as they are.
        """
        index, is_part = self.index, self.access.is_narrow or self.index_source is not None
        if is_part and index.is_behind(live=self.catalog.digests):
            whole = (self.index_source or self).unlimited()
            # If that fails, the visible files are read.
            with contextlib.suppress(IndexBusyError, IndexWriteError):
                index.refresh(live=whole.catalog.digests, read=whole.texts, progress=self.progress)
        return index.search(
            words,
            live=self.catalog.digests,
            read=self.texts,
            among=None if among is self.catalog.everything else among,
            syntax=syntax,
            may_refresh=not is_part,
            read_titles=self.titles,
            is_timed=self.is_timed,
        )

    def find_containing(self, texts: Collection[str]) -> list[str]:
        """Return the entries that contain all words of any of some texts, best first."""
        return self.index.find_containing(texts, live=self.catalog.digests, read=self.texts)

    def titles(self, addresses: Sequence[str]) -> Iterator[IndexDocument]:
        """Yield the documents of entries without their bodies, which are not read."""
        return (document_of(self.catalog.entries[one], "", self.catalog.digests[one]) for one in addresses)

    def texts(self, addresses: Sequence[str]) -> Iterator[IndexDocument]:
        """Yield the documents of entries; one whose file is gone by now is left out."""
        entries = self.catalog.entries
        return (document_of(entries[address], body, digest) for address, body, digest in self.catalog.bodies(addresses))

    @cached_property
    def _plain_files(self) -> frozenset[str]:
        """The files that can be opened: opening a pipe would wait for ever."""
        return frozenset(file.path for file in self.tree.files() if file.kind is FileKind.FILE)

    def bytes_of(self, path: str) -> bytes | None:
        """Return the content of a file of the tree, or None if it cannot be read.

        The settings are about every wing, so that callers who may not see them all do not get their text.
        """
        if path == SETTINGS_NAME and self.access.is_narrow:
            return None
        try:
            content = read_one(self.tree, path) if path in self._plain_files else None
        except MdmemError:
            return None
        return None if isinstance(content, Unreadable) else content

    def line_of(self, place: Place) -> str | None:
        """Return the line of a place, or None if the file cannot be read as text."""
        lines = self._lines_of(place.path)
        line = lines[place.line - 1] if place.line <= len(lines) else None
        return None if line is not None and self.catalog.names_hidden(line, place.path) else line

    @cached_property
    def _lines_of(self) -> Callable[[str], list[str]]:
        """A function from a path to its lines, none where it cannot be read; findings come by file."""

        @lru_cache(_SHOWN_FILES)
        def read(path: str) -> list[str]:
            content = self.bytes_of(path) or b""
            return content.decode("utf-8", "replace").removeprefix("\ufeff").splitlines()

        return read


def _named(name: str, commit: str) -> str:
    return commit[:10] if name == commit else f"{name} ({commit[:10]})"
