"""The workspace: a root opened for one command or request, with its files, settings, entries, index and records."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from mdmem import SETTINGS_NAME
from mdmem.errors import GitError, MdmemError, SettingsError, UsageError
from mdmem.markdown.body import content_of
from mdmem.model.access import EVERYTHING, Access
from mdmem.model.entry import Entry, Searched, day_of
from mdmem.model.fields import origin_in, searched_as
from mdmem.model.finding import Place
from mdmem.store.catalog.load import NAME, EntryCache, find_remote_wing, load, with_remote_wings
from mdmem.store.catalog.model import Catalog
from mdmem.store.git.history import MergeResult, PathConflict, is_shallow, merge
from mdmem.store.git.process import UNSHALLOW, UnknownRevisionError, find_default_branch, resolve, with_hook_index
from mdmem.store.git.status import list_first_parents, list_tracked
from mdmem.store.index import Corpus, IndexBusyError, IndexDocument, IndexWriteError, Progress, TextAnswer
from mdmem.store.settings import Settings, parse_settings
from mdmem.store.state.files import StateFolders, state_folders
from mdmem.store.state.local_records import Tally, read_times, record_shown, tally_shown
from mdmem.store.tree import GitTree, TimedTree, Tree, Unreadable, WorkingTree, read_file, restrict, settings_bytes
from mdmem.store.workspace.location import Location, Snapshot
from mdmem.store.workspace.scope import find_wing

if TYPE_CHECKING:
    from mdmem.store.index.fulltext import FullTextIndex


_Made = TypeVar("_Made")
# Dates need hyphens, because eight digits alone may be an abbreviated commit.
_DAY = re.compile(r"\d{4}-\d\d-\d\d([T ].*)?")
_WING_TABLE = re.compile(r"\bwings\.([\w-]+)")
# The number of files whose lines are cached while findings are printed.
_SHOWN_FILES = 16


def document_of(entry: Entry, body: str, digest: str) -> IndexDocument:
    """Return the document that the index stores for an entry; `body` may be empty if only the fields are needed."""

    def texts_of(value: str | date | tuple[str, ...] | None) -> tuple[str, ...]:
        if value is None or isinstance(value, tuple):
            return value or ()
        return (value.isoformat() if isinstance(value, date) else str(value),)

    stated = {name: texts_of(getattr(entry, name)) for name in searched_as(*Searched)}
    return IndexDocument(entry.address, digest, content_of(entry, body), stated)


class Workspace(Struct, frozen=True, eq=False, dict=True):
    """One root at one snapshot, on one day and for one caller; each part is loaded when it is first needed.

    Nothing that the caller's access hides is in any part. `index_source` is another workspace whose files update the
    index. `is_timed` says that answers have a time limit. `given_tree` and `given_catalog` replace those that would be
    loaded. `opened` has the index after its first use; workspaces of the same root share it.
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
        """Return a workspace for the same root at another snapshot, with the same cache of parsed files."""
        return replace(self.reread(), snapshot=snapshot, opened=[])

    def as_of(self, name: str | None) -> Self:
        """Return the workspace at a revision, or on a date that then counts as today; None means no change.

        A branch or tag comes before a date. A date means the last commit until its end in UTC on the first-parent
        history of the default branch. Raises UnknownRevisionError, UsageError (no such day or commit) and GitError.
        """
        if name is None:
            return self
        repository, is_date = self.location.get_repository(), _DAY.fullmatch(name) is not None
        try:
            remarks = (f"`{name}` is a branch or tag here, so it is not read as a date",) if is_date else ()
            return self.at(Snapshot(resolve(repository, name), name=name, remarks=remarks))
        except UnknownRevisionError:
            if not is_date:
                raise
        try:
            day = date.fromisoformat(name)
        except ValueError as error:
            raise UsageError(f"`{name}` is not a date; write a day as 2026-01-31") from error
        branch = find_default_branch(repository)
        if branch is None:
            why = "the default branch is unknown; `git config mdmem.defaultBranch NAME` sets it"
            raise GitError(f"cannot find the commit of {name}: {why}")
        line = list_first_parents(repository, branch.commit, until=day)
        if not line:
            since = list_first_parents(repository, branch.commit)[-1][1][: len("2026-01-31")]
            if is_shallow(repository):
                cut = f"the history of {branch.ref} is cut off before {name} and begins on {since}"
                raise GitError(f"{cut}; {UNSHALLOW}")
            raise UsageError(f"nothing was committed on {branch.ref} by {name}; its history begins on {since}")
        commit, when = line[0]
        remark = f"as of {name}: commit {commit[:10]} of {branch.ref}, from {when} UTC"
        return replace(self.at(Snapshot(commit, name=name, is_dated=True, remarks=(remark,))), today=day)

    def reread(self) -> Self:
        """Return a workspace for the same root with its files as they are now; the index stays open."""
        return replace(self, given_tree=None, given_catalog=None)

    def over(self, tree: Tree) -> Self:
        """Return a workspace for the same root and the files of another tree, from which entries are loaded again."""
        return replace(self, given_tree=tree, given_catalog=None)

    def with_catalog(self, catalog: Catalog) -> Self:
        """Return a workspace with the same root and files, but another catalog."""
        return replace(self, given_tree=self.whole_tree, given_catalog=catalog)

    def with_index(self, index: FullTextIndex) -> Self:
        """Return a workspace for the same root with an open full-text index."""
        return replace(self, opened=[index])

    def unlimited(self) -> Self:
        """Return a workspace with access to everything, for internal work whose result the caller never sees."""
        return replace(self.reread(), access=EVERYTHING) if self.access.is_narrow else self

    def within(self, seconds: float, *, clock: Callable[[], float]) -> Self:
        """Return a workspace with a time limit in seconds; reading a file after the limit raises DeadlineError."""
        return replace(self.over(TimedTree(self.whole_tree, until=clock() + seconds, clock=clock)), is_timed=True)

    def once(self, make: Callable[[Workspace], _Made]) -> _Made:
        """Return the result of `make` for this workspace, which is computed at the first call and then cached."""
        if make not in self._made:
            self._made[make] = make(self)
        made: _Made = self._made[make]
        return made

    @cached_property
    def _made(self) -> dict[Callable[[Workspace], Any], Any]:
        return {}

    @cached_property
    def tree(self) -> Tree:
        """Return the files of the snapshot that the caller may see; raises the errors of `whole_tree`."""
        given = self.given_catalog
        return restrict(self.whole_tree, self.access) if given is None else given.tree

    @cached_property
    def whole_tree(self) -> Tree:
        """Return all files, also of remote wings; raises UnknownRevisionError, or GitError if git fails."""
        if self.given_tree is not None:
            return self.given_tree
        location, snapshot, under = self.location, self.snapshot, self.location.under
        tree: Tree
        if snapshot.is_working_tree:
            is_top = location.repository is not None and under == ""
            return self._joined(WorkingTree(location.root, is_top, self.entry_cache, repository=location.repository))
        repository = location.get_repository()
        if snapshot.merge_into is not None:
            merged = self.merged
            change, into = _named(snapshot.revision or "HEAD", merged.commit), _named(snapshot.merge_into, merged.into)
            tree = GitTree(merged.repository, under, merged.tree, f"merge of {change} and {into}")
        elif snapshot.revision is None:
            tree = GitTree(with_hook_index(repository, self.environment, self.cwd), under, None, "git index")
        else:
            commit = resolve(repository, snapshot.revision)
            tree = GitTree(repository, under, commit, _named(snapshot.name or snapshot.revision, commit))
        return self._joined(tree)

    def _joined(self, tree: Tree) -> Tree:
        root = self.location.root
        return with_remote_wings(tree, lambda name, table: find_remote_wing(self.cache_folder, root, name, table))

    @property
    def entry_cache(self) -> EntryCache:
        """Return the cache of loaded entries of this worktree."""
        self.cache.path = self.cache.path or self._places.index / NAME
        return self.cache

    @cached_property
    def merged(self) -> MergeResult:
        """Return the merge of the snapshot; raises UsageError if the snapshot is no merge, and errors of `merge`."""
        if self.snapshot.merge_into is None:
            raise UsageError(f"{self.tree.name} is not a merge; give the commit to merge into")
        return merge(self.location.get_repository(), self.snapshot.merge_into, self.snapshot.revision or "HEAD")

    @cached_property
    def sides(self) -> tuple[Self, Self, Self]:
        """Return a workspace for the change, one for the commit that it is merged into, and one for the merge base."""
        merged = self.merged
        # Do not resolve the names again, since a branch may have moved since the merge.
        ours = self.at_commit(merged.commit, _named(self.snapshot.revision or "HEAD", merged.commit))
        theirs = self.at_commit(merged.into, _named(self.snapshot.merge_into or "", merged.into))
        return ours, theirs, self.at_commit(merged.ancestor, f"the merge base {merged.ancestor[:10]}")

    def at_commit(self, commit: str, name: str) -> Self:
        """Return a workspace for the same root at a commit, given by its full hash; `name` is for messages."""
        tree = self._joined(GitTree(self.location.get_repository(), self.location.under, commit, name))
        return self.at(Snapshot(revision=commit)).over(tree)

    @cached_property
    def conflicts(self) -> tuple[PathConflict, ...]:
        """Return the merge conflicts in files that belong to the memory, with paths relative to the root."""
        prefix = self.location.prefix
        below = [one for one in self.merged.conflicts if one.path.startswith(prefix)]
        found = []
        for one in below:
            moves = tuple(path.removeprefix(prefix) for path in one.moves)
            moves = moves if all(map(self.access.sees, moves)) else ()
            found.append(replace(one, path=one.path.removeprefix(prefix), moves=moves))
        if found and not prefix:
            # At the top of a repository, a folder belongs to the memory if it is a wing on any side.
            files = (file.path for workspace in (self, *self.sides) for file in workspace.tree.files())
            wings = {path.split("/")[0] for path in files}
            found = [one for one in found if one.path.split("/")[0] in wings]
        return tuple(one for one in found if "/." not in f"/{one.path}" and self.access.sees(one.path))

    @cached_property
    def commits(self) -> tuple[str, ...]:
        """Return the commits from which the history of files is read; an empty tuple means HEAD."""
        if self.snapshot.merge_into is not None:
            return (self.merged.commit, self.merged.into)
        revision = self.snapshot.revision
        return (resolve(self.location.get_repository(), revision),) if revision is not None else ()

    @cached_property
    def settings(self) -> Settings:
        """Return the settings of the snapshot, without those of hidden wings; raises SettingsError for invalid ones."""
        content = settings_bytes(self.tree)
        if isinstance(content, Unreadable):
            raise SettingsError(f"{SETTINGS_NAME} cannot be read: {content.reason.lower()}")
        try:
            return self._visible(parse_settings(content))
        except SettingsError as error:
            readable = error.readable
            if isinstance(readable, Settings):
                readable = self._visible(readable)
                # A mistake in a hidden wing's table is not reported.
                if any(not self.access.reads(name) for name in _WING_TABLE.findall(str(error))):
                    return readable
            raise SettingsError(str(error), readable=readable, line=error.line) from None

    def _visible(self, settings: Settings) -> Settings:
        if not self.access.is_narrow:
            return settings
        tables, default = settings.wings, settings.default_wing
        is_shown = default is not None and find_wing(default, self.catalog.wings) is not None
        shown = {name: one for name, one in tables.items() if self.access.reads(name)}
        return replace(settings, wings=shown, default_wing=default if is_shown else None)

    @cached_property
    def catalog(self) -> Catalog:
        """Return the catalog of the snapshot: its entries, wings and load errors."""
        return self._loaded() if self.given_catalog is None else self.given_catalog

    def _loaded(self) -> Catalog:
        """Load the catalog; servers and the hub override this method."""
        return load(self.tree, self.entry_cache)

    @property
    def index(self) -> FullTextIndex:
        """Return the full-text index; it is stored on disk only for the working tree."""
        if not self.opened:
            from mdmem.store.index.fulltext import FOLDER, FullTextIndex

            persist = self.snapshot.is_working_tree
            self.opened.append(FullTextIndex(self._places.index / FOLDER, persist=persist, progress=self.progress))
        return self.opened[0]

    @cached_property
    def _places(self) -> StateFolders:
        return state_folders(self.location.root, self.location.repository, self.environment)

    def tracked_files(self) -> frozenset[str]:
        """Return the paths that git tracks, relative to the top of the repository; empty if git fails or is missing."""
        if self.location.repository is None:
            return frozenset()
        with contextlib.suppress(GitError):
            return list_tracked(self.location.repository)
        return frozenset()

    @property
    def state_folder(self) -> Path:
        """Return the folder of the local state: the write lock, pending writes, and the days when hygiene last ran."""
        return self._places.state

    @property
    def cache_folder(self) -> Path:
        """Return the cache folder that all worktrees of the repository share."""
        return self._places.shared

    @cached_property
    def whole_catalog(self) -> Catalog:
        """Return the catalog of the visible files, in which entries keep their links into hidden wings, for checks."""
        return load(self.tree) if self.access.is_narrow else self.catalog

    def find_text(self, words: str, among: Collection[str], *, syntax: bool = False) -> TextAnswer:
        """Return the matches of some words in the entries `among`. With `syntax`, the words are in the query language.

        An invalid query raises QuerySyntaxError. All callers share the index, so it is always updated from all files,
        also for a caller who sees only some of them.
        """
        index, is_part = self.index, self.access.is_narrow or self.index_source is not None
        if is_part and index.is_behind(live=self.catalog.digests):
            whole = (self.index_source or self).unlimited()
            # If the index cannot be updated, the search reads the visible files.
            with contextlib.suppress(IndexBusyError, IndexWriteError):
                index.refresh(whole.corpus)
        return index.search(
            words,
            self.corpus,
            among=None if among is self.catalog.everything else among,
            syntax=syntax,
            may_refresh=not is_part,
            is_timed=self.is_timed,
        )

    @property
    def corpus(self) -> Corpus:
        """Return the entries for the index to read; an entry whose file was deleted since loading has no text."""
        catalog, entries = self.catalog, self.catalog.entries

        def texts(addresses: Sequence[str]) -> Iterator[IndexDocument]:
            bodies = catalog.bodies(addresses)
            return (document_of(entries[address], body, digest) for address, body, digest in bodies)

        def titles(addresses: Sequence[str]) -> Iterator[IndexDocument]:
            return (document_of(entries[one], "", catalog.digests[one]) for one in addresses)

        return Corpus(catalog.digests, texts, titles)

    def bytes_of(self, path: str) -> bytes | None:
        """Return the content of a file, or None if it is unreadable; settings are for callers with full access only."""
        if path == SETTINGS_NAME and self.access.is_narrow:
            return None
        try:
            return read_file(self.tree, path)
        except MdmemError:
            return None

    def line_of(self, place: Place) -> str | None:
        """Return the text of the line at a place; None if it cannot be read or mentions a hidden wing."""
        lines = self._lines_of(place.path)
        line = lines[place.line - 1] if place.line <= len(lines) else None
        return None if line is not None and self.catalog.names_hidden(line, place.path) else line

    @cached_property
    def _lines_of(self) -> Callable[[str], list[str]]:
        """Return a function from a path to the lines of its file; empty if unreadable. A few files are cached."""

        @lru_cache(_SHOWN_FILES)
        def read(path: str) -> list[str]:
            content = self.bytes_of(path) or b""
            return content.decode("utf-8", "replace").removeprefix("\ufeff").splitlines()

        return read


