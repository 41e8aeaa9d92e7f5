"""Brings a branch and its upstream together: pull with rebase, check the result, push."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mdmem.checks.engine import Report
from mdmem.errors import GitError, LostRaceError, UsageError
from mdmem.gitrepo import Repository
from mdmem.gitrepo.moving_on import move_branch
from mdmem.gitrepo.ongoing import state_of
from mdmem.gitrepo.rebasing import SideTree
from mdmem.gitrepo.upstream import (
    Upstream,
    count_between,
    fetch_upstream,
    find_upstream,
    list_uncommitted,
    push,
)
from mdmem.state import write_lock
from mdmem.sync.course import Course, course_between
from mdmem.sync.judging import breaking, left
from mdmem.sync.model import Synced, SyncStoppedError
from mdmem.sync.pauses import pauses
from mdmem.workspace.checking import Asked, check
from mdmem.workspace.moment import Moment
from mdmem.workspace.opened import Opened

# In seconds: another sync in the same work tree may wait for a slow remote.
_WAIT = 120.0


def sync(workspace: Opened, *, draw: Callable[[], float], sleep: Callable[[float], None]) -> Synced:
    """Take what others pushed, put what is committed here on top, check the result and push it.

    The commits are rebased and checked beside the work tree, so that until both went well nothing here changes: there
    is no rebase to abort, and files that are not committed stay as they are. Where git cannot merge, or where the
    result breaks the memory, SyncStoppedError says what to type; nothing is pushed. Where others push first, it is
    tried again after a pause: `draw` gives numbers from 0 to 1 for its length. Raises UsageError for a state in which
    nothing can be synced, LostRaceError where others always come first, and GitError where git or the remote refuses.
    """
    repository = _repository(workspace)
    operation = state_of(repository)
    if operation is not None:
        ends = "`git bisect reset`" if operation == "bisect" else f"`git {operation} --continue` or `--abort`"
        raise UsageError(f"git is in the middle of a {operation} here; end it first with {ends}")
    upstream = find_upstream(repository)
    with write_lock(repository.git_dir / "mdmem" / "sync", wait=_WAIT), SideTree(repository) as side:
        syncing = _Syncing(workspace, repository, upstream, side)
        for attempt, pause in enumerate(pauses(draw), 1):
            done = syncing.attempt(attempt)
            if done is not None:
                return done
            sleep(pause)
    raise LostRaceError("others pushed first each time; your commits are on top of theirs, type `mdmem sync` again")


def _repository(workspace: Opened) -> Repository:
    location = workspace.location
    if location.repository is None:
        raise GitError(location.git_fault or f"{location.root} is in no git repository, so there is nothing to sync")
    return location.repository


@dataclass
class _Syncing:
    """One sync: what stays the same over its attempts, and the commit that both sides had at the first."""

    workspace: Opened
    repository: Repository
    upstream: Upstream
    side: SideTree
    start: str | None = None

    def attempt(self, number: int) -> Synced | None:
        """Try once; None where somebody else pushed or committed meanwhile."""
        ours, theirs, base = fetch_upstream(self.repository, self.upstream)
        self.start = self.start or base
        course = course_between(ours, theirs, base=base)
        if course is Course.NOTHING:
            return self._done(course, theirs, theirs, number)
        commit = {Course.PUSH: ours, Course.PULL: theirs}.get(course) or self._rebased(ours, theirs)
        report = self._checked(commit)
        if course.pushes:
            self._refuse_broken(report)
        if commit != ours and not move_branch(self.repository, self.upstream.own_ref, ours, commit):
            return None
        # A rebase may leave nothing of ours: others pushed the same.
        if commit != theirs and not push(self.repository, self.upstream, commit):
            return None
        return self._done(course, commit, theirs, number, faults=left(report))

    def _done(self, course: Course, commit: str, theirs: str, number: int, *, faults: int = 0) -> Synced:
        return Synced(
            branch=self.upstream.branch,
            upstream=self.upstream.name,
            course=course,
            commit=commit,
            pulled=count_between(self.repository, self.start or theirs, theirs),
            pushed=count_between(self.repository, theirs, commit),
            attempts=number,
            faults=faults,
            uncommitted=list_uncommitted(self.repository, self.workspace.location.under),
        )

    def _rebased(self, ours: str, theirs: str) -> str:
        found = self.side.rebase(ours, theirs)
        if not found.conflicts:
            return found.commit
        listed = ", ".join(f"`{path}`" for path in found.conflicts[:_SHOWN])
        more = f" and {len(found.conflicts) - _SHOWN} more" if len(found.conflicts) > _SHOWN else ""
        error = SyncStoppedError(f"git cannot merge {listed}{more} with {self.upstream.name}; {_UNTOUCHED}")
        error.add_note("type `git pull --rebase`, settle each file and `git add` it, `git rebase --continue`,")
        error.add_note("then `mdmem sync` again")
        raise error

    def _checked(self, commit: str) -> Report:
        # Should the ref move on meanwhile, what both come from is still the commit that was fetched.
        return check(self.workspace.at(Moment(revision=commit)), Asked(base=self.upstream.name))

    def _refuse_broken(self, report: Report) -> None:
        found = breaking(report)
        if not found:
            return
        many = f"{len(found)} new findings" if len(found) > 1 else "a new finding"
        error = SyncStoppedError(f"on top of {self.upstream.name} the memory has {many}; {_UNTOUCHED}")
        for one in found[:_SHOWN]:
            error.add_note(f"  {one.place.path}:{one.place.line}: {one.severity} {one.code} {one.message}")
        error.add_note("type `git pull --rebase` and `mdmem check`, mend and commit, then `mdmem sync` again")
        raise error


_SHOWN = 10
_UNTOUCHED = "nothing was pushed, and nothing changed here"
