"""Verify entries, put an entry under review, and deprecate an entry that nothing replaces."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta

from msgspec.structs import replace

from mdmem.checks.fixes import REVIEW_REASON, fields_of
from mdmem.errors import UsageError
from mdmem.model.entry import Status, day_of
from mdmem.store.catalog.model import Catalog
from mdmem.store.workspace.addresses import resolve_name, resolve_names
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.change_set import ChangeSet, Value, Verb, WriteAction, patched
from mdmem.write.supersede import join_addresses
from mdmem.write.write import WriteOptions, WriteResult, write


def plan_verification(
    catalog: Catalog, addresses: Sequence[str], *, at: date | None, today: date, rooms: Sequence[str] = ()
) -> ChangeSet:
    """Return the changes that verify entries on a day (default: today) and end their reviews.

    `rooms` are the entries from folders. Those that are not current are left out. Raises UsageError if another entry is
    not current, if no entry is current, or if an entry cannot have been verified on that day.
    """
    day = at or today
    if day > today:
        raise UsageError(f"{day} is in the future; --at takes the day on which the entry was verified")
    valid = (Status.ACTIVE, Status.UNDER_REVIEW)
    current = [one for one in rooms if catalog.entries[one].status in valid and catalog.lineage.is_current(one)]
    if not (addresses or current):
        raise UsageError(f"none of these entries is current: {join_addresses(rooms)}")
    change_set = _confirmed(catalog, list(dict.fromkeys((*addresses, *current))), at=day)
    drafts = [one for one in rooms if catalog.entries[one].status is Status.DRAFT]
    others = [one for one in rooms if one not in drafts and one not in current]
    left_out = [
        f"left out, {why}: {join_addresses(some)}"
        for why, some in (("drafts", drafts), ("not current", others))
        if some
    ]
    return replace(change_set, remarks=(*left_out, *change_set.remarks))


def _confirmed(catalog: Catalog, addresses: Sequence[str], *, at: date) -> ChangeSet:
    for address in addresses:
        _refuse_not_current(catalog, address)
        verified, created = catalog.entries[address].verified_at, catalog.entries[address].created_at
        if verified is not None and day_of(verified) > at:
            raise UsageError(f"{address} was verified later already, on {day_of(verified)}")
        # In the time zone of `created_at`, it may have been the next day already.
        slack = timedelta(days=1) if isinstance(created, datetime) else timedelta(0)
        if created is not None and day_of(created) - at > slack:
            after = f"{address} was created on {day_of(created)}, after {at}"
            raise UsageError(f"{after}; --at cannot be earlier")
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


def _refuse_not_current(catalog: Catalog, address: str) -> None:
    """Raise UsageError for a draft, a deprecated entry or a superseded entry."""
    entry = catalog.entries[address]
    if entry.status is Status.DRAFT:
        raise UsageError(f"{address} is a draft; `mdmem approve {address}` makes it active")
    if entry.status is Status.DEPRECATED:
        raise UsageError(f"{address} is deprecated; `mdmem why {address}` shows its history")
    if not catalog.lineage.is_current(address):
        raise UsageError(
            f"{address} is superseded by {join_addresses(catalog.lineage.heads(address))}; name that instead"
        )


def plan_review(catalog: Catalog, address: str, *, reason: str) -> ChangeSet:
    """Return the change that puts an entry under review because of a doubt. It still applies until the review ends.

    The doubt is stored in its own key, because `reason` says why the entry supersedes another. Raises UsageError if the
    entry is not current, if the doubt is empty, or if the entry is under review because of another doubt.
    """
    entry, why = catalog.entries[address], " ".join(reason.split())
    if not why:
        raise UsageError("say what is in doubt: --reason TEXT")
    _refuse_not_current(catalog, address)
    doubt = fields_of(catalog.document(entry.path)).get(REVIEW_REASON)
    if entry.status is Status.UNDER_REVIEW and doubt not in (None, why):
        how = f"`mdmem doubt {address} --done` ends that"
        raise UsageError(f"{address} is under review already: {doubt}; {how}")
    until = f"`mdmem doubt {address} --done` confirms it, or `mdmem deprecate {address} --reason TEXT` deprecates it"
    return ChangeSet(
        (patched(catalog, entry.path, {"status": Status.UNDER_REVIEW.value, REVIEW_REASON: why}),),
        actions=(WriteAction(Verb.REVIEW, address),),
        reason=why,
        remarks=(f"{address} still applies, shown as uncertain, until {until}",),
    )


def plan_deprecation(catalog: Catalog, address: str, *, reason: str, today: date) -> ChangeSet:
    """Return the change that deprecates an entry. Raises UsageError if it is deprecated, or without a reason."""
    entry, lineage = catalog.entries[address], catalog.lineage
    if not reason.strip():
        raise UsageError("say why it is deprecated: --reason TEXT")
    if entry.status is Status.DEPRECATED:
        raise UsageError(f"{address} is deprecated already; `mdmem why {address}` shows its history")
    if heads := [head for head in lineage.heads(address) if head != address]:
        help_ = "`mdmem check --unsafe-fixes` writes what is missing"
        raise UsageError(f"{address} is superseded by {join_addresses(heads)}; {help_}")
    values: dict[str, Value] = {
        "status": Status.DEPRECATED.value,
        "deprecated_at": today.isoformat(),
        "deprecated_reason": reason.strip(),
        REVIEW_REASON: None,
    }
    return ChangeSet(
        (patched(catalog, entry.path, values),), actions=(WriteAction(Verb.DEPRECATE, address),), reason=reason.strip()
    )


def verify(workspace: Workspace, names: Sequence[str], *, at: date | None, options: WriteOptions) -> WriteResult:
    """Verify entries, all of them or none. The name of a folder means its current entries."""

    def plan(one: Workspace) -> ChangeSet:
        addresses = resolve_names(one, [name for name in names if not name.endswith("/")])
        rooms = resolve_names(one, [name for name in names if name.endswith("/")])
        return plan_verification(one.catalog, addresses, at=at, today=one.today, rooms=rooms)

    return write(workspace, plan, options)


def review(workspace: Workspace, name: str, *, reason: str, options: WriteOptions) -> WriteResult:
    """Put an entry under review."""
    return write(workspace, lambda one: plan_review(one.catalog, resolve_name(one, name), reason=reason), options)


def end_review(workspace: Workspace, name: str, *, options: WriteOptions) -> WriteResult:
    """Confirm an entry that is under review. Raises UsageError if the entry is not under review."""

    def plan(one: Workspace) -> ChangeSet:
        address = resolve_name(one, name)
        status = one.catalog.entries[address].status
        if status is not Status.UNDER_REVIEW:
            raise UsageError(f"{address} is not under review: it is {status}")
        return _confirmed(one.catalog, [address], at=one.today)

    return write(workspace, plan, options)


def deprecate(workspace: Workspace, name: str, *, reason: str, options: WriteOptions) -> WriteResult:
    """Deprecate an entry that nothing replaces."""

    def plan(one: Workspace) -> ChangeSet:
        return plan_deprecation(one.catalog, resolve_name(one, name), reason=reason, today=one.today)

    return write(workspace, plan, options)