def _named(name: str, commit: str) -> str:
    return commit[:10] if name == commit else f"{name} ({commit[:10]})"


def count_shown(workspace: Workspace, way: str, addresses: Sequence[str]) -> None:
    """Record the entries that a tool or hook (`way`) showed, unless `consultations` is off; errors are ignored."""
    if addresses and _is_counted(workspace):
        record_shown(workspace.state_folder, way, addresses, datetime.now(UTC))


def tally_of(workspace: Workspace) -> Tally:
    """Return how often agents got each entry in the last thirty days; empty if `consultations` is off."""
    return tally_shown(workspace.state_folder, datetime.now(UTC)) if _is_counted(workspace) else Tally()


def _is_counted(workspace: Workspace) -> bool:
    try:
        return workspace.settings.consultations
    except SettingsError:
        return False


class LastHygiene(Struct, frozen=True):
    """The day of the last full run of `mdmem hygiene` (None for never), and whether the next run is due."""

    day: date | None = None
    is_due: bool = False


def is_hygiene_due(workspace: Workspace, project: str) -> bool:
    """Return whether `mdmem hygiene` was not run on a project's wing for 30 days; false if the wing does not exist."""
    name = find_wing(project, workspace.catalog.wings)
    return name is not None and last_hygiene(workspace, name).is_due


