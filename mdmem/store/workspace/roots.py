"""Which roots and which tree a run is about, and whether the commit at hand concerns a memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from mdmem.errors import RootNotFoundError, UsageError
from mdmem.store.git import list_changed_in_index, staged_index
from mdmem.store.workspace.location import Location, locate_each
from mdmem.store.workspace.snapshot import Snapshot


class PushTarget(Struct, frozen=True):
    """Where a push goes: the remote, and the commit that it has there; one that names none is new to it."""

    remote: str
    commit: str | None


def roots_to_check(
    given: str | None, environment: Mapping[str, str], cwd: Path, *, paths: Sequence[str], is_hook: bool
) -> tuple[Location, ...]:
    """Return the root that is meant, or every root of the repository, or those of them that hold a path.

    A hook runs on every branch, also on those without a memory: there it has no root, where anybody else is told.
    """
    try:
        found = locate_each(given, environment, cwd)
    except RootNotFoundError:
        if is_hook and given is None:
            return ()
        raise
    if len(found) == 1:
        return found
    named = [(cwd / path).resolve() for path in paths]
    chosen = tuple(one for one in found if any(path.is_relative_to(one.root) for path in named))
    return chosen or found


def snapshot_to_check(
    environment: Mapping[str, str], *, revision: str | None, staged: bool, merge_into: str | None
) -> Snapshot:
    """Return the tree that the options and pre-commit's variables mean; raises UsageError where they mean two."""
    if staged and (revision is not None or merge_into is not None):
        raise UsageError("--staged names git's index, --rev and --merge name commits; choose one")
    pushed = _pushed_commit(environment) if staged else None
    return Snapshot(pushed or revision, staged and pushed is None, merge_into)


def _pushed_commit(environment: Mapping[str, str]) -> str | None:
    """Return the commit that pre-commit's pre-push hook is about; None where a commit is being made."""
    # pre-commit names no commit for a branch whose whole history is new; the remote it names at a push only.
    remote = environment.get("PRE_COMMIT_REMOTE_NAME")
    return environment.get("PRE_COMMIT_TO_REF") or ("HEAD" if remote else None)


def push_target(environment: Mapping[str, str]) -> PushTarget | None:
    """Return where the push at hand goes, as pre-commit or our own hook says; None where nothing is pushed."""
    if _pushed_commit(environment) is None:
        return None
    return PushTarget(environment.get("PRE_COMMIT_REMOTE_NAME") or "origin", environment.get("PRE_COMMIT_FROM_REF"))


def concerns_staged(location: Location, environment: Mapping[str, str], cwd: Path) -> bool:
    """Say whether the commit at hand touches a root; nothing staged counts as a question about everything."""
    repository = location.repository
    if repository is None:
        return True
    changed = list_changed_in_index(repository, index=staged_index(repository, environment, cwd))
    under = f"{location.under}/" if location.under else ""
    return not changed or any(path.startswith(under) for path in changed)
