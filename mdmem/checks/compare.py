"""What a tree is compared with: the base of a change, the parents of a merge commit, the sides of a merge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from mdmem.checks.case import Base, Merge
from mdmem.errors import GitError, MdmemError, SettingsError, UsageError, shown_message
from mdmem.model.finding import Finding, Place
from mdmem.store.catalog import Catalog
from mdmem.store.git import (
    NoCommonAncestorError,
    Repository,
    ShallowHistoryError,
    UnknownRevisionError,
    list_changed_in_index,
    resolve,
    staged_index,
)
from mdmem.store.git.discovery import find_default_branch
from mdmem.store.git.merge import is_ancestor, is_shallow, merge_base, parents_at_hand
from mdmem.store.git.process import UNSHALLOW
from mdmem.store.git.status import list_changed_since_commit
from mdmem.store.settings import Settings
from mdmem.store.tree import SETTINGS_NAME, OverlaidTree
from mdmem.store.workspace.location import PushTarget, Snapshot
from mdmem.store.workspace.workspace import Workspace


class ComparedTrees(Struct, frozen=True):
    """The trees to compare with; `other_parents` are those of a merge commit that is being made.

    `elsewhere` are trees whose findings are old, too, each read when it is asked for: a parent only where the default
    branch contains it. `last_commit` tells nothing from old: it is what the files at hand, of which it has `apart`
    otherwise, change.
    """

    base: Base | None = None
    other_parents: tuple[Base, ...] = ()
    merge: Merge | None = None
    faults: tuple[Finding, ...] = ()
    elsewhere: tuple[Workspace, ...] = ()
    last_commit: Base | None = None
    apart: frozenset[str] = frozenset()

    @property
    def has_before(self) -> bool:
        """Say whether there is anything that tells old findings from new ones."""
        return self.base is not None or bool(self.elsewhere)

    @property
    def name(self) -> str | None:
        """Return what people call that which the tree is compared with; None where there is nothing."""
        if self.base is not None:
            return self.base.name
        return self.elsewhere[0].tree.name if self.elsewhere else None

    def before(self) -> Iterator[Base]:
        """Yield the trees whose findings are old, one that costs more later."""
        if self.base is not None:
            yield self.base
        yield from map(_as_base, self.elsewhere)


def compare(
    workspace: Workspace, base: str | None, *, pushed: PushTarget | None = None, with_uncommitted: bool = False
) -> ComparedTrees:
    """Return what a tree is compared with.

    A stated base counts from where the change left it; a merge is compared with what it goes into, what is staged
    with HEAD, and its findings are old where the default branch has them, too, here or at the remote. A push changes no
    file: only what is there already, or where a new branch left the remote's, tells what is old. Files on disk change
    what HEAD has, if that is asked. What cannot be had is a fault, not an error: the rest of the checks still runs.
    """
    snapshot, refused = workspace.snapshot, workspace.location.git_fault
    if refused is not None and snapshot.is_working_tree:
        return ComparedTrees(faults=(_fault("git-unavailable", GitError(refused)),))
    if base is not None and snapshot.merge_into not in (None, base):
        raise UsageError("a merge is compared with what it goes into; give --base and --merge the same branch")
    try:
        if snapshot.merge_into is not None:
            return _merge(workspace)
        if base is not None:
            return ComparedTrees(base=_left_from(workspace, base))
        if pushed is not None:
            return ComparedTrees(elsewhere=_at_remote(workspace, pushed))
        if with_uncommitted and snapshot.is_working_tree:
            return _uncommitted(workspace)
        return _staged(workspace) if snapshot.staged else ComparedTrees()
    except (UnknownRevisionError, GitError) as error:
        return ComparedTrees(faults=(_fault_of(error, workspace.location.repository),))


_FAULTS: Mapping[type[MdmemError], str] = {
    ShallowHistoryError: "shallow-history",
    UnknownRevisionError: "base-unavailable",
    NoCommonAncestorError: "base-unavailable",
}


def _merge(workspace: Workspace) -> ComparedTrees:
    ours, theirs, ancestor = (_as_base(side) for side in workspace.sides)
    merge = Merge(ours, theirs, ancestor, workspace.conflicts)
    return ComparedTrees(base=merge.theirs, merge=merge)


def _left_from(workspace: Workspace, base: str) -> Base:
    """Return the commit at which the tree that is read left a branch."""
    repository = _repository(workspace)
    commit = merge_base(repository, base, workspace.snapshot.revision or "HEAD")
    return _as_base(workspace.at(Snapshot(revision=commit)), f"{base} ({commit[:10]})")


def _staged(workspace: Workspace) -> ComparedTrees:
    repository = _repository(workspace)
    try:
        head = resolve(repository, "HEAD")
    except UnknownRevisionError:
        # Before the first commit everything is new.
        return ComparedTrees()
    parents = parents_at_hand(repository)
    if not parents and _asks_about_all(workspace, repository):
        return ComparedTrees()
    base = _as_base(workspace.at(Snapshot(revision=head, is_resolved=True)), f"HEAD ({head[:10]})")
    others = {one: workspace.at(Snapshot(revision=one)) for one in parents}
    elsewhere = [others.get(one) or workspace.at(Snapshot(revision=one)) for one in _agreed(repository, head, parents)]
    return ComparedTrees(base=base, other_parents=tuple(map(_as_base, others.values())), elsewhere=tuple(elsewhere))


def _uncommitted(workspace: Workspace) -> ComparedTrees:
    """Return what a commit of the files at hand would change, as git sees it; nothing before the first one."""
    repository, under = workspace.location.repository, workspace.location.under
    if repository is None:
        return ComparedTrees()
    head, changed = list_changed_since_commit(repository, under)
    apart = {path.removeprefix(f"{under}/") if under else path for path in changed}
    if isinstance(workspace.whole_tree, OverlaidTree):
        # What a fix would write counts as well: it is proved before it is on disk.
        apart |= workspace.whole_tree.changed.keys() | workspace.whole_tree.gone
    if head is None or not apart:
        return ComparedTrees()
    others = tuple(_as_base(workspace.at(Snapshot(revision=one))) for one in parents_at_hand(repository))
    base = _as_base(workspace.at(Snapshot(revision=head)), f"HEAD ({head[:10]})")
    return ComparedTrees(other_parents=others, last_commit=base, apart=frozenset(apart))


def _agreed(repository: Repository, head: str, parents: Sequence[str]) -> list[str]:
    """Return the commits beside HEAD that others agreed upon: parents on the default branch, and its tips."""
    branch = find_default_branch(repository)
    if branch is None:
        return []
    tips = [one for one in dict.fromkeys((branch.commit, branch.at_remote)) if one is not None]
    known = [one for one in parents if any(is_ancestor(repository, one, tip) for tip in tips)]
    return [*known, *(tip for tip in tips if tip not in (head, *known))]


def _asks_about_all(workspace: Workspace, repository: Repository) -> bool:
    """Say whether nothing is staged and git is not about to commit: `pre-commit run --all-files`, not an amended text.

    git names its index to a hook.
    """
    index = staged_index(repository, workspace.environment, workspace.cwd)
    return "GIT_INDEX_FILE" not in workspace.environment and not list_changed_in_index(repository, index=index)


def _at_remote(workspace: Workspace, pushed: PushTarget) -> tuple[Workspace, ...]:
    """Return what a remote has already: the branch as it is there, or where a new one left its default branch."""
    repository = _repository(workspace)
    tried = (pushed.commit, *(f"refs/remotes/{pushed.remote}/{name}" for name in _usual(repository)))
    for revision in filter(None, tried):
        try:
            is_stated = revision == pushed.commit
            tip = workspace.snapshot.revision or "HEAD"
            commit = resolve(repository, revision) if is_stated else merge_base(repository, revision, tip)
        except (UnknownRevisionError, NoCommonAncestorError, ShallowHistoryError):
            continue
        return (workspace.at(Snapshot(revision=commit)),)
    return ()


def _usual(repository: Repository) -> tuple[str, ...]:
    branch = find_default_branch(repository)
    return ("HEAD",) if branch is None else ("HEAD", branch.name)


def checked_catalog(opened: Workspace) -> Catalog:
    """Return the entries that checks look at, links into hidden wings among them."""
    return opened.whole_catalog


def _as_base(opened: Workspace, name: str | None = None) -> Base:
    try:
        settings = opened.settings
    except SettingsError as error:
        # What the change started from may have been broken; the change is not to blame.
        settings = error.readable if isinstance(error.readable, Settings) else Settings()
    return Base(name or opened.tree.name, checked_catalog(opened), settings)


def _repository(workspace: Workspace) -> Repository:
    repository = workspace.location.repository
    if repository is None:
        raise GitError(workspace.location.git_fault or f"{workspace.location.root} is in no git repository")
    return repository


def _fault_of(error: MdmemError, repository: Repository | None) -> Finding:
    if isinstance(error, UnknownRevisionError) and repository is not None and is_shallow(repository):
        said = str(error).partition("; ")[0]
        return _fault("shallow-history", GitError(f"{said}, where the history is cut off; {UNSHALLOW}"))
    return _fault(next((code for kind, code in _FAULTS.items() if isinstance(error, kind)), "git-unavailable"), error)


def _fault(code: str, error: MdmemError) -> Finding:
    message, _, help_ = shown_message(str(error)).partition("; ")
    return Finding(code, message, Place(SETTINGS_NAME), help_)
