"""Saying that entries still hold: the day of it, and the end of a review."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta

from mdmem.authoring.citing import listed
from mdmem.authoring.intent import Intent
from mdmem.authoring.message import Deed, Verb
from mdmem.authoring.patching import Value, patched
from mdmem.authoring.plan import Plan
from mdmem.catalog import Catalog
from mdmem.entry.model import Entry, Status, day_of
from mdmem.errors import UsageError

# What is in doubt, in the words of whoever asked for the review; the key goes when the review ends.
REVIEW_REASON = "x-review-reason"
WAYS_OUT = (
    "`mdmem verify {0}` says that it still holds, `mdmem supersede {0}` or `mdmem deprecate {0}` that it does not"
)


def verify(catalog: Catalog, addresses: Sequence[str], *, at: date | None, today: date) -> Intent:
    """Return what says of entries that they held on a day, today unless another is stated.

    What is under review becomes active again. Raises UsageError where one of them does not hold, or cannot have been
    verified on that day.
    """
    day = at or today
    if day > today:
        raise UsageError(f"{day} lies ahead; --at takes the day on which it was verified")
    return confirm(catalog, addresses, at=day)


def confirm(catalog: Catalog, addresses: Sequence[str], *, at: date) -> Intent:
    """Return what gives entries a day of verification and takes them out of review; raises UsageError."""
    for address in addresses:
        refuse_not_in_force(catalog, address)
        _refuse_day(catalog.entries[address], at)
    entries = [catalog.entries[address] for address in addresses]
    values: dict[str, Value] = {"verified_at": at.isoformat(), "status": Status.ACTIVE.value, REVIEW_REASON: None}
    return Intent(
        plan=Plan(tuple(patched(catalog, entry.path, values) for entry in entries)),
        deeds=tuple(Deed(Verb.VERIFY, address) for address in addresses),
        remarks=tuple(_on_expiry(entry) for entry in entries if entry.expires_at and day_of(entry.expires_at) < at),
    )


def refuse_not_in_force(catalog: Catalog, address: str) -> None:
    """Raise UsageError for an entry that does not hold now: a draft, an ended or a superseded one."""
    entry = catalog.entries[address]
    if entry.status is Status.DRAFT:
        raise UsageError(f"{address} is a draft and binds nobody yet; `mdmem approve {address}` puts it in force")
    if entry.status is Status.DEPRECATED:
        raise UsageError(f"{address} has ended; `mdmem why {address}` says how")
    if not catalog.lineage.is_current(address):
        raise UsageError(f"{address} is superseded by {listed(catalog.lineage.heads(address))}; name that instead")


def _refuse_day(entry: Entry, at: date) -> None:
    if entry.verified_at is not None and day_of(entry.verified_at) > at:
        raise UsageError(f"{entry.address} was verified later already, on {day_of(entry.verified_at)}")
    # A time of creation may be of a zone in which it was the next day.
    slack = timedelta(days=1) if isinstance(entry.created_at, datetime) else timedelta(0)
    if entry.created_at is not None and day_of(entry.created_at) - at > slack:
        raise UsageError(
            f"{entry.address} was created on {day_of(entry.created_at)}, after {at}; --at cannot be earlier"
        )


def _on_expiry(entry: Entry) -> str:
    return f"{entry.address} still counts as under review: its `expires_at` has passed"
