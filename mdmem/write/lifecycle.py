"""Approve, verify, edit and deprecate entries, and put an entry under review."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta
from graphlib import CycleError, TopologicalSorter
from shlex import quote

from msgspec.structs import replace

from mdmem.checks.case import Case
from mdmem.checks.engine import mark_new
from mdmem.checks.fixes import deprecation_fields, fields_of, supersede_command
from mdmem.checks.rules.change import names_the_same
from mdmem.checks.rules.links import is_outside
from mdmem.checks.run import CheckRequest, check
from mdmem.errors import GitError, LostRaceError, MdmemError, NotFoundError, UsageError
from mdmem.markdown.layout import apply_edits
from mdmem.markdown.parse import parse_document
from mdmem.markdown.patch import set_fields
from mdmem.model.entry import REVIEW_REASON, Entry, Status, Wing, WingKind, age_of, day_of
from mdmem.model.finding import Finding, Severity
from mdmem.store.catalog.addresses import load_entry
from mdmem.store.catalog.model import Catalog
from mdmem.store.git.process import UnknownRevisionError, identity
from mdmem.store.settings import Settings
from mdmem.store.tree import Tree, TreeView
from mdmem.store.workspace.addresses import from_root, refuse_unread_below, resolve_name, resolve_names
from mdmem.store.workspace.location import Snapshot
from mdmem.store.workspace.proposals import merged_decisions
from mdmem.store.workspace.workspace import Workspace, refuse_remote
from mdmem.write.change_set import Change, ChangeSet, Value, Verb, WriteAction, patched
from mdmem.write.create import (
    join_addresses,
    patch_superseded,
    refuse_unfilled,
    refuse_unfit,
    require_wing,
    required_reason,
)
from mdmem.write.write import WriteOptions, WriteResult, catalog_after, first_fault, write

_PERSON = re.compile(r"[^<>\n]*[^<>\s][^<>\n]*<[^<>\s]+>\Z")


def _plan_approval(catalog: Catalog, settings: Settings, address: str, *, person: str, today: date) -> ChangeSet:
    """Return the changes that approve a draft in the name of a person, `Name <email>`.

    An active entry gets a missing approval, and its one-sided supersessions are completed. Raises UsageError, and
    LostRaceError if another entry already supersedes one of the same entries.
    """
    entry = catalog.entries[address]
    actions = (WriteAction(Verb.APPROVE, address),)
    if entry.status is Status.ACTIVE:
        olds = [one for one in entry.supersedes if catalog.lineage.linked_successors.get(one) == (address,)]
        changes = [patch_superseded(catalog, catalog.entries[one], address, today=today) for one in olds]
        remarks: Sequence[str] = (f"{address} is active already",)
        if _lacks_approval(entry, catalog.wings[entry.wing], person):
            remarks = _permitted(catalog, settings, entry, person)
            changes.insert(0, patched(catalog, entry.path, {"approved_by": person}))
        return ChangeSet(tuple(changes), actions=actions, remarks=tuple(remarks))
    if entry.status is Status.UNDER_REVIEW:
        raise UsageError(f"{address} was approved and is under review; `mdmem verify {quote(address)}` ends the review")
    _refuse_deprecated(entry)
    if newer := catalog.lineage.successors.get(address):
        reject = f"`mdmem deprecate {quote(address)} --reason TEXT` rejects the draft"
        raise UsageError(f"{address} is superseded by {join_addresses(newer)}; {reject}")
    remarks = _permitted(catalog, settings, entry, person)
    refuse_unfilled(catalog.document(entry.path))
    links, case = dict.fromkeys(entry.supersedes), Case(catalog, settings, today)
    replaced = [catalog.entries[link] for link in links if link in catalog.entries]
    unknown = (link for link in links if link not in catalog.entries)
    if missing := next((link for link in unknown if not is_outside(case, "supersedes", link, address)), None):
        exists = missing in catalog.addresses
        fact = "cannot be read; repair that file first" if exists else "does not exist; correct `supersedes` first"
        raise UsageError(f"{address} supersedes {missing}, which {fact}")
    instead = (
        f"{address} stays a draft: `{supersede_command('{head}', entry)}` makes the "
        f"draft the successor of {{head}}, `mdmem deprecate {quote(address)} --reason TEXT` rejects the draft"
    )
    for old in replaced:
        refuse_unfit(catalog, old, replace(entry, status=Status.ACTIVE), instead=instead)
    # Write the draft's file first. After a crash, `check --fix` can complete the one-sided supersession.
    ends = (patch_superseded(catalog, one, address, today=today) for one in replaced)
    values: dict[str, Value] = {"status": Status.ACTIVE.value, "approved_by": person}
    # The approval confirms a draft that was written on an earlier day.
    values |= {"verified_at": today.isoformat()} if age_of(entry, today) else {}
    return ChangeSet(
        (patched(catalog, entry.path, values), *ends),
        actions=actions,
        supersedes=tuple(old.address for old in replaced),
        reason=entry.reason,
        remarks=tuple(remarks),
    )


def _lacks_approval(entry: Entry, wing: Wing, person: str) -> bool:
    """Return whether an entry lacks an approval: by an owner of the wing if `person` is one, else by anybody."""
    if entry.approved_by is None:
        return "approved_by" not in entry.unread
    return is_owner(wing, person) and not is_owner(wing, entry.approved_by)


def _permitted(catalog: Catalog, settings: Settings, entry: Entry, person: str) -> Sequence[str]:
    """Return a remark about a person's approval, if any. Raises UsageError if the person may not approve."""
    if entry.agent is not None and names_the_same(entry.agent, person):
        raise UsageError(f"the agent `{entry.agent}` wrote {entry.address} and cannot approve it; let a person do it")
    refused = f"{entry.address} is not approved"
    return approval_remarks(settings, catalog.wings[entry.wing], person, option="--by", refused=refused)


