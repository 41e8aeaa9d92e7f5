"""When files last changed, as the line of commits that is checked out tells it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta

from mdmem.errors import GitError
from mdmem.gitrepo.process import Repository, pathspec, records, run
from mdmem.regular_file import read_regular

_HEAD = re.compile(r"\n?\x01([0-9a-f]+) (\d{4}-\d\d-\d\d)\Z")
# git reads no date before it.
_EPOCH = date(1970, 1, 2)
# git compares every changed path with each of them, and a command line has an end: of more places all are asked for.
_MOST_PLACES = 256


@dataclass(frozen=True, slots=True)
class Activity:
    """The day of the newest change of each path, from the top; `is_cut`: a shallow clone may hide some."""

    days: Mapping[str, date] = field(default_factory=dict)
    is_cut: bool = False


def last_changes(repository: Repository, places: Sequence[str], *, since: date, until: str | None = None) -> Activity:
    """Return when the files at or below some paths last changed, asked of one git process.

    What a merge brought counts with the day of the merge: it was not here before. `until` is the commit to look from,
    HEAD where it is None. A repository without a commit has no changes. Raises GitError where git does not answer.
    """
    arguments = [
        *("log", "-z", "--first-parent", "--diff-merges=first-parent", "--name-only", "--format=%x01%H %cs"),
        *("--no-renames", "--no-ext-diff", "--no-textconv", "--no-show-signature", "--no-follow"),
    ]
    if since >= _EPOCH:
        # A day begins elsewhere up to 14 hours earlier.
        start = datetime.combine(since - timedelta(days=1), time(), UTC)
        arguments.append(f"--since={start.isoformat()}")
    paths = [pathspec(place) for place in places] if len(places) <= _MOST_PLACES else [pathspec("")]
    try:
        printed = run(repository.top, *arguments, until or "HEAD", "--", *paths)
    except GitError:
        if _has_commit(repository):
            raise
        return Activity()
    cut = _cut_commits(repository)
    return Activity(_newest(records(printed), cut), bool(cut))


def _has_commit(repository: Repository) -> bool:
    return bool(run(repository.top, "rev-parse", "--verify", "--quiet", "HEAD^{commit}", ok=(0, 1, 128)))


def _newest(printed: Sequence[str], cut: frozenset[str]) -> dict[str, date]:
    newest: dict[str, date] = {}
    day: date | None = None
    for record in printed:
        head = _HEAD.match(record)
        if head:
            # Where a shallow clone ends, every file looks as if it were new.
            day = None if head[1] in cut else date.fromisoformat(head[2])
        elif day is not None:
            path = record.removeprefix("\n")
            newest[path] = max(day, newest.get(path, day))
    return newest


def _cut_commits(repository: Repository) -> frozenset[str]:
    """Return the commits whose parents a shallow clone left out."""
    try:
        return frozenset(read_regular(repository.common_dir / "shallow").decode("ascii").split())
    except OSError:
        return frozenset()
