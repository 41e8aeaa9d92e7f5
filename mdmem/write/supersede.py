"""Putting one entry in the place of another: both ends at once, or the newer end alone while that one is a draft."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date

from msgspec.structs import replace

from mdmem.checks.case import written_links
from mdmem.checks.fixes.base import REVIEW_REASON, fields_of
from mdmem.checks.rules.supersession import supersession_across_types
from mdmem.errors import LostRaceError, UsageError
from mdmem.markdown.parse import Document
from mdmem.model.entry import Entry, EntryType, Status, Wing
from mdmem.model.fields import INHERITED
from mdmem.store.catalog import Catalog, full_address
from mdmem.store.workspace.addresses import resolve_name
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.change_set import Change, ChangeSet
from mdmem.write.citations import cited_by, listed
from mdmem.write.message import Verb, WriteAction
from mdmem.write.patch import Value, patched
from mdmem.write.write import WriteOptions, WriteResult, write


def refuse_unfit(catalog: Catalog, old: Entry, new: Entry, *, instead: str) -> None:
    """Raise where an entry cannot supersede another.

    LostRaceError where a third one does already: it says which, and what to do `instead`, in which `{head}` stands for
    its address. UsageError for all the rest.
    """
    _refuse_ends(catalog, old, new)
    _refuse_across_wings(catalog, old, new)
    _refuse_loss_of_invariant(old, new)
    _refuse_second(catalog, old, new, instead)


def _refuse_ends(catalog: Catalog, old: Entry, new: Entry) -> None:
    if old.address == new.address:
        raise UsageError(f"{old.address} cannot supersede itself")
    if new.address in {*old.supersedes, *catalog.lineage.said_before(old.address)}:
        raise UsageError(f"{old.address} supersedes {new.address}, so it cannot be superseded by it")
    if new.status is Status.DEPRECATED:
        raise UsageError(f"{new.address} has ended, so it cannot replace anything; `mdmem why {new.address}` says how")
    if new.address in catalog.lineage.successors:
        heads = listed(catalog.lineage.heads(new.address) or catalog.lineage.successors[new.address])
        raise UsageError(f"{new.address} is superseded itself; name {heads}")
    if old.status is new.status is Status.DRAFT:
        choice = f"`mdmem edit {old.address}`, or `mdmem deprecate {old.address} --reason TEXT`"
        raise UsageError(f"{old.address} is a draft, and a draft replaces nothing but what is in force; {choice}")


def _refuse_across_wings(catalog: Catalog, old: Entry, new: Entry) -> None:
    own, other = (catalog.wings.get(one.wing, Wing(name=one.wing)) for one in (new, old))
    if own.name == other.name or (own.is_shared and not other.is_shared):
        return
    if other.is_shared and not own.is_shared:
        help_ = f"write `overrides: {old.address}` with a `reason` in {new.address}"
        raise UsageError(f"{old.address} binds other projects, too, so {own.name} overrides it; {help_}")
    raise UsageError(f"{old.address} is of another wing; supersede it from within {other.name}, or from a shared wing")


def _refuse_loss_of_invariant(old: Entry, new: Entry) -> None:
    is_lost = old.type is EntryType.INVARIANT and new.type is not EntryType.INVARIANT
    if is_lost and supersession_across_types.code not in dict(new.ignore):
        meant = f"or `ignore: {{{supersession_across_types.code}: <why it may weigh less>}}`"
        raise UsageError(f"a {new.type} would take the place of the invariant {old.address}; make it one, {meant}")


def _refuse_second(catalog: Catalog, old: Entry, new: Entry, instead: str) -> None:
    lineage = catalog.lineage
    others = [address for address in lineage.successors.get(old.address, ()) if address != new.address]
    if not others:
        if claiming := [one for one in lineage.claimed_by(old.address) if one != new.address]:
            raise LostRaceError(
                f"{listed(claiming)} claims to supersede {old.address} already; {instead.format(head=claiming[0])}"
            )
        return
    if new.address in lineage.descendants(old.address):
        raise UsageError(f"{new.address} supersedes {old.address} already, by way of {listed(others)}")
    heads = [head for head in lineage.heads(old.address) if head not in (old.address, new.address)]
    if not heads:
        raise UsageError(f"{old.address} was superseded by {listed(others)}, which ended; supersede that instead")
    raise LostRaceError(f"{old.address} is superseded by {listed(heads)} already; {instead.format(head=heads[0])}")


def ended(catalog: Catalog, old: Entry, new: str, *, today: date) -> Change:
    """Return the change that ends an entry in favour of another; nothing changes where it says so already."""
    values: dict[str, Value] = {}
    if new not in old.superseded_by:
        values["superseded_by"] = [*written_links(catalog.document(old.path), "superseded_by"), new]
    if old.status is not Status.DEPRECATED:
        values |= {"status": Status.DEPRECATED.value, "deprecated_at": today.isoformat(), REVIEW_REASON: None}
    return patched(catalog, old.path, values)


def remarks_on_end(catalog: Catalog, old: Entry, new: Entry) -> Iterator[str]:
    """Yield what people should know when an entry gives way to another."""
    if old.status is Status.DEPRECATED and old.address not in catalog.lineage.successors:
        yield f"{old.address} had ended before"
    if old.status is Status.DRAFT:
        yield f"{old.address} was a draft: nothing that was in force has ended"
    if new.type.rank > old.type.rank:
        yield f"a {new.type} weighs less than the {old.type} it replaces"
    if drafts := drafts_for(catalog, old.address, but=new.address):
        yield f"{listed(drafts)} would supersede {old.address}, too, and cannot be approved as it stands"
    if citing := cited_by(catalog, old.address, but=new.address):
        yield f"{old.address} is still cited by {listed(citing)}"


def drafts_for(catalog: Catalog, address: str, *, but: str = "") -> tuple[str, ...]:
    """Return the drafts that are to supersede an entry, sorted."""
    drafts = (one for one in catalog.entries.values() if one.status is Status.DRAFT and one.address != but)
    return tuple(sorted(one.address for one in drafts if address in one.supersedes))


def plan_supersession(catalog: Catalog, address: str, *, by: str, reason: str, today: date) -> ChangeSet:
    """Return what puts one entry in the place of another.

    A draft takes the place only when it is approved. Without a reason that of the newer entry counts. Raises
    LostRaceError where a third entry supersedes the older one already, and UsageError where the newer one cannot.
    """
    old, new = catalog.entries[address], catalog.entries[by]
    why = stated(reason if reason.strip() else new.reason or "")
    instead = f"nothing was written: `mdmem supersede {{head}} --by {by} --reason TEXT` replaces that one"
    refuse_unfit(catalog, old, new, instead=instead)
    document = catalog.document(new.path)
    values: dict[str, Value] = {"supersedes": links_with(catalog, document, address)}
    if not fields_of(document).get("reason"):
        values["reason"] = why
    change_set = superseding(catalog, [old], new, change=patched(catalog, new.path, values), reason=why, today=today)
    return replace(change_set, remarks=(*_remarks(catalog, old, new, why), *change_set.remarks))


def _remarks(catalog: Catalog, old: Entry, new: Entry, reason: str) -> Iterator[str]:
    """Yield what is left of the newer entry's front matter that people may not expect."""
    given = fields_of(catalog.document(new.path)).get("reason")
    if given and given != reason:
        yield f"{new.address} keeps the reason that it gives: {new.reason or 'one that cannot be read'}"
    kept = links_with(catalog, catalog.document(new.path), old.address)
    if passed := [link for link in written_links(catalog.document(new.path), "supersedes") if link not in kept]:
        yield f"{new.address} no longer names {listed(passed)}, which {old.address} replaced"


