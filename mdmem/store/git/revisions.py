"""The line of commits of a branch, each with the one before it: what it held at a moment, and what another one did."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from msgspec import Struct

from mdmem.store.git.process import Repository, pathspec, records, run
from mdmem.store.git.status import Blob

# So many commits below the one that is found are looked at for one that claims to be younger.
_LOOKED_AT = 1_000
# git compares each changed file with each path that it is given.
_FEW = 200


class DatedCommit(Struct, frozen=True):
    """One commit and its committer's date; `is_uneven`: it builds on one that is dated after the moment asked for."""

    commit: str
    when: datetime
    is_uneven: bool = False


def commit_at(repository: Repository, tip: str, moment: datetime) -> DatedCommit | None:
    """Return the last commit of a line, from its tip back, that bears a committer's date at or before a moment.

    Dates need not rise along the line. A commit was there at its date with all that it builds on, whatever dates those
    bear, so the one nearest to the tip counts, as for `git rev-list -1 --first-parent --before`. None where every
    commit is younger.
    """
    latest = max(0, int(moment.timestamp()))
    found = _line(repository, tip, f"--min-age={latest}", "--max-count=1")
    if not found:
        return None
    [(seconds, commit)] = found
    below = _line(repository, commit, f"--max-count={_LOOKED_AT}")
    return DatedCommit(commit, _when(seconds), any(one > latest for one, _ in below))


def first_of(repository: Repository, tip: str) -> DatedCommit:
    """Return the oldest commit of a line, as far as it is here."""
    seconds, commit = _line(repository, tip)[-1]
    return DatedCommit(commit, _when(seconds))


def _when(seconds: int) -> datetime:
    """Return a moment that git counts in seconds; it can date a commit beyond the last year there is."""
    last = datetime.max.replace(microsecond=0, tzinfo=UTC)
    return datetime.fromtimestamp(min(seconds, int(last.timestamp())), UTC)


def list_names(repository: Repository) -> tuple[str, ...]:
    """Return the short names of branches, tags and what remotes have, in git's order."""
    printed = run(
        repository.top, "for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/tags", "refs/remotes"
    )
    return tuple(printed.decode("utf-8", "replace").splitlines())


def _line(repository: Repository, tip: str, *options: str) -> list[tuple[int, str]]:
    printed = run(repository.top, "rev-list", "--first-parent", "--timestamp", *options, tip, "--")
    pairs = (line.split() for line in printed.decode("ascii").splitlines())
    return [(int(seconds), commit) for seconds, commit in pairs]


def list_differing(repository: Repository, one: str, other: str, under: str) -> dict[str, Blob | None]:
    """Return the paths below a folder, from the top, that differ between two commits, with what the second holds."""
    options = ("-r", "-z", "--no-renames", "--no-ext-diff", "--no-textconv")
    printed = run(repository.top, "diff-tree", *options, one, other, "--", pathspec(under))
    found: dict[str, Blob | None] = {}
    parts = iter(records(printed))
    for head in parts:
        _, mode, _, digest, state = head.split(" ")
        path = next(parts)
        found[path] = None if state == "D" else Blob(path, mode, digest)
    return found


def list_changed_on_disk(repository: Repository, paths: list[str], under: str) -> frozenset[str]:
    """Return those of some tracked paths, from the top, that differ from HEAD or the index as git compares them.

    Where line ends or filters are converted, other bytes are the same to git.
    """
    specs = [pathspec(path) for path in paths] if len(paths) <= _FEW else [pathspec(under)]
    options = ("--porcelain", "-z", "--no-renames", "--untracked-files=no")
    printed = run(repository.top, "status", *options, "--", *specs)
    return frozenset(record[3:] for record in records(printed)).intersection(paths)


class Touch(Struct, frozen=True):
    """Who changed a file last, and in which commit, by its short name."""

    author: str
    commit: str


def last_touches(repository: Repository, since: str, tip: str, under: str) -> Mapping[str, Touch]:
    """Return who changed each path below a folder last, among the commits of one line that another has not."""
    form = ("--format=%x01%h%x02%an", "--name-only", "-z", "-c", "--no-renames", "--no-ext-diff", "--no-textconv")
    printed = run(repository.top, "log", *form, "--no-show-signature", f"{since}..{tip}", "--", pathspec(under))
    found: dict[str, Touch] = {}
    touch = None
    for record in records(printed):
        name = record.lstrip("\n")
        if name.startswith("\x01"):
            commit, _, author = name[1:].partition("\x02")
            touch = Touch(author, commit)
        elif name and touch is not None:
            found.setdefault(name, touch)
    return found
