"""Putting a draft in force, and ending what it supersedes in the same step."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from graphlib import CycleError, TopologicalSorter

from msgspec.structs import replace

from mdmem.checks.approvals import names_the_same
from mdmem.checks.rules.change import APPROVED_TYPES
from mdmem.errors import MdmemError, UsageError
from mdmem.markdown.layout import apply_edits
from mdmem.markdown.parse import parse_document
from mdmem.markdown.patch import set_fields
from mdmem.model.entry import Entry, Status, Wing
from mdmem.store.catalog import Catalog, interpret
from mdmem.store.git.process import identity
from mdmem.store.settings import Settings
from mdmem.store.workspace.addresses import refuse_unread_below, resolve_names
from mdmem.store.workspace.proposals import merged_decisions
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.change_set import ChangeSet, Verb, WriteAction, patched
from mdmem.write.governance import approval, owners_say
from mdmem.write.supersede import ended, refuse_unfilled, refuse_unfit, remarks_on_end
from mdmem.write.write import WriteOptions, WriteResult, catalog_after, write

_PERSON = re.compile(r"[^<>\n]*[^<>\s][^<>\n]*<[^<>\s]+>\Z")


def plan_approval(catalog: Catalog, settings: Settings, address: str, *, person: str, today: date) -> ChangeSet:
    """Return what puts a draft in force in the name of a person, of git's form `Name <email>`.

    One that is active already gets the person's name where none stands behind it, and what it supersedes and nobody
    ended gets its end. Raises LostRaceError
    where another entry supersedes one of those already, and UsageError where the draft or the person cannot be.
    """
    entry = catalog.entries[address]
    if entry.status is Status.ACTIVE:
        return _completed(catalog, settings, entry, person=person, today=today)
    _refuse_status(entry)
    said = _permitted(catalog, settings, entry, person)
    document = catalog.document(entry.path)
    refuse_unfilled(document)
    approved = entry.with_changes(status=Status.ACTIVE)
    olds = _superseded(catalog, approved)
    for old in olds:
        refuse_unfit(catalog, old, approved, instead=_instead(address))
    values = {"status": Status.ACTIVE.value, "approved_by": person}
    # The draft's file comes first, as in a supersession: its claim is what `check --fix` completes.
    changes = (patched(catalog, entry.path, values), *(ended(catalog, one, address, today=today) for one in olds))
    return ChangeSet(
        changes,
        actions=(WriteAction(Verb.APPROVE, address),),
        supersedes=tuple(old.address for old in olds),
        reason=entry.reason,
        remarks=(*said, *(remark for old in olds for remark in remarks_on_end(catalog, old, approved))),
    )


def _instead(address: str) -> str:
    return (
        f"{address} stays a draft: `mdmem supersede {{head}} --by {address} --reason TEXT` puts it behind that one, "
        f"`mdmem deprecate {address} --reason TEXT` gives it up"
    )


def _completed(catalog: Catalog, settings: Settings, entry: Entry, *, person: str, today: date) -> ChangeSet:
    """Return what an active entry lacks: a name, and ends where writing was cut short between two files."""
    alone = (entry.address,)
    olds = [one for one in entry.supersedes if catalog.lineage.said.get(one) == alone]
    changes = tuple(ended(catalog, catalog.entries[one], entry.address, today=today) for one in olds)
    remarks: Sequence[str] = (f"{entry.address} is active already",)
    if _lacks_name(entry, catalog.wings[entry.wing], person):
        remarks = _permitted(catalog, settings, entry, person)
        changes = (patched(catalog, entry.path, {"approved_by": person}), *changes)
    return ChangeSet(changes, actions=(WriteAction(Verb.APPROVE, entry.address),), remarks=tuple(remarks))


def _lacks_name(entry: Entry, wing: Wing, person: str) -> bool:
    """Say whether nobody is known to have approved an entry, or no owner of its wing where an owner does it now."""
    if entry.approved_by is None:
        return "approved_by" not in entry.unread
    return owners_say(wing, person) and not owners_say(wing, entry.approved_by)


def _refuse_status(entry: Entry) -> None:
    if entry.status is Status.UNDER_REVIEW:
        how = f"`mdmem verify {entry.address}` says that it still holds"
        raise UsageError(f"{entry.address} was approved and is under review; {how}")
    if entry.status is Status.DEPRECATED:
        raise UsageError(f"{entry.address} has ended; `mdmem why {entry.address}` says how")


def _permitted(catalog: Catalog, settings: Settings, entry: Entry, person: str) -> Sequence[str]:
    """Return what is to be said about a person's approval; raises UsageError where it does not count."""
    _refuse_nobody(person, "--by")
    if entry.agent is not None and names_the_same(entry.agent, person):
        raise UsageError(f"`{entry.agent}` wrote {entry.address} as an agent; let a person approve it")
    given = approval(settings, catalog.wings[entry.wing], person)
    if not given.allowed:
        raise UsageError(f"{entry.address} is not approved: {given.remark}")
    return (given.remark,) if given.remark else ()


def _refuse_nobody(person: str, option: str) -> None:
    if not _PERSON.match(person):
        raise UsageError(f'`{person}` is no person that can be told; write {option} "Name <email>"')


def stands_behind(catalog: Catalog, settings: Settings, wing: str, person: str) -> Sequence[str]:
    """Return what is to be said where a person stands behind what a wing takes in as decided already.

    Raises UsageError for who is no person of git's form, or may not approve there.
    """
    _refuse_nobody(person, "--approved-by")
    given = approval(settings, catalog.wings.get(wing) or Wing(name=wing), person)
    if not given.allowed:
        raise UsageError(f"nothing is imported: {given.remark}")
    return (given.remark,) if given.remark else ()