def superseding(
    catalog: Catalog, olds: Sequence[Entry], new: Entry, *, change: Change, reason: str, today: date
) -> ChangeSet:
    """Return a whole supersession, given the change of the newer entry's file; a draft ends nothing."""
    if new.status is Status.DRAFT:
        action = WriteAction(Verb.ADD if change.before is None else Verb.UPDATE, new.address)
        until = (f"{old.address} stays as it is until `mdmem approve {new.address}`" for old in olds)
        return ChangeSet((change,), actions=(action,), reason=reason, remarks=tuple(until))
    # The newer file comes first: where writing ends between the two, the claim is there and `check --fix` follows it.
    return ChangeSet(
        (change, *(ended(catalog, old, new.address, today=today) for old in olds)),
        actions=tuple(WriteAction(Verb.SUPERSEDE, old.address, new.address) for old in olds),
        supersedes=tuple(old.address for old in olds),
        reason=reason,
        remarks=tuple(remark for old in olds for remark in remarks_on_end(catalog, old, new)),
    )


def stated(reason: str) -> str:
    """Return a reason on one line; raises UsageError for none."""
    if not reason.strip():
        raise UsageError("say why it is superseded: --reason TEXT")
    return " ".join(reason.split())


def inherited(old: Entry, type_: EntryType) -> dict[str, Value]:
    """Return the fields that a new entry takes over from the one it replaces: whom and which code it is for.

    Without them a rule would silently stop binding what it was about.
    """
    # A label says what kind of its type an entry is.
    names = (name for name in INHERITED if name != "label" or old.type is type_)
    return {name: value for name in names if (value := getattr(old, name))}


def links_with(catalog: Catalog, document: Document, old: str) -> list[str]:
    """Return what a newer entry supersedes with one more, as its file writes them.

    What the older one has superseded in turn is left out, unless the newer one took its place, too: a draft that
    another entry forestalled gets in line behind that.
    """
    near = document.path.removesuffix(".md")
    passed = {one for one in catalog.lineage.ancestors(old) if near not in catalog.entries[one].superseded_by}
    meant = {link: full_address(link, near, catalog.addresses) for link in written_links(document, "supersedes")}
    kept = [link for link, address in meant.items() if address not in passed]
    return kept if old in meant.values() else [*kept, old]


def supersede(workspace: Workspace, name: str, *, by: str, reason: str, options: WriteOptions) -> WriteResult:
    """Put one entry in the place of another, at once or when it is approved."""

    def plan(one: Workspace) -> ChangeSet:
        old, new = resolve_name(one, name), resolve_name(one, by)
        return plan_supersession(one.catalog, old, by=new, reason=reason, today=one.today)

    return write(workspace, plan, options)