def approval_remarks(settings: Settings, wing: Wing, person: str, *, option: str, refused: str) -> Sequence[str]:
    """Return a remark if a person who approves entries is no owner of the wing. Raises UsageError if that is forbidden.

    `option` is the option that takes the person, and `refused` is the beginning of the message.
    """
    if not _PERSON.match(person):
        raise UsageError(f'`{person}` does not name a person; write {option} "Name <email>"')
    if is_owner(wing, person):
        return ()
    # The manifest of the wing may be the file that cannot be parsed.
    remark = f"the wing `{wing.name}` has no owner; write `owners` into {wing.name}/README.md"
    if wing.owners:
        owners = f"its owner{'s are' if len(wing.owners) > 1 else ' is'} {', '.join(f'`{one}`' for one in wing.owners)}"
        remark = f"`{person}` is not an owner of the wing `{wing.name}`; {owners}"
    if settings.approvals != "say":
        raise UsageError(f"{refused}: {remark}")
    return (remark,)


def is_owner(wing: Wing, person: str) -> bool:
    """Return whether a person is an owner of a wing: with the same whole text, name or email."""
    return any(names_the_same(person, owner) for owner in wing.owners)


def plan_approvals(
    workspace: Workspace, names: Sequence[str], *, by: str | None, merged: bool = False, active: bool = False
) -> ChangeSet:
    """Return the changes that approve drafts, all of them or none. The default person is git's user.

    The name of a folder means its drafts. With `merged`, the changes approve the agents' decisions that were merged
    unapproved; with `active`, the active rules that nobody approved. Then no name means the whole memory. Raises the
    first error, with the other errors in its notes.
    """
    person, meant, refused = by or approver(workspace), dict[str, None](), list[MdmemError]()
    if merged or active:
        meant = dict.fromkeys(_unapproved(workspace, names, merged=merged))
    for name in () if merged or active else names:
        try:
            named = resolve_names(workspace, [name])
            if name.endswith("/"):
                refuse_unread_below(workspace, name)
                named = tuple(one for one in named if workspace.catalog.entries[one].status is Status.DRAFT)
            if not named:
                hint = f"`mdmem approve --active {quote(name)}` approves its active rules"
                raise UsageError(f"there is no draft in {name}; {hint}")
            meant |= dict.fromkeys(named)
        except MdmemError as error:
            refused.append(error)
    plans, changes, claimed, catalog = list[ChangeSet](), dict[str, Change](), dict[str, str](), workspace.catalog
    for address in meant:
        # Each approval is planned on the result of the previous ones.
        try:
            found = _plan_approval(catalog, workspace.settings, address, person=person, today=workspace.today)
        except MdmemError as error:
            # Only this plan approves the first of two drafts, so nothing supersedes the older entry yet.
            old = next((one for one in workspace.catalog.entries[address].supersedes if one in claimed), None)
            if isinstance(error, LostRaceError) and old is not None:
                error = LostRaceError(f"{claimed[old]} and {address} both supersede {old}; approve one of them")
            refused.append(error)
            continue
        plans.append(found)
        claimed |= dict.fromkeys(found.supersedes, address)
        changes |= {one.path: replace(one, before=changes.get(one.path, one).before) for one in found.changes}
        catalog = catalog_after(workspace, tuple(changes.values())) if len(meant) > 1 else catalog
    if refused:
        for message in list(dict.fromkeys(map(str, refused)))[1:]:
            refused[0].add_note(message)
        if max(len(meant), len(names)) > 1:
            refused[0].add_note("none of them is approved")
        raise refused[0]
    return ChangeSet(
        tuple(changes.values()),
        actions=tuple(one for plan in plans for one in plan.actions),
        supersedes=tuple(one for plan in plans for one in plan.supersedes),
        reason="; ".join(dict.fromkeys(plan.reason for plan in plans if plan.reason)) or None,
        remarks=tuple(dict.fromkeys(one for plan in plans for one in plan.remarks)),
    )