def last_hygiene(workspace: Workspace, active: str | None) -> LastHygiene:
    """Return the last run of `mdmem hygiene` on the active wing; if `active` is None, on the wing with the oldest run.

    A wing without a run is due if it has an entry that is at least 30 days old and was not imported.
    """
    catalog, times = workspace.catalog, read_times(workspace.state_folder)
    days: dict[str, date | None] = {}
    for name in (name for name in catalog.wings if active in (None, name)):
        # The day of the last full run is in the wing's manifest or in the local state.
        stated = (catalog.wings[name].last_hygiene_at, times.last(name))
        days[name] = max((day_of(moment) for moment in stated if moment is not None), default=None)
    known = [day for day in days.values() if day is not None]
    day = min(known, default=None) if len(known) == len(days) else None
    # The contract states the 30 days.
    latest = workspace.today - timedelta(days=30)
    new = {name for name, stated in days.items() if stated is None}
    own = (one for one in catalog.entries.values() if one.wing in new)
    old = (one.path for one in own if one.created_at is None or day_of(one.created_at) <= latest)
    contents = (content for path in old for _, content in catalog.tree.read([path]))
    is_old = (not isinstance(one, bytes) or origin_in(one.decode("utf-8", "replace")) is None for one in contents)
    return LastHygiene(day, any(stated <= latest for stated in known) or any(is_old))


def refuse_remote(workspace: Workspace, wing: str) -> None:
    """Raise UsageError for a wing of another repository, since its files cannot be changed here."""
    table = workspace.settings.remote_wings.get(wing)
    if table is not None:
        raise UsageError(
            f"the wing `{wing}` belongs to {table.git}: change it there, then type `mdmem sync --wings` here"
        )
