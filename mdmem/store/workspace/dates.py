"""What `--at` says: a revision, or a date, which means what was binding then."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import MINYEAR, UTC, date, datetime, time, timedelta

from mdmem.errors import GitError, UsageError
from mdmem.store.git import Repository, UnknownRevisionError, resolve
from mdmem.store.git.discovery import SETTING, DefaultBranch, find_default_branch
from mdmem.store.git.merge import is_shallow
from mdmem.store.git.process import UNSHALLOW
from mdmem.store.git.status import DatedCommit, commit_at, first_of
from mdmem.store.workspace.location import Location
from mdmem.store.workspace.snapshot import Snapshot

# Only the long form: eight digits alone may be the beginning of a commit's name.
_DATE = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?(?:\.\d+)?)(Z|[+-]\d\d:?\d\d)?)?", re.IGNORECASE)
_AGO = re.compile(r"(today|yesterday|tomorrow)|(\d{1,4}) (day|week|month|year)s? ago", re.IGNORECASE)
_NO_BRANCH = f"nothing tells which branch is the default one; `git config {SETTING} NAME` says it"


def snapshot_at(location: Location, said: str, *, today: date) -> tuple[Snapshot, date]:
    """Return the snapshot that somebody means, and the day to judge by.

    What names a revision is one, even where it looks like a date; then the day stays today. A date means the last
    commit by then on the first-parent line of the default branch. A day lasts until its end in UTC, and a time without
    an offset is UTC, so that one question has one answer everywhere; it is judged by the day that was written.
    Raises UnknownRevisionError, UsageError and GitError.
    """
    repository = location.repository
    if repository is None:
        raise GitError(location.git_fault or f"{location.root} is in no git repository")
    is_date = _DATE.fullmatch(said) is not None or _AGO.fullmatch(said) is not None
    try:
        commit = resolve(repository, said)
    except UnknownRevisionError:
        if not is_date:
            raise
        return _at_date(repository, _counted_back(said, today), today)
    remarks = (f"`{said}` is a branch or tag here, and is read as that, not as a date",) if is_date else ()
    return Snapshot(commit, said=said, remarks=remarks), today


def _counted_back(said: str, today: date) -> str:
    """Return the date that `yesterday` or `2 weeks ago` means; what is none of these as it is."""
    found = _AGO.fullmatch(said)
    if found is None:
        return said
    word, number, unit = found.groups()
    if word is not None:
        return str(today + timedelta(days=_NEAR[word.lower()]))
    if unit.lower() in _DAYS:
        return str(today - timedelta(days=int(number) * _DAYS[unit.lower()]))
    months = today.year * 12 + today.month - 1 - int(number) * (12 if unit.lower() == "year" else 1)
    year, month = divmod(months, 12)
    if year < MINYEAR:
        raise UsageError(f"there is no day `{said}`")
    return str(date(year, month + 1, min(today.day, monthrange(year, month + 1)[1])))


_NEAR = {"yesterday": -1, "today": 0, "tomorrow": 1}
_DAYS = {"day": 1, "week": 7}


def _at_date(repository: Repository, said: str, today: date) -> tuple[Snapshot, date]:
    instant, day = _parsed(said)
    branch = find_default_branch(repository)
    if branch is None:
        raise GitError(f"what was binding on {said} cannot be told: {_NO_BRANCH}")
    found = commit_at(repository, branch.commit, instant)
    if found is None:
        raise _too_early(repository, branch, said)
    remarks = [f"as of {said}: commit {found.commit[:10]} of {branch.ref}, from {found.when:%Y-%m-%d %H:%M} UTC"]
    if found.is_uneven:
        remarks.append("dates on this branch do not rise: that commit builds on one that bears a later date")
    if day > today:
        remarks.append(f"{said} is still to come: this is what binds now, judged by that day")
    return Snapshot(found.commit, said=said, is_dated=True, remarks=tuple(remarks)), day


def _parsed(said: str) -> tuple[datetime, date]:
    """Return the last instant that a date means, and its day; raises UsageError where there is no such day."""
    try:
        instant = datetime.fromisoformat(said.upper())
        if len(said) == len("2026-01-31"):
            # The next day's first moment may lie beyond the last year there is.
            instant = datetime.combine(instant.date(), time(23, 59, 59), UTC)
    except ValueError as error:
        raise UsageError(f"there is no moment `{said}`; write a day as 2026-01-31, or 2026-01-31T12:00Z") from error
    return (instant if instant.tzinfo else instant.replace(tzinfo=UTC)), instant.date()


def _too_early(repository: Repository, branch: DefaultBranch, said: str) -> UsageError | GitError:
    oldest: DatedCommit = first_of(repository, branch.commit)
    since = f"{oldest.when:%Y-%m-%d}"
    if is_shallow(repository):
        return GitError(f"the history of {branch.ref} is cut off before {said}, it begins on {since}; {UNSHALLOW}")
    return UsageError(f"nothing was committed on {branch.ref} by {said}; its history begins on {since}")