def _superseded(catalog: Catalog, entry: Entry) -> list[Entry]:
    for link in entry.supersedes:
        if link not in catalog.entries:
            fact = "cannot be read" if link in catalog.addresses else "does not exist"
            raise UsageError(f"{entry.address} supersedes {link}, which {fact}; mend that first")
    return [catalog.entries[link] for link in dict.fromkeys(entry.supersedes)]


def approve(
    workspace: Workspace, names: Sequence[str], *, by: str | None, options: WriteOptions, merged: bool = False
) -> WriteResult:
    """Put drafts in force and end what they supersede, all of them or none; git says who approves unless somebody does.

    A folder's name stands for the drafts in it; `merged` for the agents' decisions that were merged and not approved,
    all of them or those that the names mean.
    """

    def plan(one: Workspace) -> ChangeSet:
        return _plan_all(one, _merged(one, names) if merged else names, person=by or approver(one))

    return write(workspace, plan, options)


def _plan_all(workspace: Workspace, names: Sequence[str], *, person: str) -> ChangeSet:
    """Return what puts several drafts in force, each planned on what those before it leave.

    Raises what the first one raises that cannot be, with what hinders the others in its notes.
    """
    meant, refused = dict[str, None](), list[MdmemError]()
    for name in names:
        try:
            meant |= dict.fromkeys(_meant(workspace, name))
        except MdmemError as error:
            refused.append(error)
    planned, catalog = ChangeSet(), workspace.catalog
    for address in meant:
        try:
            found = plan_approval(catalog, workspace.settings, address, person=person, today=workspace.today)
        except MdmemError as error:
            refused.append(error)
            continue
        planned = _joined(planned, found) if planned.actions else found
        catalog = catalog_after(workspace, planned.changes) if len(meant) > 1 else catalog
    if refused:
        raise _together(refused, is_several=len(meant) > 1 or len(names) > 1)
    return planned


def _meant(workspace: Workspace, name: str) -> Sequence[str]:
    """Return the address that a name means, or those of the drafts in a folder.

    Raises UsageError without any, and NotFoundError where one of its files cannot be read: it may be a draft.
    """
    found = resolve_names(workspace, [name])
    if not name.endswith("/"):
        return found
    refuse_unread_below(workspace, name)
    drafts = [one for one in found if workspace.catalog.entries[one].status is Status.DRAFT]
    if not drafts:
        raise UsageError(f"no draft waits in {name}")
    return drafts


def _merged(workspace: Workspace, names: Sequence[str]) -> Sequence[str]:
    """Return the decisions that were merged and not approved, among those that names mean; raises UsageError."""
    found = merged_decisions(workspace)
    if names:
        meant = set(resolve_names(workspace, names))
        found = [one for one in found if one in meant]
    if not found:
        raise UsageError("no agent's decision waits here that was merged and not approved")
    # An entry ends what it supersedes, which has to be in force by then.
    entries = workspace.catalog.entries
    sorter = TopologicalSorter({one: [old for old in entries[one].supersedes if old in found] for one in found})
    try:
        return list(sorter.static_order())
    except CycleError as error:
        raise UsageError(
            f"{' and '.join(dict.fromkeys(error.args[1]))} supersede one another; mend that first"
        ) from error


def _joined(one: ChangeSet, other: ChangeSet) -> ChangeSet:
    """Return two change sets as one, of which the other was planned on what the first leaves."""
    changes = {change.path: change for change in one.changes}
    for change in other.changes:
        first = changes.get(change.path)
        changes[change.path] = change if first is None else replace(change, before=first.before)
    return replace(
        one,
        changes=tuple(changes.values()),
        actions=(*one.actions, *other.actions),
        supersedes=(*one.supersedes, *other.supersedes),
        reason="; ".join(dict.fromkeys(filter(None, (one.reason, other.reason)))) or None,
        remarks=tuple(dict.fromkeys((*one.remarks, *other.remarks))),
    )


def _together(refused: Sequence[MdmemError], *, is_several: bool) -> MdmemError:
    error = refused[0]
    for said in list(dict.fromkeys(map(str, refused)))[1:]:
        error.add_note(said)
    if is_several:
        error.add_note("none of them is approved")
    return error


def in_own_name(workspace: Workspace, address: str, text: str) -> str:
    """Return a new entry's text with the name of who writes it, where an owner of its wing puts it in force."""
    document = parse_document(f"{address}.md", text.encode("utf-8", "surrogateescape"))
    entry = interpret(document).entry
    if entry is None or not entry.is_in_force or entry.type not in APPROVED_TYPES or entry.agent:
        return text
    person, wing = _identity(workspace), workspace.catalog.wings.get(entry.wing)
    if person is None or wing is None or not _lacks_name(entry, wing, person) or not owners_say(wing, person):
        return text
    return apply_edits(document.data, set_fields(document, {"approved_by": person})).decode()


def _identity(workspace: Workspace) -> str | None:
    return identity(workspace.location.repository) if workspace.location.repository is not None else None


def approver(workspace: Workspace) -> str:
    """Return who approves here, as git would write it; raises UsageError where git knows nobody."""
    found = _identity(workspace)
    if found is None:
        help_ = 'write --by "Name <email>", or set `user.name` and `user.email` with `git config`'
        raise UsageError(f"git does not know who approves; {help_}")
    return found
