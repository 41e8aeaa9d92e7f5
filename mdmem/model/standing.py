"""How an entry stands to the default branch: what is agreed upon, and what is only proposed."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from msgspec import Struct


class Standing(StrEnum):
    """Whether an entry is the one of the default branch.

    A merged one is an agent's decision there that nobody approved; an outdated one is older than the branch's.
    """

    BINDING = "binding"
    PROPOSED = "proposed"
    UNCOMMITTED = "uncommitted"
    MERGED = "merged"
    OUTDATED = "outdated"

    @property
    def is_proposal(self) -> bool:
        """Say whether the default branch has not seen it."""
        return self in (Standing.PROPOSED, Standing.UNCOMMITTED)

    @property
    def is_unapproved(self) -> bool:
        """Say whether nobody agreed to it yet: it is a proposal, or was merged and not approved."""
        return self.is_proposal or self is Standing.MERGED


class Stance(Struct, frozen=True):
    """The standing of one entry, with who proposed it in which commit; `note` says what that would do.

    `amended_by` are the proposals that would amend what binds.
    """

    standing: Standing
    author: str | None = None
    commit: str | None = None
    note: str = ""
    amended_by: tuple[str, ...] = ()

    @property
    def mark(self) -> str:
        """Return the standing in a few words, with who proposed it; empty for what is binding."""
        match self.standing:
            case Standing.BINDING:
                return ""
            case Standing.PROPOSED if self.commit:
                return f"proposed by {self.author} in {self.commit}"
            case Standing.MERGED:
                return "merged, not approved"
        return self.standing.value

    def as_json(self) -> dict[str, Any]:
        """Return the standing as JSON values, with who proposed it and what that would do."""
        stated: dict[str, Any] = {"standing": self.standing.value}
        if self.commit:
            stated["proposed_by"] = {"author": self.author, "commit": self.commit}
        if self.note:
            stated["standing_note"] = self.note
        return stated


BINDING = Stance(Standing.BINDING)


def marked(stance: Stance | None) -> list[str]:
    """Return the words that mark what is not binding, for a list of marks; none where that is not known."""
    return [stance.mark] if stance is not None and stance.mark else []


def standing_json(stance: Stance | None, *, in_force: bool = True) -> dict[str, Any]:
    """Return the keys that tell a standing; none where it is not known, or of what binds nobody wherever it stands."""
    if stance is None or (stance.standing is Standing.BINDING and not in_force):
        return {}
    return stance.as_json()
