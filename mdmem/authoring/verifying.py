"""Saying that entries still hold: the day of it, and the end of a review."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
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


def verify(
    catalog: Catalog, addresses: Sequence[str], *, at: date | None, today: date, rooms: Sequence[str] = ()
) -> Intent:
    """Return what says of entries that they held on a day, today unless another is stated.

    What is under review becomes active again. `rooms` are entries that are meant as parts of a folder: those of them
    that do not hold are left out. Raises UsageError where one of the others does not hold, where nothing does, or one
    cannot have been verified on that day.
    """
    day = at or today
    if day > today:
        raise UsageError(f"{day} lies ahead; --at takes the day on which it was verified")
    held = [one for one in rooms if _is_in_force(catalog, one)]
    if not (addresses or held):
        raise UsageError(f"nothing is in force there: {listed(rooms)}")
    intent = confirm(catalog, list(dict.fromkeys((*addresses, *held))), at=day)
    return replace(intent, remarks=(*_left_out(catalog, [one for one in rooms if one not in held]), *intent.remarks))


def _is_in_force(catalog: Catalog, address: str) -> bool:
    is_stated = catalog.entries[address].status in (Status.ACTIVE, Status.UNDER_REVIEW)
    return is_stated and catalog.lineage.is_current(address)


def _left_out(catalog: Catalog, addresses: Sequence[str]) -> Iterator[str]:
    drafts = [one for one in addresses if catalog.entries[one].status is Status.DRAFT]
    if drafts:
        yield f"left out, drafts: {listed(drafts)}"
    if ended := [one for one in addresses if one not in drafts]:
        yield f"left out, no longer in force: {listed(ended)}"


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
