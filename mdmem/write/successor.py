"""Writing a new entry in the place of an older one."""

from __future__ import annotations

from datetime import date

from msgspec.structs import replace

from mdmem.checks.case import written_links
from mdmem.checks.fixes.base import fields_of
from mdmem.errors import LostRaceError, UsageError, taken
from mdmem.markdown.layout import apply_edits
from mdmem.markdown.parse import Document, parse_document
from mdmem.markdown.patch import set_fields
from mdmem.model.entry import Entry, Status, WingKind
from mdmem.store.catalog import Catalog, full_address, interpret
from mdmem.store.workspace.addresses import resolve_name
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.approve import refuse_unfilled
from mdmem.write.change_set import Change, ChangeSet
from mdmem.write.create import Draft, address_of, compose, create
from mdmem.write.patch import Value
from mdmem.write.place import require_wing
from mdmem.write.supersede import inherited, links_with, refuse_unfit, stated, superseding
from mdmem.write.write import WriteOptions, WriteResult, catalog_after, write

_INSTEAD = (
    "nothing was written: replace that one with `mdmem supersede {head} --title TEXT --reason TEXT`, "
    "or add to it with `mdmem edit {head}`"
)


def successor_text(catalog: Catalog, address: str, draft: Draft, *, reason: str, today: date) -> tuple[str, str]:
    """Return the address and the text of the entry that is to supersede another, for somebody to edit or to keep.

    It is about the same code and for the same people as the older one, unless the draft says of which files it is.
    Raises what `plan_succession` raises, so far as it can be told by then.
    """
    old, why = catalog.entries[address], stated(reason)
    new = address_of(draft)
    if new == address:
        raise UsageError(f"{address} is the older entry's own name; give the new one another --title or --place")
    _refuse_taken(catalog, new)
    meant = Entry(address=new, type=draft.type, status=draft.status, title=draft.title)
    refuse_unfit(catalog, old, meant, instead=_INSTEAD)
    document = _parsed(new, compose(draft, today=today))
    taken_over = inherited(old, draft.type)
    if draft.applies_to:
        taken_over.pop("applies_to", None)
    if draft.status is Status.ACTIVE:
        # Its owner would stand behind a text that binds at once and that nobody else has seen.
        taken_over.pop("owner", None)
    document = parse_document(document.path, apply_edits(document.data, set_fields(document, taken_over)))
    return new, _linked(catalog, document, address, why).decode()


def plan_succession(catalog: Catalog, address: str, *, new: str, text: str, reason: str, today: date) -> ChangeSet:
    """Return what writes a new entry in the place of an older one, and of all others that its text supersedes.

    Raises LostRaceError where one of them is superseded already, or the address is taken, and UsageError for a text
    that cannot be read or may not replace them.
    """
    why = stated(reason)
    _refuse_taken(catalog, new)
    document = _parsed(new, text)
    _refuse_start(document)
    linked = parse_document(document.path, _linked(catalog, document, address, why))
    entry, olds = interpret(linked).entry, _superseded(catalog, linked)
    if entry is None:
        raise UsageError(f"{new} cannot be read with `supersedes` in it; write it there yourself")
    for old in olds:
        refuse_unfit(catalog, old, entry, instead=_INSTEAD)
    change = Change(entry.path, entry.path, None, linked.data)
    return superseding(catalog, olds, entry, change=change, reason=why, today=today)


def _refuse_taken(catalog: Catalog, address: str) -> None:
    if address in catalog.addresses:
        raise LostRaceError(taken(address))


def _parsed(address: str, text: str) -> Document:
    """Return the document of a text; raises UsageError for one that is no entry."""
    (change,) = create(address, text).changes
    return parse_document(change.to, change.after or b"")


def _linked(catalog: Catalog, document: Document, old: str, reason: str) -> bytes:
    """Return the bytes of a new entry with its link to the older one, and the reason unless it gives one."""
    values: dict[str, Value] = {"supersedes": links_with(catalog, document, old)}
    if not fields_of(document).get("reason"):
        values["reason"] = reason
    return apply_edits(document.data, set_fields(document, values))


def _refuse_start(document: Document) -> None:
    """Raise UsageError for a status that no new entry has, and for an active one that is not written yet."""
    status = fields_of(document).get("status")
    if status not in (Status.DRAFT.value, Status.ACTIVE.value):
        raise UsageError(f"a new entry starts as `draft` or `active`, not as `{status}`")
    if status == Status.ACTIVE.value:
        refuse_unfilled(document)


def _superseded(catalog: Catalog, document: Document) -> list[Entry]:
    near = document.path.removesuffix(".md")
    links = [full_address(link, near, catalog.addresses) for link in written_links(document, "supersedes")]
    return [catalog.entries[link] for link in dict.fromkeys(links) if link is not None and link in catalog.entries]


def compose_successor(
    workspace: Workspace, name: str, draft: Draft, *, reason: str, beside: tuple[Change, ...] = ()
) -> tuple[str, str]:
    """Return address and text of an entry that is to supersede another, before it is edited; nothing is written.

    `beside` is what will be written with it, such as the manifest of its wing.
    """
    old = resolve_name(workspace, name)
    return successor_text(_with(workspace, beside), old, draft, reason=reason, today=workspace.today)


def _with(workspace: Workspace, beside: tuple[Change, ...]) -> Catalog:
    return catalog_after(workspace, beside) if beside else workspace.catalog


def supersede_with(
    workspace: Workspace,
    name: str,
    new: str,
    text: str,
    *,
    reason: str,
    options: WriteOptions,
    wing: WingKind | None = None,
) -> WriteResult:
    """Write a new entry in the place of another; a wing of the kind `wing` is made unless it is there by then."""

    def plan(one: Workspace) -> ChangeSet:
        old = resolve_name(one, name)
        made = require_wing(one, new, wing) if wing is not None else ()
        change_set = plan_succession(_with(one, made), old, new=new, text=text, reason=reason, today=one.today)
        return replace(change_set, changes=(*made, *change_set.changes))

    return write(workspace, plan, options)
