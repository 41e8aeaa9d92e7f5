"""Synchronise a branch with its upstream: pull with rebase, check the result, push."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from msgspec import Struct

from mdmem.checks.engine import is_incomplete
from mdmem.checks.run import CheckRequest, check
from mdmem.errors import LostRaceError, MdmemError, UsageError
from mdmem.model.finding import Finding
from mdmem.store.git.process import Repository
from mdmem.store.git.remote import (
    Upstream,
    count_between,
    fetch_upstream,
    get_upstream,
    has_merges,
    move_branch,
    push,
    rebase,
)
from mdmem.store.git.status import list_changed, state_of
from mdmem.store.state.files import write_lock
from mdmem.store.workspace.location import Snapshot
from mdmem.store.workspace.workspace import Workspace

# An attempt fails only if somebody else pushes in the meantime.
ATTEMPTS = 40
# In seconds. A sync takes about half a second.
_FIRST, _LONGEST = 0.25, 4.0
# In seconds. Another sync in the same work tree may be waiting for a slow remote.
_WAIT = 120.0
_SHOWN = 10
_UNTOUCHED = "nothing was pushed, and nothing changed here"


class SyncResult(Struct, frozen=True, kw_only=True):
    """The result of a sync: numbers of commits, and the `commit` of both branches.

    `faults` counts its findings that fail a check, old ones too; `uncommitted` are files of the memory.
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
    """Our commits conflict with the commits of others. Nothing was pushed, and nothing changed here."""

    exit_code = 1


def sync(
    workspace: Workspace,
    *,
    draw: Callable[[], float] = random.random,
    sleep: Callable[[float], None] = time.sleep,
) -> SyncResult:
    """Pull the commits of others, rebase our commits on them, check the result and push it.

    The work tree changes only after rebase and check succeeded elsewhere; uncommitted files stay. If others push
    first, the sync tries again after a pause. Raises SyncStoppedError with the commands to type if git cannot merge
    or the result has new errors, UsageError, GitError, and LostRaceError if others always pushed first.
    """
    repository = workspace.location.get_repository()
    operation = state_of(repository)
    if operation is not None:
        ends = "`git bisect reset`" if operation == "bisect" else f"`git {operation} --continue` or `--abort`"
        raise UsageError(f"git is in the middle of a {operation} here; end it first with {ends}")
    upstream, start = get_upstream(repository), ""
    with write_lock(repository.git_dir / "mdmem" / "sync", wait=_WAIT):
        for attempt in range(ATTEMPTS):
            ours, theirs, base = fetch_upstream(repository, upstream)
            # The merge base at the first attempt.
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
                    attempts=attempt + 1,
                    faults=len(faults),
                    uncommitted=tuple(sorted(list_changed(repository, workspace.location.under)[1])),
                )
            # The range of the random pause doubles each time, up to a limit.
            sleep(draw() * min(_LONGEST, _FIRST * 2**attempt))
    raise LostRaceError(
        "others pushed first at each attempt; your commits are on top of theirs now: type `mdmem sync` again"
    )


def _bring_together(
    workspace: Workspace, repository: Repository, upstream: Upstream, ours: str, theirs: str, base: str
) -> tuple[str, list[Finding]] | None:
    """Bring both branches to one commit. Return the commit and its findings, or None if somebody else pushed first."""
    if ours == theirs:
        return theirs, []
    commit, conflicts = theirs if base == ours else ours, tuple[str, ...]()
    if base not in (ours, theirs):
        commit, conflicts = rebase(repository, ours, theirs)
    if conflicts:
        listed = ", ".join(f"`{path}`" for path in conflicts[:_SHOWN])
        more = f" and {len(conflicts) - _SHOWN} more" if len(conflicts) > _SHOWN else ""
        pull, operation = _pull(repository, ours, theirs)
        steps = f"type `{pull}`, resolve each file and `git add` it, `git {operation} --continue`,"
        message = f"git cannot merge {listed}{more} with {upstream.name}"
        raise _stopped(message, steps, "then `mdmem sync` again")
    # The ref may move in the meantime, so the check compares with the fetched commit.
    report = check(workspace.at(Snapshot(revision=commit)), CheckRequest(base=upstream.name))
    level = report.fail_on.rank
    # Ignore problems of this machine, for example a wing that is not fetched. The commits did not cause them.
    faults = [one for one in report.findings if one.weight.rank <= level and not is_incomplete(one)]
    if base != ours and (new := [one for one in faults if one.new]):
        shown = [f"  {one.place.path}:{one.place.line}: {one.severity} {one.code} {one.message}" for one in new]
        # The check needs the base to find what the change removed.
        steps = f"`{_pull(repository, ours, theirs)[0]}` and `mdmem check --base {upstream.name}`, fix and commit"
        many = f"{len(new)} new findings" if len(new) > 1 else "a new finding"
        message = f"on top of {upstream.name} the memory has {many}"
        raise _stopped(message, *shown[:_SHOWN], f"type {steps}, then `mdmem sync` again")
    if commit != ours and not move_branch(repository, upstream.ref, ours, commit):
        return None
    # If others pushed the same changes, the rebase drops all our commits.
    if commit != theirs and not push(repository, upstream, commit):
        return None
    return commit, faults


def _pull(repository: Repository, ours: str, theirs: str) -> tuple[str, str]:
    """Return the command that pulls, and the name of git's operation. A rebase would take our merge commits apart."""
    is_merge = has_merges(repository, theirs, ours)
    return ("git pull --no-rebase", "merge") if is_merge else ("git pull --rebase", "rebase")


def _stopped(message: str, *notes: str) -> SyncStoppedError:
    error = SyncStoppedError(f"{message}; {_UNTOUCHED}")
    for note in notes:
        error.add_note(note)
    return error