def _unapproved(workspace: Workspace, names: Sequence[str], *, merged: bool) -> Sequence[str]:
    """Return the current active invariants and decisions that nobody approved, or the merged ones of agents.

    An entry whose `owner` is an owner of the wing counts as approved, as for the check `approved-by-nobody`. A merged
    decision comes after those that it supersedes. Raises UsageError if there are none.
    """
    catalog, entries = workspace.catalog, workspace.catalog.entries
    for name in names:
        if name.endswith("/"):
            refuse_unread_below(workspace, name)
    local = (one for one in entries if one.split("/")[0] not in catalog.fetched_wings)
    meant = dict.fromkeys(resolve_names(workspace, names) if names else sorted(local))
    if merged:
        found = [one for one in merged_decisions(workspace) if one in meant]
        sorter = TopologicalSorter({one: [old for old in entries[one].supersedes if old in found] for one in found})
        # Two drafts that supersede each other are refused later.
        with suppress(CycleError):
            found = list(sorter.static_order())
    else:
        found = [
            one.address
            for one in (entries[address] for address in meant)
            if one.type.is_rule and one.status is Status.ACTIVE and catalog.lineage.is_current(one.address)
            if one.approved_by is None and "approved_by" not in one.unread
            if not (one.owner and is_owner(catalog.wings[one.wing], one.owner))
        ]
    if not found:
        none = "no merged decision of an agent lacks approval here"
        raise UsageError(none if merged else "every active invariant and decision here is approved")
    return found


def with_own_approval(workspace: Workspace, address: str, text: str, new_wing: WingKind | None = None) -> str:
    """Return the text of a new entry. If its writer is an owner of the wing and makes it active, add the approval."""
    document = parse_document(f"{address}.md", text.encode("utf-8", "surrogateescape"))
    entry = load_entry(document).entry
    if entry is None or not entry.is_in_force or not entry.type.is_rule or entry.agent:
        return text
    try:
        person, made = approver(workspace), require_wing(workspace, address, new_wing)
    except UsageError:
        return text
    wing = catalog_after(workspace, made).wings.get(entry.wing)
    if wing is None or not _lacks_approval(entry, wing, person) or not is_owner(wing, person):
        return text
    return apply_edits(document.data, set_fields(document, {"approved_by": person})).decode()


