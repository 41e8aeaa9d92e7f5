"""The trees that a run compares with: where a change started, the default branch, a remote, the sides of a merge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from mdmem.checks.case import Base, Merge
from mdmem.errors import GitError, MdmemError, SettingsError, UsageError, shown_message
from mdmem.model.finding import Finding, Place
from mdmem.store.git.discovery import find_default_branch
from mdmem.store.git.merge import is_ancestor, is_shallow, merge_base, parents_at_hand
from mdmem.store.git.process import (
    UNSHALLOW,
    NoCommonAncestorError,
    Repository,
    ShallowHistoryError,
    UnknownRevisionError,
    resolve,
    staged_index,
)
from mdmem.store.git.status import list_changed_in_index, list_changed_since_commit
from mdmem.store.settings import Settings
from mdmem.store.tree import SETTINGS_NAME, TreeView
from mdmem.store.workspace.location import PushTarget, Snapshot
from mdmem.store.workspace.workspace import Workspace


class ComparedTrees(Struct, frozen=True):
    """The trees to compare with.

    `base` is the tree that the change started from, `other_parents` those of a merge commit that is being made.
    `elsewhere` are more trees whose findings are old. `last_commit` is the base of the files in `uncommitted` if there
    is no other: it makes no finding old.
    """

    base: Base | None = None
    other_parents: tuple[Base, ...] = ()
    merge: Merge | None = None
    faults: tuple[Finding, ...] = ()
    elsewhere: tuple[Workspace, ...] = ()
    last_commit: Base | None = None
    uncommitted: frozenset[str] = frozenset()

    @property
    def has_before(self) -> bool:
        """Say whether there is any tree whose findings are old."""
        return self.base is not None or bool(self.elsewhere)

    @property
    def name(self) -> str | None:
        """Return the name of the tree to compare with, None if there is none."""
        if self.base is not None:
            return self.base.name
        return self.elsewhere[0].tree.name if self.elsewhere else None

    def iter_before(self) -> Iterator[Base]:
        """Yield the trees whose findings are old; the later ones take longer to read."""
        if self.base is not None:
            yield self.base
        yield from map(_as_base, self.elsewhere)


def compare(
    workspace: Workspace, base: str | None, *, pushed: PushTarget | None = None, with_uncommitted: bool = False
) -> ComparedTrees:
    """Return the trees to compare with; a tree that cannot be read is a fault, and the other checks still run.

    A stated base counts from the commit where the change left it. A merge is compared with the branch it goes into.
    Staged files are compared with HEAD; their findings are old if the default branch has them, too, here or at the
    remote. A push changes no file, so only its old findings come from the remote. `with_uncommitted` compares the files
    on disk with HEAD.
    """
    snapshot, refused = workspace.snapshot, workspace.location.git_fault
    if refused is not None and snapshot.is_working_tree:
        return ComparedTrees(faults=(_fault(GitError(refused), None),))
    if base is not None and snapshot.merge_into not in (None, base):
        raise UsageError("a merge is compared with what it goes into; give --base and --merge the same branch")
    try:
        if snapshot.merge_into is not None:
            ours, theirs, ancestor = (_as_base(side) for side in workspace.sides)
            return ComparedTrees(base=theirs, merge=Merge(ours, theirs, ancestor, workspace.conflicts))
        if base is not None:
            commit = merge_base(_repository(workspace), base, snapshot.revision or "HEAD")
            return ComparedTrees(base=_at(workspace, commit, f"{base} ({commit[:10]})"))
        if pushed is not None:
            return ComparedTrees(elsewhere=_at_remote(workspace, pushed))
        if with_uncommitted and snapshot.is_working_tree:
            return _uncommitted(workspace)
        return _staged(workspace) if snapshot.staged else ComparedTrees()
    except (UnknownRevisionError, GitError) as error:
        return ComparedTrees(faults=(_fault(error, workspace.location.repository),))


def _staged(workspace: Workspace) -> ComparedTrees:
    repository = _repository(workspace)
    try:
        head = resolve(repository, "HEAD")
    except UnknownRevisionError:
        # Before the first commit everything is new.
        return ComparedTrees()
    parents = parents_at_hand(repository)
    index = staged_index(repository, workspace.environment, workspace.cwd)
    is_commit = bool(parents) or "GIT_INDEX_FILE" in workspace.environment
    if not is_commit and not list_changed_in_index(repository, index=index):
        # As in `pre-commit run --all-files`: git tells a hook of a commit which index it uses.
        return ComparedTrees()
    base = _as_base(workspace.at(Snapshot(revision=head)), f"HEAD ({head[:10]})")
    others = {one: workspace.at(Snapshot(revision=one)) for one in parents}
    agreed = _on_default_branch(repository, head, parents)
    elsewhere = [others.get(one) or workspace.at(Snapshot(revision=one)) for one in agreed]
    return ComparedTrees(base=base, other_parents=tuple(map(_as_base, others.values())), elsewhere=tuple(elsewhere))


def _uncommitted(workspace: Workspace) -> ComparedTrees:
    """Return HEAD and the files that differ from it; nothing before the first commit."""
    repository, under = workspace.location.repository, workspace.location.under
    if repository is None:
        return ComparedTrees()
    head, changed = list_changed_since_commit(repository, under)
    paths = {path.removeprefix(f"{under}/") if under else path for path in changed}
    tree = workspace.whole_tree
    if isinstance(tree, TreeView):
        # A fix is proved before it is on disk.
        paths |= (tree.changed or {}).keys() | tree.gone
    if head is None or not paths:
        return ComparedTrees()
    others = tuple(_at(workspace, one) for one in parents_at_hand(repository))
    base = _at(workspace, head, f"HEAD ({head[:10]})")
    return ComparedTrees(other_parents=others, last_commit=base, uncommitted=frozenset(paths))


def _on_default_branch(repository: Repository, head: str, parents: Sequence[str]) -> list[str]:
    """Return the commits beside HEAD that others agreed upon: parents on the default branch, and its tips."""
    branch = find_default_branch(repository)
    if branch is None:
        return []
    tips = [one for one in dict.fromkeys((branch.commit, branch.at_remote)) if one is not None]
    known = [one for one in parents if any(is_ancestor(repository, one, tip) for tip in tips)]
    return [*known, *(tip for tip in tips if tip not in (head, *known))]


def _at_remote(workspace: Workspace, pushed: PushTarget) -> tuple[Workspace, ...]:
    """Return the pushed branch as it is at the remote; for a new branch the commit at which it left the default one."""
    repository = _repository(workspace)
    branch = find_default_branch(repository)
    names = ("HEAD",) if branch is None else ("HEAD", branch.name)
    tip = workspace.snapshot.revision or "HEAD"
    for revision in filter(None, (pushed.old, *(f"refs/remotes/{pushed.remote}/{name}" for name in names))):
        try:
            is_stated = revision == pushed.old
            commit = resolve(repository, revision) if is_stated else merge_base(repository, revision, tip)
        except (UnknownRevisionError, NoCommonAncestorError, ShallowHistoryError):
            continue
        return (workspace.at(Snapshot(revision=commit)),)
    return ()


def _at(workspace: Workspace, revision: str, name: str | None = None) -> Base:
    return _as_base(workspace.at(Snapshot(revision=revision)), name)


def _as_base(opened: Workspace, name: str | None = None) -> Base:
    try:
        settings = opened.settings
    except SettingsError as error:
        # The change is not to blame for settings that were broken before.
        settings = error.readable if isinstance(error.readable, Settings) else Settings()
    return Base(name or opened.tree.name, opened.whole_catalog, settings)


def _repository(workspace: Workspace) -> Repository:
    repository = workspace.location.repository
    if repository is None:
        raise GitError(workspace.location.git_fault or f"{workspace.location.root} is in no git repository")
    return repository


def _fault(error: MdmemError, repository: Repository | None) -> Finding:
    message, _, help_ = shown_message(str(error)).partition("; ")
    code = "git-unavailable"
    if isinstance(error, ShallowHistoryError):
        code = "shallow-history"
    elif isinstance(error, UnknownRevisionError) and repository is not None and is_shallow(repository):
        code, message, help_ = "shallow-history", f"{message}, where the history is cut off", UNSHALLOW
    elif isinstance(error, UnknownRevisionError | NoCommonAncestorError):
        code = "base-unavailable"
    return Finding(code, message, Place(SETTINGS_NAME), help_)
