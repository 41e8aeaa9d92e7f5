"""Relate entries to others: one-sided supersessions, amendments, contradictions, and why a match is not current."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Set
from itertools import islice

from mdmem.ask.answer import DECLARED, RELATED, Contradiction, EndedMatch
from mdmem.ask.limits import ENDED_RANKS, SENTENCE
from mdmem.markdown.body import cut_at_word
from mdmem.markdown.similarity import undeclared_overlaps
from mdmem.model.entry import REVIEW_REASON, Entry, Status, entries_with
from mdmem.store.catalog.model import Catalog
from mdmem.store.index import Match
from mdmem.store.tree import read_one
from mdmem.store.workspace.scope import Filters, Scope


def relations_of(catalog: Catalog, entry: Entry, scope: Scope) -> dict[str, dict[str, str]]:
    """Return the relations of an item for an entry: by name, the titles of the related entries by address.

    Entries outside the scope that claim to supersede this entry, or amend it, are left out.
    """
    address, lineage, derived = entry.address, catalog.lineage, catalog.derived
    state = catalog.branch_state(address)
    proposed = state.amended_by if state is not None else ()
    claimed, claims = lineage.claimed_by(address), lineage.claims.get(address, ())
    if not (proposed or claimed or claims or address in derived.with_amendments):
        return {}
    found = {
        "claimed_by": _in_scope(claimed, scope),
        "claims": claims,
        "amended_by": _in_scope(derived.amended_by(address, project=scope.wing), scope),
        "proposed_amendments": _in_scope(proposed, scope),
        "amends": tuple(one for one in derived.amends(address) if lineage.is_current(one)),
    }
    return {name: {one: catalog.entries[one].title for one in named} for name, named in found.items() if named}


def _in_scope(addresses: Iterable[str], scope: Scope) -> tuple[str, ...]:
    return tuple(one for one in addresses if one.partition("/")[0] in scope.wings)


def claimants_in_scope(catalog: Catalog, entry: Entry, scope: Scope) -> tuple[str, ...]:
    """Return the entries of the scope that claim to supersede an entry."""
    return _in_scope(catalog.lineage.claimed_by(entry.address), scope)


def related_entries(catalog: Catalog, chosen: Collection[str], scope: Scope) -> tuple[Entry, ...]:
    """Return the entries to show together with the chosen ones, because they are related to one of them.

    They supersede a chosen entry one-sidedly, amend it, or have a declared contradiction with it.
    """
    found: dict[str, None] = {}
    for address in sorted({*catalog.lineage.claimed, *catalog.derived.with_amendments}):
        if address in chosen:
            relations = relations_of(catalog, catalog.entries[address], scope)
            found.update(dict.fromkeys((*relations.get("claimed_by", ()), *relations.get("amended_by", ()))))
    for entry in entries_with(catalog.entries, "contradicts"):
        is_current = catalog.lineage.is_current(entry.address)
        for other in (head for named in entry.contradicts if is_current for head in catalog.lineage.heads(named)):
            # A contradiction between two entries of other rooms brings neither into the answer.
            is_near = any(map(scope.contains, (entry.address, other)))
            if is_near and (entry.address in chosen) != (other in chosen):
                partner = other if entry.address in chosen else entry.address
                found.update(dict.fromkeys(_in_scope([partner], scope)))
    return tuple(catalog.entries[address] for address in found)


def doubts_of(catalog: Catalog, entry: Entry, status: Status) -> Iterator[str]:
    """Yield the reasons why the reader should confirm an entry before relying on it.

    `status` is the status of the entry today: an expired entry counts as under review.
    """
    if entry.address in catalog.lineage.contradictory:
        yield "contradictory: it and another entry supersede each other"
    if status is Status.UNDER_REVIEW:
        doubt = f"expired on {entry.expires_at}"
        if entry.status is Status.UNDER_REVIEW:
            # The cache does not have the reason. Few files have one, and only those are parsed again.
            content = read_one(catalog.tree, entry.path)
            has_reason = isinstance(content, bytes) and REVIEW_REASON.encode() in content
            fields = catalog.document(entry.path).fields if has_reason else None
            why = fields.get(REVIEW_REASON) if fields else None
            doubt = "under review"
            if isinstance(why, str):
                doubt += f" ({cut_at_word(' '.join(why.split()), SENTENCE)})"
        yield f"{doubt}: confirm before relying on it"


def ended_match(catalog: Catalog, matches: Iterable[Match], filters: Filters) -> tuple[EndedMatch, ...]:
    """Return a match that is not current, as a tuple of at most one item.

    This is the best match by words, if it is not current. Otherwise it is one of the best few matches that ended
    without a successor, such as a rejected proposal, since the answer has no successor to show in its place. A draft
    counts only if it was superseded. The result is empty if the filters include deprecated entries anyway.
    """
    lineage = catalog.lineage
    if filters.includes_ended:
        return ()
    entries = (catalog.entries[match.key] for match in matches)
    counted = (one for one in entries if one.status is not Status.DRAFT or lineage.heads(one.address))
    for rank, entry in enumerate(islice(filter(filters.matches_entry, counted), ENDED_RANKS)):
        heads = lineage.heads(entry.address)
        chain = lineage.descendants(entry.address) | {entry.address}
        named = {new for old in chain for new in catalog.entries[old].superseded_by}
        unread = tuple(sorted(new for new in named if f"{new}.md" in catalog.broken))
        is_shown = lineage.is_current(entry.address) or lineage.is_unresolved(entry.address)
        if not is_shown and (rank == 0 or not (heads or unread)):
            return (EndedMatch(entry.address, entry.title, _why_ended(catalog, entry), heads, unread),)
    return ()


def _why_ended(catalog: Catalog, entry: Entry) -> str | None:
    """Return the reason for each step from an entry to its current successors; None if no step states one."""
    lineage, entries = catalog.lineage, catalog.entries
    steps, seen = [entry.address], {entry.address}
    reasons = list[str | None]()
    for old in steps:
        new = [one for one in lineage.successors.get(old, ()) if one not in seen]
        steps += new
        seen.update(new)
        # The `reason` of a superseded entry itself says why that entry replaced an older one.
        reasons += [entries[old].deprecated_reason or entries[one].reason for one in new]
        if not lineage.successors.get(old):
            reasons.append(entry.why_ended if old == entry.address else entries[old].deprecated_reason)
    return "; ".join(dict.fromkeys(filter(None, reasons))) or None


def contradictions_among(catalog: Catalog, chosen: Set[str]) -> Iterator[Contradiction]:
    """Yield each contradiction that involves a chosen entry, sorted by address; each pair of entries once."""
    lineage, found = catalog.lineage, dict[tuple[str, str], str]()

    def add(a: str, b: str, why: str) -> None:
        # The strongest evidence for a pair comes first.
        found.setdefault((min(a, b), max(a, b)), why)

    for entry in entries_with(catalog.entries, "contradicts"):
        for named in entry.contradicts if lineage.is_current(entry.address) else ():
            # If the other entry was superseded, its successor inherits the contradiction until it is resolved.
            for other in lineage.heads(named):
                if other != entry.address and (entry.address in chosen or other in chosen):
                    add(entry.address, other, DECLARED if named in entry.conflicts_with else RELATED)
    # Two current entries supersede one without a reason for the split.
    for old, successors in (*lineage.successors.items(), *lineage.claimants.items()):
        current = [new for new in successors if lineage.is_current(new)] if len(successors) > 1 else []
        if not chosen.isdisjoint(current) and not catalog.entries[old].declares_split(successors):
            for other in current[1:]:
                add(current[0], other, f"both supersede {old}")
    # An entry claims to supersede one that states another successor.
    for old, others in lineage.disputes.items():
        heads = lineage.heads(old)
        for one in (head for other in others for head in lineage.heads(other) if head not in heads):
            for head in heads:
                if one in chosen or head in chosen:
                    add(head, one, f"{one} has `supersedes: {old}`, which does not link back")
    for cycle in lineage.cycles:
        if not chosen.isdisjoint(cycle):
            add(cycle[0], cycle[1], f"{len(cycle)} entries supersede one another")
    # Most memories have no shared wing. Without one, the import of the comparison of titles would double the time.
    if any(wing.is_shared for wing in catalog.wings.values()):
        binding = (catalog.entries[address] for address in chosen if address in lineage.current)
        for project, shared, why in undeclared_overlaps(binding, catalog.wings):
            add(project.address, shared.address, f"one subject, and no `overrides`: {why}")
    yield from (Contradiction(a, b, why) for (a, b), why in sorted(found.items()))