def approver(workspace: Workspace) -> str:
    """Return git's user as `Name <email>`. Raises UsageError if git has no user."""
    repository = workspace.location.repository
    found = identity(repository) if repository is not None else None
    if found is None:
        help_ = 'write --by "Name <email>", or set `user.name` and `user.email` with `git config`'
        raise UsageError(f"git does not know who approves; {help_}")
    return found


def plan_verification(workspace: Workspace, names: Sequence[str], *, at: date | None = None) -> ChangeSet:
    """Return the changes that verify entries on a day (default: today) and end their reviews.

    The name of a folder means its current entries; the remarks list the others. Raises UsageError if no entry is
    current, if an entry given by its own name is not, or if one was created or verified later.
    """
    catalog, day = workspace.catalog, at or workspace.today
    rooms = resolve_names(workspace, [name for name in names if name.endswith("/")])
    addresses = dict.fromkeys(resolve_names(workspace, [name for name in names if not name.endswith("/")]))
    if day > workspace.today:
        raise UsageError(f"{day} is in the future; give the day on which the entry was verified with --at")
    for address in addresses:
        _refuse_not_current(catalog, address)
    others = [one for one in rooms if not catalog.lineage.is_current(one)]
    addresses |= dict.fromkeys(one for one in rooms if one not in others)
    if not addresses:
        raise UsageError(f"there is nothing to verify, since none of these entries is current: {join_addresses(rooms)}")
    remarks = [f"left out, not current: {join_addresses(others)}"] if others else []
    for entry in (catalog.entries[address] for address in addresses):
        verified, created = entry.verified_at, entry.created_at
        if verified is not None and day_of(verified) > day:
            raise UsageError(f"{entry.address} was verified later already, on {day_of(verified)}; nothing was changed")
        # In the time zone of `created_at`, it may have been the next day already.
        slack = timedelta(days=1) if isinstance(created, datetime) else timedelta(0)
        if created is not None and day_of(created) - day > slack:
            after = f"{entry.address} was created on {day_of(created)}, after {day}"
            raise UsageError(f"{after}; --at cannot be earlier")
        if entry.expires_at and day_of(entry.expires_at) < day:
            remarks.append(f"{entry.address} still counts as under review: its `expires_at` has passed")
    values: dict[str, Value] = {"verified_at": day.isoformat(), "status": Status.ACTIVE.value, REVIEW_REASON: None}
    return ChangeSet(
        tuple(patched(catalog, f"{address}.md", values) for address in addresses),
        actions=tuple(WriteAction(Verb.VERIFY, address) for address in addresses),
        remarks=tuple(remarks),
    )


def _refuse_not_current(catalog: Catalog, address: str) -> None:
    entry = catalog.entries[address]
    if entry.status is Status.DRAFT:
        raise UsageError(f"{address} is a draft; `mdmem approve {quote(address)}` makes it active")
    _refuse_deprecated(entry)
    if not catalog.lineage.is_current(address):
        newer = join_addresses(catalog.lineage.heads(address))
        raise UsageError(f"{address} is superseded by {newer}; use the newer entry")


def _refuse_deprecated(entry: Entry) -> None:
    if entry.status is Status.DEPRECATED:
        raise UsageError(f"{entry.address} is deprecated; `mdmem why {quote(entry.address)}` shows its history")


def plan_review(workspace: Workspace, name: str, *, reason: str) -> ChangeSet:
    """Return the change that puts an entry under review because of a doubt. It still applies until the review ends.

    The doubt is stored in a field of its own, because `reason` says why the entry supersedes another. Raises UsageError
    if the entry is not current, if the doubt is empty, or if the entry is under review because of another doubt.
    """
    catalog, address = workspace.catalog, resolve_name(workspace, name)
    entry, why = catalog.entries[address], required_reason(reason, "say what is in doubt")
    _refuse_not_current(catalog, address)
    doubt = fields_of(catalog.document(entry.path)).get(REVIEW_REASON)
    done = f"`mdmem doubt {quote(address)} --done`"
    if entry.status is Status.UNDER_REVIEW and doubt not in (None, why):
        raise UsageError(f"{address} is under review already: {doubt}; {done} ends the review")
    until = f"{done} confirms it, or `mdmem deprecate {quote(address)} --reason TEXT` deprecates it"
    return ChangeSet(
        (patched(catalog, entry.path, {"status": Status.UNDER_REVIEW.value, REVIEW_REASON: why}),),
        actions=(WriteAction(Verb.REVIEW, address),),
        reason=why,
        remarks=(f"{address} still applies, shown as uncertain, until {until}",),
    )


