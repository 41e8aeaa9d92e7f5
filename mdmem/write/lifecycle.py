"""Saying that entries still hold, doubting one that does, and ending one that nothing replaces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta

from msgspec.structs import replace

from mdmem.checks.fixes.base import REVIEW_REASON, fields_of
from mdmem.errors import UsageError
from mdmem.model.entry import Entry, Status, day_of
from mdmem.store.catalog import Catalog
from mdmem.store.workspace.addresses import resolve_name, resolve_names
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.change_set import ChangeSet, Value, Verb, WriteAction, patched
from mdmem.write.supersede import cited_by, drafts_for, listed
from mdmem.write.write import WriteOptions, WriteResult, write


def plan_verification(
    catalog: Catalog, addresses: Sequence[str], *, at: date | None, today: date, rooms: Sequence[str] = ()
) -> ChangeSet:
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
    change_set = confirm(catalog, list(dict.fromkeys((*addresses, *held))), at=day)
    left_out = _left_out(catalog, [one for one in rooms if one not in held])
    return replace(change_set, remarks=(*left_out, *change_set.remarks))


def _is_in_force(catalog: Catalog, address: str) -> bool:
    is_stated = catalog.entries[address].status in (Status.ACTIVE, Status.UNDER_REVIEW)
    return is_stated and catalog.lineage.is_current(address)


def _left_out(catalog: Catalog, addresses: Sequence[str]) -> Iterator[str]:
    drafts = [one for one in addresses if catalog.entries[one].status is Status.DRAFT]
    if drafts:
        yield f"left out, drafts: {listed(drafts)}"
    if ended := [one for one in addresses if one not in drafts]:
        yield f"left out, no longer in force: {listed(ended)}"


def confirm(catalog: Catalog, addresses: Sequence[str], *, at: date) -> ChangeSet:
    """Return what gives entries a day of verification and takes them out of review; raises UsageError."""
    for address in addresses:
        refuse_not_in_force(catalog, address)
        _refuse_day(catalog.entries[address], at)
    entries = [catalog.entries[address] for address in addresses]
    values: dict[str, Value] = {"verified_at": at.isoformat(), "status": Status.ACTIVE.value, REVIEW_REASON: None}
    return ChangeSet(
        tuple(patched(catalog, entry.path, values) for entry in entries),
        actions=tuple(WriteAction(Verb.VERIFY, address) for address in addresses),
        remarks=tuple(
            f"{entry.address} still counts as under review: its `expires_at` has passed"
            for entry in entries
            if entry.expires_at and day_of(entry.expires_at) < at
        ),
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


_UNTIL = "until `mdmem doubt {0} --done` confirms it, or `mdmem deprecate {0} --reason TEXT` ends it"


def plan_review(catalog: Catalog, address: str, *, reason: str) -> ChangeSet:
    """Return what puts an entry under review, with the doubt beside it; it binds until the review has ended.

    The doubt is kept under a key of its own: `reason` says why the entry supersedes another, and stays. Raises
    UsageError for an entry that does not hold, for no reason, and for one that is doubted for another reason.
    """
    entry, why = catalog.entries[address], " ".join(reason.split())
    if not why:
        raise UsageError("say what is in doubt: --reason TEXT")
    refuse_not_in_force(catalog, address)
    doubt = fields_of(catalog.document(entry.path)).get(REVIEW_REASON)
    if entry.status is Status.UNDER_REVIEW and doubt not in (None, why):
        how = f"`mdmem doubt {address} --done` ends that"
        raise UsageError(f"{address} is under review already: {doubt}; {how}")
    values: dict[str, Value] = {"status": Status.UNDER_REVIEW.value, REVIEW_REASON: why}
    return ChangeSet(
        (patched(catalog, entry.path, values),),
        actions=(WriteAction(Verb.REVIEW, address),),
        reason=why,
        remarks=(f"{address} binds on, shown as uncertain, {_UNTIL.format(address)}",),
    )


def plan_end_of_review(catalog: Catalog, address: str, *, today: date) -> ChangeSet:
    """Return what confirms an entry that is under review; raises UsageError for one that is not."""
    if catalog.entries[address].status is not Status.UNDER_REVIEW:
        raise UsageError(f"{address} is not under review: it is {catalog.entries[address].status}")
    return confirm(catalog, [address], at=today)


def plan_deprecation(
    catalog: Catalog, address: str, *, reason: str, today: date, with_remarks: bool = True
) -> ChangeSet:
    """Return what ends an entry with a reason; raises UsageError for one that ended already and for no reason.

    Its remarks read every body of the memory.
    """
    entry = catalog.entries[address]
    if not reason.strip():
        raise UsageError("say why the entry ends: --reason TEXT")
    if entry.status is Status.DEPRECATED:
        raise UsageError(f"{address} has ended already; `mdmem why {address}` says how")
    if heads := [head for head in catalog.lineage.heads(address) if head != address]:
        help_ = "`mdmem check --unsafe-fixes` writes what is missing"
        raise UsageError(f"{address} is superseded by {listed(heads)}; {help_}")
    values: dict[str, Value] = {
        "status": Status.DEPRECATED.value,
        "deprecated_at": today.isoformat(),
        "deprecated_reason": reason.strip(),
        REVIEW_REASON: None,
    }
    return ChangeSet(
        (patched(catalog, entry.path, values),),
        actions=(WriteAction(Verb.DEPRECATE, address),),
        reason=reason.strip(),
        remarks=tuple(_remarks(catalog, entry)) if with_remarks else (),
    )


def _remarks(catalog: Catalog, entry: Entry) -> Iterator[str]:
    if entry.status is Status.DRAFT and entry.supersedes:
        yield f"{listed(entry.supersedes)} stays as it is"
    if before := catalog.lineage.predecessors.get(entry.address):
        yield f"nothing holds in the place of {listed(before)} any more"
    if drafts := drafts_for(catalog, entry.address):
        yield f"{listed(drafts)} would have superseded it, and can still be approved"
    if citing := cited_by(catalog, entry.address):
        yield f"{entry.address} is still cited by {listed(citing)}"


def review(workspace: Workspace, name: str, *, reason: str, options: WriteOptions) -> WriteResult:
    """Put an entry under review."""
    return write(workspace, lambda one: plan_review(one.catalog, resolve_name(one, name), reason=reason), options)


def end_review(workspace: Workspace, name: str, *, options: WriteOptions) -> WriteResult:
    """Confirm an entry that is under review."""

    def plan(one: Workspace) -> ChangeSet:
        return plan_end_of_review(one.catalog, resolve_name(one, name), today=one.today)

    return write(workspace, plan, options)


def verify(workspace: Workspace, names: Sequence[str], *, at: date | None, options: WriteOptions) -> WriteResult:
    """Say of entries that they hold, all of them or none; of a folder's entries those that are in force."""

    def plan(one: Workspace) -> ChangeSet:
        addresses = resolve_names(one, [name for name in names if not name.endswith("/")])
        rooms = resolve_names(one, [name for name in names if name.endswith("/")])
        return plan_verification(one.catalog, addresses, at=at, today=one.today, rooms=rooms)

    return write(workspace, plan, options)


def deprecate(workspace: Workspace, name: str, *, reason: str, options: WriteOptions) -> WriteResult:
    """End an entry that nothing replaces."""

    def plan(one: Workspace) -> ChangeSet:
        return plan_deprecation(one.catalog, resolve_name(one, name), reason=reason, today=one.today)

    return write(workspace, plan, options)
