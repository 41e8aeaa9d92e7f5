"""Supersede an entry by another entry. If the newer entry is a draft, only its own file gets the link."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from shlex import quote

from msgspec.structs import replace

from mdmem.checks.case import written_links
from mdmem.checks.fixes import ended_fields, fields_of
from mdmem.checks.rules.supersession import supersession_across_types
from mdmem.errors import LostRaceError, UsageError
from mdmem.markdown.layout import apply_edits
from mdmem.markdown.parse import Document, parse_document, without_code
from mdmem.markdown.patch import set_fields
from mdmem.model.entry import Entry, EntryType, Status, Wing, WingKind
from mdmem.model.fields import INHERITED, PLACEHOLDERS
from mdmem.store.catalog.addresses import full_address, interpret
from mdmem.store.catalog.model import Catalog
from mdmem.store.workspace.addresses import resolve_name
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.change_set import Change, ChangeSet, Value, Verb, WriteAction, patched
from mdmem.write.create import Draft, address_of, compose, plan_entry, refuse_taken, require_wing
from mdmem.write.write import catalog_after

_SHOWN = 5


def join_addresses(addresses: Sequence[str]) -> str:
    """Return addresses as part of a sentence. Only the first five are listed."""
    shown, more = addresses[:_SHOWN], len(addresses) - _SHOWN
    last = f"{more} more" if more > 0 else shown[-1]
    first = shown if more > 0 else shown[:-1]
    return f"{', '.join(first)} and {last}" if first else last


def refuse_unfilled(document: Document) -> None:
    """Raise UsageError if an entry still contains a placeholder of its template."""
    body = without_code(document.body)
    left = next((one for one in sorted(PLACEHOLDERS) if f"<{one}>" in body), None)
    if left is not None:
        address = document.path.removesuffix(".md")
        raise UsageError(f"{address} cannot be active yet: replace the template's `<{left}>`")


def refuse_unfit(catalog: Catalog, old: Entry, new: Entry, *, instead: str) -> None:
    """Raise UsageError if an entry cannot supersede another, and LostRaceError if a third one already does.

    `instead` is the advice in that case; its `{head}` becomes the address of the third entry.
    """
    lineage = catalog.lineage
    if old.address == new.address:
        raise UsageError(f"{old.address} cannot supersede itself")
    if new.address in {*old.supersedes, *lineage.linked_ancestors(old.address)}:
        raise UsageError(f"{old.address} supersedes {new.address}, so {new.address} cannot supersede {old.address}")
    if new.status is Status.DEPRECATED:
        raise UsageError(
            f"{new.address} is deprecated, so it cannot supersede anything; `mdmem why {quote(new.address)}` shows why"
        )
    if new.address in lineage.successors:
        newer = join_addresses(lineage.heads(new.address) or lineage.successors[new.address])
        raise UsageError(f"{new.address} is superseded, too; use {newer} instead")
    if old.status is new.status is Status.DRAFT:
        choice = f"type `mdmem edit {quote(old.address)}` or `mdmem deprecate {quote(old.address)} --reason TEXT`"
        raise UsageError(f"{old.address} is a draft, and a draft can supersede only current entries; {choice}")
    own, other = (catalog.wings.get(one.wing, Wing(name=one.wing)) for one in (new, old))
    if other.is_shared and not own.is_shared:
        help_ = f"write `overrides: {old.address}` and a `reason` into {new.address}"
        raise UsageError(f"{old.address} applies to other projects, too; to replace it only in {own.name}, {help_}")
    if own.name != other.name and (other.is_shared or not own.is_shared):
        hint = f"put the new entry into {other.name}" + ("" if other.is_shared else ", or into a shared wing")
        raise UsageError(f"{old.address} is in another wing; {hint}")
    is_lost = old.type is EntryType.INVARIANT and new.type is not EntryType.INVARIANT
    if is_lost and supersession_across_types.code not in dict(new.ignore):
        meant = f"or write `ignore: {{{supersession_across_types.code}: REASON}}` into it"
        raise UsageError(
            f"a {new.type} cannot replace the invariant {old.address}; make the new entry an invariant, {meant}"
        )
    others = [address for address in lineage.successors.get(old.address, ()) if address != new.address]
    if not others:
        if one_sided := [one for one in lineage.claimed_by(old.address) if one != new.address]:
            advice = instead.replace("{head}", quote(one_sided[0]))
            raise LostRaceError(f"`supersedes` of {join_addresses(one_sided)} already contains {old.address}; {advice}")
        return
    if new.address in lineage.descendants(old.address):
        raise UsageError(
            f"{new.address} supersedes {old.address} already, through {join_addresses(others)}; nothing has to be done"
        )
    heads = [head for head in lineage.heads(old.address) if head not in (old.address, new.address)]
    if not heads:
        raise UsageError(
            f"{old.address} was superseded by {join_addresses(others)}, which is deprecated now; supersede the latter"
        )
    advice = instead.replace("{head}", quote(heads[0]))
    raise LostRaceError(f"{old.address} is superseded by {join_addresses(heads)} already; {advice}")


def patch_superseded(catalog: Catalog, old: Entry, new: str, *, today: date) -> Change:
    """Return the change that deprecates an entry and links the entry at `new` as a successor."""
    links = [*written_links(catalog.document(old.path), "superseded_by"), new]
    return patched(catalog, old.path, ended_fields(old, today, by=() if new in old.superseded_by else links))


def plan_supersession(workspace: Workspace, name: str, *, by: str, reason: str) -> ChangeSet:
    """Return the changes by which the entry `by` supersedes another; its own reason counts if none is given."""
    catalog, address, by = workspace.catalog, resolve_name(workspace, name), resolve_name(workspace, by)
    old, new = catalog.entries[address], catalog.entries[by]
    why = required_reason(reason if reason.strip() else new.reason or "", "say why it is superseded")
    instead = f"nothing was written: `mdmem supersede {{head}} --by {quote(by)} --reason TEXT` replaces {{head}}"
    refuse_unfit(catalog, old, new, instead=instead)
    document = catalog.document(new.path)
    links, given = _links_with(catalog, document, address), fields_of(document).get("reason")
    values: dict[str, Value] = {"supersedes": links, **({} if given else {"reason": why})}
    remarks = []
    if given and given != why:
        remarks.append(f"{new.address} keeps its own reason: {new.reason or 'one that cannot be read'}")
    if passed := [link for link in written_links(document, "supersedes") if link not in links]:
        remarks.append(f"{new.address} no longer lists {join_addresses(passed)}, which {old.address} replaced")
    change = patched(catalog, new.path, values)
    change_set = _superseding(catalog, [old], new, change=change, reason=why, today=workspace.today)
    return replace(change_set, remarks=(*remarks, *change_set.remarks))


def _superseding(
    catalog: Catalog, olds: Sequence[Entry], new: Entry, *, change: Change, reason: str, today: date
) -> ChangeSet:
    """Return a complete supersession, including the change of the newer entry's file. A draft deprecates nothing."""
    if new.status is Status.DRAFT:
        action = WriteAction(Verb.ADD if change.before is None else Verb.UPDATE, new.address)
        until = (f"{old.address} stays as it is until `mdmem approve {quote(new.address)}`" for old in olds)
        return ChangeSet((change,), actions=(action,), reason=reason, remarks=tuple(until))
    # Write the newer file first. After a crash, `check --fix` can complete the one-sided supersession.
    return ChangeSet(
        (change, *(patch_superseded(catalog, old, new.address, today=today) for old in olds)),
        actions=tuple(WriteAction(Verb.SUPERSEDE, old.address, new.address) for old in olds),
        supersedes=tuple(old.address for old in olds),
        reason=reason,
    )


