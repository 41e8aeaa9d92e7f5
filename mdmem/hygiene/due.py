"""When hygiene was last done, and whether it is due again."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from mdmem.entry.model import Wing, day_of

if TYPE_CHECKING:
    from mdmem.catalog import Catalog
    from mdmem.state.times import Times

# The contract: 30 days without hygiene make it due.
DUE_AFTER_DAYS = 30


def last_hygiene(wing: Wing, times: Times) -> date | None:
    """Return the day of the last full run over a wing: the later of what its manifest and the state say."""
    stated = (wing.last_hygiene_at, times.last(wing.name))
    return max((day_of(moment) for moment in stated if moment is not None), default=None)


def hygiene_due(catalog: Catalog, name: str, times: Times, *, today: date) -> bool:
    """Say whether a wing was without hygiene for 30 days, of which the first is that of its oldest entry."""
    last = last_hygiene(catalog.wings[name], times)
    start = last if last is not None else _began(catalog, name)
    return start is not None and (today - start).days >= DUE_AFTER_DAYS


def _began(catalog: Catalog, name: str) -> date | None:
    """Return the day of a wing's oldest entry, None for a wing without any; one without a date may be of any age."""
    moments = [entry.created_at for entry in catalog.entries.values() if entry.wing == name]
    return min((day_of(moment) if moment is not None else date.min for moment in moments), default=None)
