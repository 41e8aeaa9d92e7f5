"""Synchronise a branch with its upstream: pull with rebase, check the result, push."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from enum import Enum

from msgspec import Struct

from mdmem.checks.engine import CheckReport, is_incomplete
from mdmem.checks.run import CheckRequest, check
from mdmem.errors import GitError, LostRaceError, MdmemError, UsageError
from mdmem.model.finding import Finding, Severity
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
from mdmem.store.git.status import list_uncommitted, state_of
from mdmem.store.state.files import write_lock
from mdmem.store.workspace.location import Snapshot
from mdmem.store.workspace.workspace import Workspace

# In each attempt that fails, somebody else pushed.
ATTEMPTS = 40
# In seconds. A sync takes about half a second.
_FIRST, _LONGEST = 0.25, 4.0


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
    course: Course
    commit: str
    pulled: int = 0
    pushed: int = 0
    attempts: int = 1
    faults: int = 0
    uncommitted: tuple[str, ...] = ()


class SyncStoppedError(MdmemError):
    """Our commits and those of others do not fit together; nothing was pushed, and nothing changed here."""

    exit_code = 1


class Course(Enum):
    """The way to bring a branch and its upstream together."""

    NOTHING = "nothing"
    PUSH = "push"
    PULL = "pull"
    REBASE = "rebase"

    @property
    def pushes(self) -> bool:
        """Say whether commits are pushed."""
        return self in (Course.PUSH, Course.REBASE)


def course_between(ours: str, theirs: str, *, base: str) -> Course:
    """Return the way for two commits with a common ancestor."""
    if ours == theirs:
        return Course.NOTHING
    if base == theirs:
        return Course.PUSH
    return Course.PULL if base == ours else Course.REBASE


def _new_faults(report: CheckReport) -> tuple[Finding, ...]:
    """Return the findings that fail a run and are new against the upstream.

    A problem of this machine, such as a wing that is not fetched, is no fault of the commits.
    """
    return tuple(one for one in _failing(report.findings, report.fail_on) if one.new)


def _count_faults(report: CheckReport) -> int:
    """Return the number of findings that fail a run, new or old."""
    return len(_failing(report.findings, report.fail_on))


def _failing(findings: Sequence[Finding], level: Severity) -> list[Finding]:
    weighed = (one for one in findings if one.severity is not None and one.severity.rank <= level.rank)
    return [one for one in weighed if not is_incomplete(one)]


# In seconds: another sync in the same work tree may wait for a slow remote.
_WAIT = 120.0


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
    repository = _repository(workspace)
    operation = state_of(repository)
    if operation is not None:
        ends = "`git bisect reset`" if operation == "bisect" else f"`git {operation} --continue` or `--abort`"
        raise UsageError(f"git is in the middle of a {operation} here; end it first with {ends}")
    upstream = find_upstream(repository)
    with write_lock(repository.git_dir / "mdmem" / "sync", wait=_WAIT):
        syncing = _Syncing(workspace, repository, upstream)
        for attempt, pause in enumerate(pauses(draw), 1):
            done = syncing.attempt(attempt)
            if done is not None:
                return done
            sleep(pause)
    raise LostRaceError("others pushed first each time; your commits are on top of theirs, type `mdmem sync` again")


def _repository(workspace: Workspace) -> Repository:
    location = workspace.location
    if location.repository is None:
        raise GitError(location.git_fault or f"{location.root} is in no git repository, so there is nothing to sync")
    return location.repository


class _Syncing(Struct):
    """The state of one sync over its attempts; `start` is the common commit at the first."""

    workspace: Workspace
    repository: Repository
    upstream: Upstream
    start: str | None = None

    def attempt(self, number: int) -> SyncResult | None:
        """Try once; return None if somebody else pushed or committed meanwhile."""
        ours, theirs, base = fetch_upstream(self.repository, self.upstream)
        self.start = self.start or base
        course = course_between(ours, theirs, base=base)
        if course is Course.NOTHING:
            return self._done(course, theirs, theirs, number)
        commit = {Course.PUSH: ours, Course.PULL: theirs}.get(course) or self._rebased(ours, theirs)
        # If the ref moves on meanwhile, the check still compares with the commit that was fetched.
        report = check(self.workspace.at(Snapshot(revision=commit)), CheckRequest(base=self.upstream.name))
        if course.pushes:
            self._refuse_broken(report)
        if commit != ours and not move_branch(self.repository, self.upstream.own_ref, ours, commit):
            return None
        # A rebase may drop all our commits, if others pushed the same changes.
        if commit != theirs and not push(self.repository, self.upstream, commit):
            return None
        return self._done(course, commit, theirs, number, faults=_count_faults(report))

    def _done(self, course: Course, commit: str, theirs: str, number: int, *, faults: int = 0) -> SyncResult:
        return SyncResult(
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
        commit, conflicts = rebase(self.repository, ours, theirs)
        if not conflicts:
            return commit
        listed = ", ".join(f"`{path}`" for path in conflicts[:_SHOWN])
        more = f" and {len(conflicts) - _SHOWN} more" if len(conflicts) > _SHOWN else ""
        error = SyncStoppedError(f"git cannot merge {listed}{more} with {self.upstream.name}; {_UNTOUCHED}")
        error.add_note("type `git pull --rebase`, settle each file and `git add` it, `git rebase --continue`,")
        error.add_note("then `mdmem sync` again")
        raise error

    def _refuse_broken(self, report: CheckReport) -> None:
        found = _new_faults(report)
        if not found:
            return
        many = f"{len(found)} new findings" if len(found) > 1 else "a new finding"
        error = SyncStoppedError(f"on top of {self.upstream.name} the memory has {many}; {_UNTOUCHED}")
        for one in found[:_SHOWN]:
            error.add_note(f"  {one.place.path}:{one.place.line}: {one.severity} {one.code} {one.message}")
        # Only with the base the check finds what the change removed.
        checking = f"`mdmem check --base {self.upstream.name}`"
        error.add_note(f"type `git pull --rebase` and {checking}, mend and commit, then `mdmem sync` again")
        raise error


_SHOWN = 10
_UNTOUCHED = "nothing was pushed, and nothing changed here"
