"""What bears on an entry of an answer: claims to its place, amendments, and how it ended."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Protocol, TypeVar

from mdmem.ask.question import BEARINGS, EndedMatch
from mdmem.model.entry import Entry, Status
from mdmem.store.catalog import Catalog
from mdmem.store.index.protocol import Match
from mdmem.store.workspace.scope import Filters, Scope


class _HasEntry(Protocol):
    @property
    def entry(self) -> Entry: ...


_Answered = TypeVar("_Answered", bound=_HasEntry)
_NOTHING: dict[str, Any] = {**dict.fromkeys(BEARINGS, ()), "titles": {}}


def bearings_of(catalog: Catalog, entry: Entry, scope: Scope) -> dict[str, Any]:
    """Return the fields of an answered entry that name claims and amendments; those of it are of the wings read."""
    address, lineage, amendments = entry.address, catalog.lineage, catalog.amendments
    stance = catalog.stance(address)
    proposed = stance.amended_by if stance is not None else ()
    if not (proposed or lineage.claimed_by(address) or lineage.claims(address) or amendments.names(address)):
        # A common word brings in thousands, of which nothing is said.
        return _NOTHING
    on_it = {
        "claimed_by": lineage.claimed_by(address),
        "amended_by": amendments.of(address, project=scope.wing),
        "proposed_amendments": proposed,
    }
    if not any(on_it.values()) and not lineage.claims(address) and not amendments.by(address):
        # One entry in twenty has any, and thousands may match.
        return _NO_BEARINGS
    found = {name: tuple(one for one in named if _is_read(one, scope)) for name, named in on_it.items()}
    found["claims"] = lineage.claims(address)
    found["amends"] = tuple(one for one in amendments.by(address) if lineage.is_current(one))
    named = (one for addresses in found.values() for one in addresses)
    return {**found, "titles": {one: catalog.entries[one].title for one in named}}


_NO_BEARINGS: dict[str, Any] = {**dict.fromkeys(BEARINGS, ()), "titles": {}}


def _is_read(address: str, scope: Scope) -> bool:
    return address.partition("/")[0] in scope.wings


def claims_on(catalog: Catalog, entry: Entry, scope: Scope) -> tuple[str, ...]:
    """Return what claims the place of an entry, of the wings read."""
    return tuple(one for one in catalog.lineage.claimed_by(entry.address) if _is_read(one, scope))


def partners_of(catalog: Catalog, chosen: Collection[str], scope: Scope) -> tuple[Entry, ...]:
    """Return what claims the place of a chosen entry, what amends one, and what is said to contradict one."""
    touched = [one for one in (*catalog.lineage.claimed, *catalog.amendments.named) if one in chosen]
    found = (bearings_of(catalog, catalog.entries[address], scope) for address in dict.fromkeys(touched))
    named = (address for one in found for address in (*one["claimed_by"], *one["amended_by"]))
    disputed = _disputed(catalog, chosen, scope)
    return tuple(catalog.entries[address] for address in dict.fromkeys((*named, *disputed)))


def _disputed(catalog: Catalog, chosen: Collection[str], scope: Scope) -> Iterator[str]:
    for entry in catalog.traits.contested:
        if catalog.lineage.is_current(entry.address):
            heads = (head for other in entry.contradicts for head in catalog.lineage.heads(other))
            for other in heads:
                if (entry.address in chosen) != (other in chosen):
                    missing = other if entry.address in chosen else entry.address
                    yield from (missing,) if _is_read(missing, scope) else ()


def company_of(catalog: Catalog, entry: Entry, scope: Scope) -> list[str]:
    """Return what an entry comes with that nothing in the question brings in, in words."""
    found = bearings_of(catalog, entry, scope)
    return [f"{BEARINGS[name]} {', '.join(found[name])}" for name in ("claims", "amends") if found[name]]


def claimants_first(items: Iterable[_Answered], claims_on: Callable[[_Answered], Sequence[str]]) -> Sequence[_Answered]:
    """Return items in their order, but each behind those of its type that claim its place."""
    return tuple(chain.from_iterable(runs_by_claims(list(items), claims_on)))


def runs_by_claims(
    items: Sequence[_Answered], claims_on: Callable[[_Answered], Sequence[str]]
) -> Iterator[list[_Answered]]:
    """Yield each item in their order, behind those of its type that claim its place and did not come before."""
    # Two versions of an entry may stand beside each other.
    by_address = {item.entry.address: item for item in reversed(items)}
    placed = set[int]()
    for item in items:
        if not claims_on(item):
            # Of thousands nearly all.
            run = [item] if id(item) not in placed else []
            placed.add(id(item))
            yield run
            continue
        # Claims run in no circle; chains of them may be long.
        todo, run = [item], list[_Answered]()
        while todo:
            one = todo[-1]
            claimants = (by_address[address] for address in claims_on(one) if address in by_address)
            before = (other for other in claimants if other.entry.type is one.entry.type and id(other) not in placed)
            first = next(before, None)
            if first is not None:
                todo.append(first)
            elif id(todo.pop()) not in placed:
                placed.add(id(one))
                run.append(one)
        yield run


def ended_match(catalog: Catalog, matches: Iterable[Match], filters: Filters) -> tuple[EndedMatch, ...]:
    """Return the best match by words alone in a tuple, where it does not hold any more; nothing where ended ones show.

    A draft counts only where another entry took its place.
    """
    lineage = catalog.lineage
    if filters.include_deprecated or Status.DEPRECATED in filters.statuses:
        return ()
    counted = (
        match
        for match in matches
        if filters.lets_in(entry := catalog.entries[match.key])
        if entry.status is not Status.DRAFT or lineage.heads(entry.address)
    )
    # The best come first, and thousands may match.
    best = next(counted, None)
    if best is None or lineage.is_current(best.key) or lineage.is_unresolved(best.key):
        return ()
    entry = catalog.entries[best.key]
    heads = lineage.heads(entry.address)
    return (EndedMatch(entry.address, entry.title, _why_ended(catalog, entry), heads, _unread(catalog, entry)),)


def _why_ended(catalog: Catalog, entry: Entry) -> str | None:
    """Return the reason of an end, or of the steps to what is in force now where others lie between.

    The `reason` of a superseded entry tells why it replaced another itself.
    """
    lineage, entries = catalog.lineage, catalog.entries
    chain, heads = lineage.with_descendants([entry.address]), lineage.heads(entry.address)
    steps = ((old, new) for new in heads for old in lineage.predecessors.get(new, ()) if old in chain)
    told = [entries[old].deprecated_reason or entries[new].reason for old, new in steps]
    if not heads:
        ends = (entries[one] for one in sorted(chain) if not lineage.successors.get(one))
        told = [one.why_ended if one is entry else one.deprecated_reason for one in ends]
    return "; ".join(dict.fromkeys(filter(None, told))) or None


def _unread(catalog: Catalog, entry: Entry) -> tuple[str, ...]:
    """Return what an entry, or what replaced it, names as its successor and cannot be read."""
    chain = catalog.lineage.with_descendants([entry.address])
    named = {new for old in chain for new in catalog.entries[old].superseded_by}
    return tuple(sorted(new for new in named if f"{new}.md" in catalog.broken))


def doubts_of(catalog: Catalog, entry: Entry, status: Status) -> Iterator[str]:
    """Yield why an entry of that status of the day is to be confirmed before anybody relies on it."""
    if entry.address in catalog.lineage.contradictory:
        yield "contradictory: it supersedes what supersedes it"
    if status is Status.UNDER_REVIEW:
        doubt = "under review" if entry.status is Status.UNDER_REVIEW else f"expired on {entry.expires_at}"
        yield f"{doubt}: confirm before relying on it"
