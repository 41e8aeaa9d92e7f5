"""Whether one entry may take the place of another, and what ends the older one."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from mdmem.authoring.citing import cited_by, listed
from mdmem.authoring.patching import Value, patched
from mdmem.authoring.plan import Change
from mdmem.catalog import Catalog
from mdmem.checks.case import written_links
from mdmem.checks.supersession_across_types import CODE as ACROSS_TYPES
from mdmem.entry.model import Entry, EntryType, Status, Wing
from mdmem.errors import LostRaceError, UsageError


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
    if new.address in {*old.supersedes, *catalog.lineage.ancestors(old.address)}:
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
    if is_lost and ACROSS_TYPES not in dict(new.ignore):
        meant = f"or `ignore: {{{ACROSS_TYPES}: <why it may weigh less>}}`"
        raise UsageError(f"a {new.type} would take the place of the invariant {old.address}; make it one, {meant}")


def _refuse_second(catalog: Catalog, old: Entry, new: Entry, instead: str) -> None:
    lineage = catalog.lineage
    others = [address for address in lineage.successors.get(old.address, ()) if address != new.address]
    if not others:
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
        values |= {"status": Status.DEPRECATED.value, "deprecated_at": today.isoformat()}
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
