"""How commits follow one another, as far as their history is here."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from mdmem.store.git.process import Repository, run


def is_ancestor(repository: Repository, old: str, new: str) -> bool:
    """Say whether a commit is another one or led to it; one that is not here led to nothing."""
    asked = ("rev-list", "--count", "--max-count=1", old, f"^{new}", "--")
    return run(repository.top, *asked, variables=repository.variables, ok=(0, 128)).strip() == b"0"


def leading_to(repository: Repository, olds: Iterable[str], new: str) -> frozenset[str]:
    """Return those of some commits that are a commit or led to it; one that is not here led to nothing."""
    wanted = frozenset(olds)
    if not wanted:
        return wanted
    printed = run(repository.top, "rev-list", new, "--", variables=repository.variables)
    return wanted.intersection(printed.decode("ascii").split())


def led_to_any(repository: Repository, old: str, news: Iterable[str]) -> bool:
    """Say whether a commit is one of others or led to one; those that are not here are passed over."""
    asked = "".join([f"{old}\n", *(f"^{commit}\n" for commit in news)]).encode()
    counted = ("rev-list", "--max-count=1", "--ignore-missing", "--stdin")
    return not run(repository.top, *counted, text_in=asked, variables=repository.variables).strip()


def root_commits(repository: Repository, commit: str) -> tuple[str, ...]:
    """Return the commits without a parent that a history begins with, sorted."""
    printed = run(repository.top, "rev-list", "--max-parents=0", commit, "--", variables=repository.variables)
    return tuple(sorted(printed.decode("ascii").split()))


def committed_at(repository: Repository, commit: str) -> datetime | None:
    """Return a commit's own date; None where it lies beyond the calendar."""
    asked = ("log", "-1", "--no-show-signature", "--format=%ct", commit, "--")
    seconds = int(run(repository.top, *asked, variables=repository.variables))
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None