def required_reason(reason: str, request: str) -> str:
    """Return a reason on one line. Raises UsageError, with a request such as `say why`, if it is empty."""
    if not reason.strip():
        raise UsageError(f"{request}: --reason TEXT")
    return " ".join(reason.split())


def inherited_fields(old: Entry, type_: EntryType) -> dict[str, Value]:
    """Return the fields that a new entry copies from an older one, such as `applies_to`, to apply to the same files."""
    # A label is valid only for its type.
    names = (name for name in INHERITED if name != "label" or old.type is type_)
    return {name: value for name in names if (value := getattr(old, name))}


def _links_with(catalog: Catalog, document: Document, old: str) -> list[str]:
    """Return the `supersedes` links of a newer entry with one more link, in the form in which its file writes them.

    Ancestors of the older entry are left out, unless the newer entry superseded them itself. So a draft that another
    entry overtook can come after that entry.
    """
    near = document.path.removesuffix(".md")
    passed = {one for one in catalog.lineage.ancestors(old) if near not in catalog.entries[one].superseded_by}
    meant = {link: full_address(link, near, catalog.addresses) for link in written_links(document, "supersedes")}
    kept = [link for link, address in meant.items() if address not in passed]
    return kept if old in meant.values() else [*kept, old]


_INSTEAD = (
    "nothing was written: replace that one with `mdmem supersede {head} --title TEXT --reason TEXT`, "
    "or add to it with `mdmem edit {head}`"
)


