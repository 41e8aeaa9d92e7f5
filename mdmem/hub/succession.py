"""Whether a commit comes after the one that the hub has: it never goes back."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from mdmem.errors import EnvironmentFaultError, UsageError
from mdmem.hub.repositories import HubRepository
from mdmem.store.git import Repository
from mdmem.store.git.ancestry import is_ancestor, leading_to, led_to_any
from mdmem.store.git.errors import UNSHALLOW
from mdmem.store.git.fetch import has_commit
from mdmem.store.git.merge import is_shallow


class Succession(StrEnum):
    """How a commit stands to the one that the hub has."""

    FIRST = "first"
    NEWER = "newer"
    SAME = "same"
    OLDER = "older"
    REWRITTEN = "rewritten"


def succession(cursor: Any, git: Repository, held: HubRepository, commit: str, *, is_rewritten: bool) -> Succession:
    """Return how a commit stands to the one that the hub has, whose place it takes without following if `is_rewritten`.

    Raises UsageError where that would be needed, or where it goes on from what the hub has left, and
    EnvironmentFaultError where too little of the history is here to tell.
    """
    had = held.commit
    if had is None:
        return Succession.FIRST
    if had == commit:
        return Succession.SAME
    if is_ancestor(git, had, commit):
        return Succession.NEWER
    cursor.execute("SELECT commit, is_left FROM push WHERE repository_id = %s", (held.id,))
    pushed = dict(cursor.fetchall())
    if commit in pushed or led_to_any(git, commit, {had, *pushed}):
        return Succession.OLDER
    named = f"`{held.name}` is at {had[:10]} in the hub"
    if is_shallow(git):
        raise EnvironmentFaultError(f"{named}, and the history here is cut off before it; {UNSHALLOW}")
    if leading_to(git, (one for one, is_left in pushed.items() if is_left), commit):
        forget = f"`mdmem hub forget {held.name}` and a push take it all the same"
        raise UsageError(f"{named}; {commit[:10]} goes on from what it was rewritten without; {forget}")
    if not is_rewritten:
        why = (
            "does not follow from it"
            if has_commit(git, had)
            else "is not known to follow from it: it is not in this clone"
        )
        raise UsageError(
            f"{named}, and {commit[:10]} {why}; fetch first, or `--rewritten` if the history was rewritten"
        )
    return Succession.REWRITTEN


def leave_others(cursor: Any, git: Repository, held: HubRepository, commit: str) -> None:
    """Note which of the commits that the hub had do not lead to the one that takes their place."""
    cursor.execute("SELECT DISTINCT commit FROM push WHERE repository_id = %s AND NOT is_left", (held.id,))
    had = {one for (one,) in cursor.fetchall()}
    left = list(had - leading_to(git, had, commit))
    cursor.execute("UPDATE push SET is_left = true WHERE repository_id = %s AND commit = ANY(%s)", (held.id, left))