def plan_deprecation(workspace: Workspace, name: str, *, reason: str) -> ChangeSet:
    """Return the change that deprecates an entry; raises UsageError if it is deprecated or superseded."""
    catalog, address = workspace.catalog, resolve_name(workspace, name)
    entry, why = catalog.entries[address], required_reason(reason, "say why it is deprecated")
    _refuse_deprecated(entry)
    if heads := [head for head in catalog.lineage.heads(address) if head != address]:
        help_ = "`mdmem check --unsafe-fixes` writes the fields that it lacks"
        raise UsageError(f"{address} is superseded by {join_addresses(heads)} already; {help_}")
    values = deprecation_fields(entry, workspace.today) | {"deprecated_reason": why}
    change, action = patched(catalog, entry.path, values), WriteAction(Verb.DEPRECATE, address)
    return ChangeSet((change,), actions=(action,), reason=why)


def open_entry(workspace: Workspace, name: str) -> tuple[str, bytes]:
    """Return address and bytes of an entry, parsable or not. Raises NotFoundError, and UsageError for other files."""
    plain = from_root(workspace, name)
    if plain not in workspace.catalog.addresses and workspace.bytes_of(f"{plain}.md") is not None:
        raise UsageError(f"{plain}.md is not an entry; edit it with your own editor, then run `mdmem check`")
    address = plain if f"{plain}.md" in workspace.catalog.broken else resolve_name(workspace, name)
    refuse_remote(workspace, address.split("/", 1)[0])
    content = workspace.bytes_of(f"{address}.md")
    if content is None:
        raise NotFoundError(f"{address}.md is not a readable regular file; replace it, or make it readable")
    return address, content


def save_edit(
    workspace: Workspace, address: str, before: bytes, content: bytes, *, is_editorial: bool, options: WriteOptions
) -> WriteResult:
    """Write an edited text; `is_editorial` marks a change of wording only. Raises UsageError for a new error in it."""

    path = f"{address}.md"

    def errors(tree: Tree) -> list[Finding]:
        found = check(workspace.over(tree), CheckRequest()).findings
        return [one for one in found if one.place.path == path and one.severity is Severity.ERROR]

    after = TreeView(workspace.tree, changed={path: content})
    if faults := [one for one in mark_new(errors(after), errors(workspace.tree)) if one.new]:
        raise UsageError(f"nothing was written: {first_fault(faults)}")
    if is_editorial and content == before:
        # The mark is about an earlier change, unless that is committed.
        with suppress(GitError, UnknownRevisionError):
            is_editorial = workspace.at(Snapshot(revision="HEAD")).bytes_of(path) != before
    if is_editorial:
        document = parse_document(path, content)
        content = apply_edits(content, set_fields(document, {"editorial_at": workspace.today.isoformat()}))
    change_set = ChangeSet((Change(path, path, before, content),), actions=(WriteAction(Verb.EDIT, address),))
    return write(workspace, lambda _: change_set, options)


def plan_applies_to(workspace: Workspace, names: Sequence[str], globs: Sequence[str]) -> ChangeSet:
    """Return the changes that set the globs of `applies_to`."""
    meant = resolve_names(workspace, names)
    return ChangeSet(
        tuple(patched(workspace.catalog, f"{one}.md", {"applies_to": globs}) for one in meant),
        actions=tuple(WriteAction(Verb.EDIT, one) for one in meant),
    )