def new_text(
    workspace: Workspace,
    draft: Draft,
    *,
    today: date,
    wing: WingKind | None = None,
    old: str | None = None,
    reason: str = "",
) -> tuple[str, str]:
    """Return address and text of a new entry, for a person to edit; it may supersede `old`.

    A successor copies the fields of `inherited_fields`, except `applies_to` if the draft has its own, and `owner`
    if it is active at once. Raises the errors of `plan_new` that can be found before the text is edited.
    """
    address = address_of(draft)
    catalog = catalog_after(workspace, require_wing(workspace, address, wing))
    if address == old:
        raise UsageError(
            f"the new entry would have the address of the old one, {old}; give it another --title or --place"
        )
    refuse_taken(workspace, address)
    if old is None:
        return address, compose(draft, today=today)
    entry, why = catalog.entries[old], required_reason(reason, "say why it is superseded")
    meant = Entry(address=address, type=draft.type, status=draft.status, title=draft.title)
    refuse_unfit(catalog, entry, meant, instead=_INSTEAD)
    inherited = inherited_fields(entry, draft.type)
    if draft.status is Status.ACTIVE:
        # Nobody else has seen the text of a new active entry, so do not name the older owner as responsible for it.
        inherited.pop("owner", None)
    return address, compose(draft, today=today, inherited={**inherited, "supersedes": [old], "reason": why})


def plan_new(
    workspace: Workspace,
    address: str,
    text: str,
    *,
    old: str | None = None,
    reason: str = "",
    wing: WingKind | None = None,
) -> ChangeSet:
    """Return the changes that write a new entry that supersedes the entry named `old`, and all others that it lists.

    With `wing`, a missing wing of this kind is made, too. Without `old`, the entry supersedes nothing. Raises
    LostRaceError if one of the others is already superseded, or if the address is taken. Raises UsageError if the text
    cannot be parsed, or if the new entry may not replace them.
    """
    replaced = resolve_name(workspace, old) if old is not None else None
    planned = plan_entry(workspace, address, text, wing=wing)
    if replaced is None:
        return planned
    *made, created = planned.changes
    catalog, why = catalog_after(workspace, made), required_reason(reason, "say why it is superseded")
    document = parse_document(created.to, created.after or b"")
    status = fields_of(document).get("status")
    if status not in (Status.DRAFT.value, Status.ACTIVE.value):
        raise UsageError(f"a new entry starts as `draft` or `active`, not as `{status}`")
    if status == Status.ACTIVE.value:
        refuse_unfilled(document)
    values: dict[str, Value] = {"supersedes": _links_with(catalog, document, replaced)}
    if not fields_of(document).get("reason"):
        values["reason"] = why
    document = parse_document(document.path, apply_edits(document.data, set_fields(document, values)))
    entry = interpret(document).entry
    if entry is None:
        raise UsageError(
            f"{address} cannot be parsed once mdmem adds `supersedes`; write `supersedes` into the text yourself"
        )
    links = (full_address(one, address, catalog.addresses) for one in written_links(document, "supersedes"))
    olds = [catalog.entries[link] for link in dict.fromkeys(links) if link is not None and link in catalog.entries]
    for one in olds:
        refuse_unfit(catalog, one, entry, instead=_INSTEAD)
    change = Change(entry.path, entry.path, None, document.data)
    change_set = _superseding(catalog, olds, entry, change=change, reason=why, today=workspace.today)
    return replace(change_set, changes=(*made, *change_set.changes))
