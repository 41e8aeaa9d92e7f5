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


def plan_verification(workspace: Workspace, names: Sequence[str], *, at: date | None = None) -> ChangeSet:
    """Return the changes that verify entries on a day (default: today) and end their reviews.

    The name of a folder means its current entries. Raises UsageError if another entry is not current, if no entry is
    current, or if an entry cannot have been verified on that day.
    """
    catalog, today = workspace.catalog, workspace.today
    addresses = resolve_names(workspace, [name for name in names if not name.endswith("/")])
    rooms = resolve_names(workspace, [name for name in names if name.endswith("/")])
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


def plan_review(workspace: Workspace, name: str, *, reason: str) -> ChangeSet:
    """Return the change that puts an entry under review because of a doubt. It still applies until the review ends.

    The doubt is stored in its own key, because `reason` says why the entry supersedes another. Raises UsageError if the
    entry is not current, if the doubt is empty, or if the entry is under review because of another doubt.
    """
    catalog, address = workspace.catalog, resolve_name(workspace, name)
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


def plan_review_end(workspace: Workspace, name: str) -> ChangeSet:
    """Return the change that confirms an entry under review. Raises UsageError if it is not under review."""
    address = resolve_name(workspace, name)
    status = workspace.catalog.entries[address].status
    if status is not Status.UNDER_REVIEW:
        raise UsageError(f"{address} is not under review: it is {status}")
    return _confirmed(workspace.catalog, [address], at=workspace.today)


def plan_deprecation(workspace: Workspace, name: str, *, reason: str) -> ChangeSet:
    """Return the change that deprecates an entry. Raises UsageError if it is deprecated, or without a reason."""
    catalog, address = workspace.catalog, resolve_name(workspace, name)
    entry = catalog.entries[address]
    if not reason.strip():
        raise UsageError("say why it is deprecated: --reason TEXT")
    if entry.status is Status.DEPRECATED:
        raise UsageError(f"{address} is deprecated already; `mdmem why {address}` shows its history")
    if heads := [head for head in catalog.lineage.heads(address) if head != address]:
        help_ = "`mdmem check --unsafe-fixes` writes what is missing"
        raise UsageError(f"{address} is superseded by {join_addresses(heads)}; {help_}")
    values: dict[str, Value] = {
        "status": Status.DEPRECATED.value,
        "deprecated_at": workspace.today.isoformat(),
        "deprecated_reason": reason.strip(),
        REVIEW_REASON: None,
    }
    change, action = patched(catalog, entry.path, values), WriteAction(Verb.DEPRECATE, address)
    return ChangeSet((change,), actions=(action,), reason=reason.strip())
