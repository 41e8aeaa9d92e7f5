"""Synchronise a branch with its upstream: pull with rebase, check the result, push."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator

from msgspec import Struct

from mdmem.checks.engine import is_incomplete
from mdmem.checks.run import CheckRequest, check
from mdmem.errors import GitError, LostRaceError, MdmemError, UsageError
from mdmem.model.finding import Finding
from mdmem.store.git.process import Repository
from mdmem.store.git.remote import (
    Upstream,
    count_between,
    fetch_upstream,
    find_upstream,
    move_branch,
    push,
    rebase,
)
from mdmem.store.git.status import list_changed, state_of
from mdmem.store.state.files import write_lock
from mdmem.store.workspace.location import Snapshot
from mdmem.store.workspace.workspace import Workspace

# In each attempt that fails, somebody else pushed.
ATTEMPTS = 40
# In seconds. A sync takes about half a second.
_FIRST, _LONGEST = 0.25, 4.0
# In seconds: another sync in the same work tree may wait for a slow remote.
_WAIT = 120.0
_SHOWN = 10
_UNTOUCHED = "nothing was pushed, and nothing changed here"


def pauses(draw: Callable[[], float], attempts: int = ATTEMPTS) -> Iterator[float]:
    """Yield a random pause after each attempt, in seconds, from a range that doubles up to a limit."""
    for attempt in range(attempts):
        yield draw() * min(_LONGEST, _FIRST * 2**attempt)


class SyncResult(Struct, frozen=True, kw_only=True):
    """The result of a sync; the counts are of commits.

    Both branches are at `commit` now. `faults` counts the findings of the result that fail a check, `uncommitted` are
    the files of the memory that are not committed.
    """

    branch: str
    upstream: str
    commit: str
    pulled: int
    pushed: int
    attempts: int
    faults: int
    uncommitted: tuple[str, ...]


class SyncStoppedError(MdmemError):
    """Our commits conflict with those of others; nothing was pushed, and nothing changed here."""

    exit_code = 1


def sync(
    workspace: Workspace,
    *,
    draw: Callable[[], float] = random.random,
    sleep: Callable[[float], None] = time.sleep,
) -> SyncResult:
    """Pull what others pushed, rebase our commits on it, check the result and push it.

    The rebase and the check run outside of the work tree, so nothing here changes before both succeed, and files that
    are not committed stay as they are. If others push first, the sync is tried again after a pause.

    Raises SyncStoppedError with what to type if git cannot merge, or the result has new errors; UsageError for a state
    in which nothing can be synced; LostRaceError if others always push first; GitError if git or the remote refuses.
    """
    location = workspace.location
    repository = location.repository
    if repository is None:
        raise GitError(location.git_fault or f"{location.root} is in no git repository, so there is nothing to sync")
    operation = state_of(repository)
    if operation is not None:
        ends = "`git bisect reset`" if operation == "bisect" else f"`git {operation} --continue` or `--abort`"
        raise UsageError(f"git is in the middle of a {operation} here; end it first with {ends}")
    upstream, start = find_upstream(repository), ""
    with write_lock(repository.git_dir / "mdmem" / "sync", wait=_WAIT):
        for attempt, pause in enumerate(pauses(draw), 1):
            ours, theirs, base = fetch_upstream(repository, upstream)
            # The common commit at the first attempt.
            start = start or base
            synced = _bring_together(workspace, repository, upstream, ours, theirs, base)
            if synced is not None:
                commit, faults = synced
                return SyncResult(
                    branch=upstream.branch,
                    upstream=upstream.name,
                    commit=commit,
                    pulled=count_between(repository, start, theirs),
                    pushed=count_between(repository, theirs, commit),
                    attempts=attempt,
                    faults=len(faults),
                    uncommitted=tuple(sorted(list_changed(repository, location.under)[1])),
                )
            sleep(pause)
    raise LostRaceError("others pushed first each time; your commits are on top of theirs, type `mdmem sync` again")


def _bring_together(
    workspace: Workspace, repository: Repository, upstream: Upstream, ours: str, theirs: str, base: str
) -> tuple[str, list[Finding]] | None:
    """Bring both branches to one commit and return it with its faults; None if somebody else was faster."""
    if ours == theirs:
        return theirs, []
    if base in (ours, theirs):
        commit = theirs if base == ours else ours
    else:
        commit = _rebased(repository, upstream, ours, theirs)
    # If the ref moves on meanwhile, the check still compares with the commit that was fetched.
    report = check(workspace.at(Snapshot(revision=commit)), CheckRequest(base=upstream.name))
    level = report.fail_on.rank
    # A problem of this machine, such as a wing that is not fetched, is not a fault of the commits.
    faults = [one for one in report.findings if one.weight.rank <= level and not is_incomplete(one)]
    if base != ours:
        _refuse_new(upstream, [one for one in faults if one.new])
    if commit != ours and not move_branch(repository, upstream.own_ref, ours, commit):
        return None
    # A rebase may drop all our commits, if others pushed the same changes.
    if commit != theirs and not push(repository, upstream, commit):
        return None
    return commit, faults


def _rebased(repository: Repository, upstream: Upstream, ours: str, theirs: str) -> str:
    commit, conflicts = rebase(repository, ours, theirs)
    if not conflicts:
        return commit
    listed = ", ".join(f"`{path}`" for path in conflicts[:_SHOWN])
    more = f" and {len(conflicts) - _SHOWN} more" if len(conflicts) > _SHOWN else ""
    error = SyncStoppedError(f"git cannot merge {listed}{more} with {upstream.name}; {_UNTOUCHED}")
    error.add_note("type `git pull --rebase`, resolve each file and `git add` it, `git rebase --continue`,")
    error.add_note("then `mdmem sync` again")
    raise error


def _refuse_new(upstream: Upstream, found: list[Finding]) -> None:
    if not found:
        return
    many = f"{len(found)} new findings" if len(found) > 1 else "a new finding"
    error = SyncStoppedError(f"on top of {upstream.name} the memory has {many}; {_UNTOUCHED}")
    for one in found[:_SHOWN]:
        error.add_note(f"  {one.place.path}:{one.place.line}: {one.severity} {one.code} {one.message}")
    # Only with the base the check finds what the change removed.
    checking = f"`mdmem check --base {upstream.name}`"
    error.add_note(f"type `git pull --rebase` and {checking}, fix and commit, then `mdmem sync` again")
    raise error
