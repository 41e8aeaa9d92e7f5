"""What people do to entries, as edits over both ends: put one in force or in the place of another, doubt it, end it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from lsprotocol import types

from mdmem.errors import MdmemError
from mdmem.lsp.place import EditorPage, is_here
from mdmem.lsp.spots import SpotKind
from mdmem.lsp.workspace_edit import proved_edit
from mdmem.model.entry import Entry, Status
from mdmem.model.templates import REASON
from mdmem.write.approve import approver, plan_approval
from mdmem.write.change_set import ChangeSet
from mdmem.write.create import Draft
from mdmem.write.lifecycle import plan_deprecation, plan_review, plan_verification
from mdmem.write.supersede import plan_succession, plan_supersession, successor_text


class Deed(NamedTuple):
    """Something that can be done to an entry: what an editor shows of it, and the plan of it."""

    title: str
    plan: Callable[[], ChangeSet]


def lifecycle_actions(page: EditorPage, position: types.Position) -> Iterator[types.CodeAction]:
    """Yield what can be done to the entry of a file, and to the one that is named at a place of it.

    Each is planned and proved before it is offered, and a reason that only a person can give is left to be filled in:
    until it is, a check says so.
    """
    for deed in _deeds(page, position):
        try:
            edit = proved_edit(page.session, deed.plan())
        except MdmemError:
            continue
        if edit is not None:
            yield types.CodeAction(deed.title, types.CodeActionKind.Refactor, edit=edit)


def _deeds(page: EditorPage, position: types.Position) -> Iterator[Deed]:
    entry, spot = page.entry, page.spot(position)
    if entry is None or not is_here(page.session, entry.address):
        return
    named = page.meant(spot) if spot is not None and spot.kind is SpotKind.ADDRESS else None
    if named is not None and named != entry.address:
        yield Deed(f"Supersede {named}", lambda: supersession(page, named, by=entry.address))
    if entry.status is Status.DRAFT:
        yield Deed("Approve this draft", lambda: approval(page, entry.address))
    elif entry.is_in_force:
        yield Deed("Verify: it holds today", lambda: verification(page, entry.address))
        yield Deed("Put under review", lambda: doubt(page, entry.address))
        yield Deed("Supersede with a new draft", lambda: succession(page, entry))
    yield Deed("Deprecate", lambda: deprecation(page, entry.address, with_remarks=False))


def approval(page: EditorPage, address: str) -> ChangeSet:
    """Return what puts a draft in force in the name of who commits here."""
    workspace = page.session.workspace
    person = page.session.disk.once(approver)
    return plan_approval(workspace.catalog, workspace.settings, address, person=person, today=workspace.today)


def verification(page: EditorPage, address: str) -> ChangeSet:
    """Return what says that an entry holds today."""
    return plan_verification(page.session.catalog, [address], at=None, today=page.session.today())


def doubt(page: EditorPage, address: str, reason: str = REASON) -> ChangeSet:
    """Return what puts an entry under review."""
    return plan_review(page.session.catalog, address, reason=reason)


def deprecation(page: EditorPage, address: str, reason: str = REASON, *, with_remarks: bool = True) -> ChangeSet:
    """Return what ends an entry that nothing replaces."""
    today = page.session.today()
    return plan_deprecation(page.session.catalog, address, reason=reason, today=today, with_remarks=with_remarks)


def supersession(page: EditorPage, address: str, *, by: str, reason: str = REASON) -> ChangeSet:
    """Return what puts an entry in the place of another."""
    return plan_supersession(page.session.catalog, address, by=by, reason=reason, today=page.session.today())


def succession(page: EditorPage, entry: Entry, title: str = "", reason: str = REASON) -> ChangeSet:
    """Return what makes a draft that is to supersede an entry, from the template of its type, beside it."""
    catalog, today = page.session.catalog, page.session.today()
    place = f"{entry.wing}/{entry.room}" if title else _free_address(page, entry.address)
    draft = Draft(type=entry.type, place=place, title=title or entry.title)
    new, text = successor_text(catalog, entry.address, draft, reason=reason, today=today)
    return plan_succession(catalog, entry.address, new=new, text=text, reason=reason, today=today)


def _free_address(page: EditorPage, address: str) -> str:
    numbered = (f"{address}-{number}" for number in range(2, len(page.session.catalog.addresses) + 3))
    return next(one for one in numbered if one not in page.session.catalog.addresses)
