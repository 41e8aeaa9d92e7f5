"""What becomes of an entry that two others replaced: one of them stays, one goes behind the other, or both hold."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from mdmem.checks.case import written_links
from mdmem.errors import UsageError
from mdmem.model.entry import Entry, Status
from mdmem.store.catalog import Catalog, full_address
from mdmem.write.change_set import Change, ChangeSet, Value, Verb, WriteAction, patched
from mdmem.write.supersede import listed, refuse_unfit


def successors_of(catalog: Catalog, old: str) -> tuple[str, ...]:
    """Return the entries that replaced another or say so, sorted; drafts, and those that were given up, are none."""
    named = set(catalog.entries[old].superseded_by) if old in catalog.entries else set()
    claiming = {one.address for one in catalog.entries.values() if old in one.supersedes}
    found = (one for one in named | claiming if one in catalog.entries)
    return tuple(sorted(one for one in found if not _is_out(catalog.entries[one], is_named=one in named)))


def _is_out(entry: Entry, *, is_named: bool) -> bool:
    was_given_up = entry.status is Status.DEPRECATED and not entry.superseded_by and not is_named
    return entry.status is Status.DRAFT or was_given_up


def keep_one(catalog: Catalog, old: str, *, stays: str, reason: str, today: date) -> ChangeSet:
    """Return what lets one successor of an entry stay and gives up the others, with a reason; raises UsageError."""
    others = [one for one in _all_with(catalog, old, stays) if one != stays]
    why = _stated(reason) if others else ""
    changes = [_claiming(catalog, old, stays), _ended(catalog, old, [stays], today=today)]
    for one in others:
        values: dict[str, Value] = {"deprecated_reason": why, **_ending(catalog.entries[one], today)}
        changes.append(patched(catalog, f"{one}.md", values))
    actions = (WriteAction(Verb.SUPERSEDE, old, stays), *(WriteAction(Verb.DEPRECATE, one) for one in others))
    return ChangeSet(tuple(changes), actions=actions, supersedes=(old,), reason=why or None)


def chain(catalog: Catalog, old: str, *, first: str, today: date) -> ChangeSet:
    """Return what puts the other successor of an entry behind one: that one replaced it, and was replaced in turn.

    Raises UsageError where there is no other, or there are several, and where it may not replace the first.
    """
    others = [one for one in _all_with(catalog, old, first) if one != first]
    if len(others) != 1:
        many = f"{listed(others)} would all stand behind it" if others else "there is no other one to put behind it"
        raise UsageError(f"{first} replaced {old}, and {many}; `mdmem supersede` replaces one at a time")
    then = catalog.entries[others[0]]
    if then.status is Status.DEPRECATED:
        raise UsageError(f"{then.address} has ended, so it cannot stand behind anything; take the other one")
    refuse_unfit(catalog, catalog.entries[first], then, instead="nothing was written: `mdmem why {head}` shows it")
    document = catalog.document(then.path)
    links = {
        full_address(link, then.address, catalog.addresses): link for link in written_links(document, "supersedes")
    }
    links.pop(old, None)
    changes = (
        patched(catalog, then.path, {"supersedes": [*links.values(), first]}),
        _claiming(catalog, old, first, [then.address], today=today),
        _ended(catalog, old, [first], today=today),
    )
    return ChangeSet(
        changes,
        actions=(WriteAction(Verb.SUPERSEDE, first, then.address),),
        supersedes=(old, first),
        reason=then.reason,
        remarks=(f"{then.address} holds now",),
    )


def split(catalog: Catalog, old: str, *, reason: str, today: date) -> ChangeSet:
    """Return what lets every successor of an entry hold, each for a part of it; raises UsageError."""
    successors, why = successors_of(catalog, old), _stated(reason)
    if len(successors) < 2:
        raise UsageError(f"{old} has {len(successors)} successors, so there is nothing to split")
    changes = [_claiming(catalog, old, one) for one in successors]
    changes.append(_ended(catalog, old, successors, today=today, reason=why))
    return ChangeSet(tuple(changes), actions=(WriteAction(Verb.UPDATE, old),), supersedes=(old,), reason=why)


def _all_with(catalog: Catalog, old: str, one: str) -> tuple[str, ...]:
    successors = successors_of(catalog, old)
    if one in successors:
        return successors
    named = f"; {listed(successors)} did" if successors else ""
    raise UsageError(f"{one} did not replace {old}{named}")


def _stated(reason: str) -> str:
    if not reason.strip():
        raise UsageError("say why: --reason TEXT")
    return " ".join(reason.split())


def _ending(entry: Entry, today: date) -> dict[str, Value]:
    if entry.status is Status.DEPRECATED:
        return {}
    return {"status": Status.DEPRECATED.value, "deprecated_at": today.isoformat()}


def _claiming(catalog: Catalog, old: str, new: str, by: Sequence[str] = (), *, today: date | None = None) -> Change:
    """Return the change of a successor that names what it replaced, and what replaced it where something did."""
    entry = catalog.entries[new]
    values: dict[str, Value] = {}
    if old not in entry.supersedes:
        values["supersedes"] = [*written_links(catalog.document(entry.path), "supersedes"), old]
    if by and today is not None:
        values |= {"superseded_by": list(by), **_ending(entry, today)}
    return patched(catalog, entry.path, values)


def _ended(catalog: Catalog, old: str, by: Sequence[str], *, today: date, reason: str | None = None) -> Change:
    entry = catalog.entries[old]
    values: dict[str, Value] = {"superseded_by": list(by), **_ending(entry, today)}
    if reason is not None:
        values["deprecated_reason"] = reason
    return patched(catalog, entry.path, values)
