"""How long ago somebody looked at an entry, and what that makes of it."""

from __future__ import annotations

from datetime import date
from enum import StrEnum

from mdmem.entry.model import Entry, day_of

# The contract names the three words and no days. A month is the rhythm of hygiene, half a year the term of decisions.
CURRENT_UP_TO = 30
RECENT_UP_TO = 180


class Freshness(StrEnum):
    """How fresh an entry is: looked at within the last 30 days, within the last 180, or longer ago."""

    CURRENT = "current"
    RECENT = "recent"
    STALE = "stale"


def freshness_of(age_days: int) -> Freshness:
    """Return the freshness of what was last looked at some days ago."""
    if age_days <= CURRENT_UP_TO:
        return Freshness.CURRENT
    return Freshness.RECENT if age_days <= RECENT_UP_TO else Freshness.STALE


def looked_at(entry: Entry) -> date | None:
    """Return the day of the last verification, else of the creation; None where no date can be read."""
    if "verified_at" in entry.unread:
        return None
    stated = [day_of(moment) for moment in (entry.verified_at, entry.created_at) if moment is not None]
    return max(stated, default=None)


def age_of(entry: Entry, today: date) -> int | None:
    """Return how many days ago somebody looked at an entry, 0 for a day to come; None where no date can be read."""
    day = looked_at(entry)
    return None if day is None else max(0, (today - day).days)
