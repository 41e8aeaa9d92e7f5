"""Brings a branch and its upstream together: pull with rebase, check the result, push."""

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
from mdmem.store.git import Repository
from mdmem.store.git.status import state_of
from mdmem.store.git.upstream import (
    SideTree,
    Upstream,
    count_between,
    fetch_upstream,
    find_upstream,
    list_uncommitted,
    move_branch,
    push,
)
from mdmem.store.state.files import write_lock
from mdmem.store.workspace.location import Snapshot
from mdmem.store.workspace.workspace import Workspace

# Each attempt that loses is one in which somebody else got through.
ATTEMPTS = 40
# In seconds: a sync takes half of one, and eight at once come through sooner where few of them try at a time.
_FIRST, _LONGEST = 0.25, 4.0


def pauses(draw: Callable[[], float], attempts: int = ATTEMPTS) -> Iterator[float]:
    """Yield the pause after each attempt, in seconds; `draw` gives numbers from 0 to 1.

    The range doubles up to a limit, and any part of it may be drawn: who lost together does not come back together.
    """
    for attempt in range(attempts):
        yield draw() * min(_LONGEST, _FIRST * 2**attempt)


class SyncResult(Struct, frozen=True, kw_only=True):
    """What was done between a branch and its upstream; the counts are of commits.

    `commit` is where both are now, `attempts` how often it was tried, `faults` how many findings the result has that
    fail a check, and `uncommitted` the files of the memory that are in no commit yet.
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
    """What is here and what others pushed do not go together; nothing was pushed, and nothing changed here."""

    exit_code = 1


class Course(Enum):
    """What is to be done: nothing, push what is here, take what is there, or put what is here on top of it."""

    NOTHING = "nothing"
    PUSH = "push"
    PULL = "pull"
    REBASE = "rebase"

    @property
    def pushes(self) -> bool:
        """Say whether something of ours goes to the others."""
        return self in (Course.PUSH, Course.REBASE)


def course_between(ours: str, theirs: str, *, base: str) -> Course:
    """Return what is to be done for two commits, by the one that they come from."""
    if ours == theirs:
        return Course.NOTHING
    if base == theirs:
        return Course.PUSH
    return Course.PULL if base == ours else Course.REBASE


def _new_faults(report: CheckReport) -> tuple[Finding, ...]:
    """Return the findings that fail a run and that the others' side, with which it was compared, does not have.

    What cannot be read here and now, such as a wing that is not fetched, is no fault of the commits.
    """
    return tuple(one for one in _failing(report.findings, report.fail_on) if one.new)


def _count_faults(report: CheckReport) -> int:
    """Return how many findings fail a run, whoever brought them."""
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


def _repository(workspace: Workspace) -> Repository:
    location = workspace.location
    if location.repository is None:
        raise GitError(location.git_fault or f"{location.root} is in no git repository, so there is nothing to sync")
    return location.repository


class _Syncing(Struct):
    """One sync: what stays the same over its attempts, and the commit that both sides had at the first."""

    workspace: Workspace
    repository: Repository
    upstream: Upstream
    side: SideTree
    start: str | None = None

    def attempt(self, number: int) -> SyncResult | None:
        """Try once; None where somebody else pushed or committed meanwhile."""
        ours, theirs, base = fetch_upstream(self.repository, self.upstream)
        self.start = self.start or base
        course = course_between(ours, theirs, base=base)
        if course is Course.NOTHING:
            return self._done(course, theirs, theirs, number)
        commit = {Course.PUSH: ours, Course.PULL: theirs}.get(course) or self._rebased(ours, theirs)
        # Should the ref move on meanwhile, what both come from is still the commit that was fetched.
        report = check(self.workspace.at(Snapshot(revision=commit)), CheckRequest(base=self.upstream.name))
        if course.pushes:
            self._refuse_broken(report)
        if commit != ours and not move_branch(self.repository, self.upstream.own_ref, ours, commit):
            return None
        # A rebase may leave nothing of ours: others pushed the same.
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
        found = self.side.rebase(ours, theirs)
        if not found.conflicts:
            return found.commit
        listed = ", ".join(f"`{path}`" for path in found.conflicts[:_SHOWN])
        more = f" and {len(found.conflicts) - _SHOWN} more" if len(found.conflicts) > _SHOWN else ""
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
        # Without the base nobody tells what the change took away.
        checking = f"`mdmem check --base {self.upstream.name}`"
        error.add_note(f"type `git pull --rebase` and {checking}, mend and commit, then `mdmem sync` again")
        raise error


_SHOWN = 10
_UNTOUCHED = "nothing was pushed, and nothing changed here"
