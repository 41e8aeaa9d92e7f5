"""When hygiene was last done, and whether it is due again."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from mdmem.entry.model import Wing, day_of

if TYPE_CHECKING:
    from mdmem.state.times import Times

# The contract: 30 days without hygiene make it due.
DUE_AFTER_DAYS = 30


def last_hygiene(wing: Wing, times: Times) -> date | None:
    """Return the day of the last full run over a wing: the later of what its manifest and the state say."""
    stated = (wing.last_hygiene_at, times.last(wing.name))
    return max((day_of(moment) for moment in stated if moment is not None), default=None)


def hygiene_due(wing: Wing, times: Times, today: date) -> bool:
    """Say whether a wing had no hygiene for 30 days, or never."""
    last = last_hygiene(wing, times)
    return last is None or (today - last).days >= DUE_AFTER_DAYS
