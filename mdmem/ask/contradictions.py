"""Find contradictions between entries: declared ones, and suspected ones that follow from links and titles."""

from __future__ import annotations

from collections.abc import Iterator, Set

from mdmem.ask.answer import DECLARED, RELATED, Contradiction
from mdmem.markdown.similarity import undeclared_overlaps
from mdmem.model.entry import having
from mdmem.store.catalog.model import Catalog


def contradictions_among(catalog: Catalog, chosen: Set[str]) -> Iterator[Contradiction]:
    """Yield each contradiction that involves a chosen entry, sorted by address; each pair of entries once."""
    found: dict[tuple[str, str], str] = {}
    for a, b, why in _pairs(catalog, chosen):
        found.setdefault((min(a, b), max(a, b)), why)
    yield from (Contradiction(a, b, why) for (a, b), why in sorted(found.items()))


def _pairs(catalog: Catalog, chosen: Set[str]) -> Iterator[tuple[str, str, str]]:
    """Yield the two entries of each contradiction, and the evidence; of a pair, the strongest evidence comes first."""
    lineage = catalog.lineage
    for entry in having(catalog.entries, "contradicts"):
        for named in entry.contradicts if lineage.is_current(entry.address) else ():
            why = DECLARED if named in entry.conflicts_with else RELATED
            # If the other entry was superseded, its successor inherits the contradiction until it is resolved.
            for other in lineage.heads(named):
                if other != entry.address and (entry.address in chosen or other in chosen):
                    yield entry.address, other, why
    # Two current entries supersede one without a reason for the split.
    for old, successors in (*lineage.successors.items(), *lineage.claimants.items()):
        current = [new for new in successors if lineage.is_current(new)] if len(successors) > 1 else []
        if not chosen.isdisjoint(current) and not catalog.entries[old].declares_split(successors):
            yield from ((current[0], other, f"both supersede {old}") for other in current[1:])
    # An entry claims to supersede one that states another successor.
    for old, others in lineage.disputes.items():
        heads = lineage.heads(old)
        for one in (head for other in others for head in lineage.heads(other) if head not in heads):
            for head in heads:
                if one in chosen or head in chosen:
                    yield head, one, f"{one} has `supersedes: {old}`, which does not link back"
    for cycle in lineage.cycles:
        if not chosen.isdisjoint(cycle):
            yield cycle[0], cycle[1], f"{len(cycle)} entries supersede one another"
    # Most memories have no shared wing. Without one, the import of the comparison of titles would double the time.
    if any(wing.is_shared for wing in catalog.wings.values()):
        binding = (catalog.entries[address] for address in chosen if address in lineage.current)
        for project, shared, why in undeclared_overlaps(binding, catalog.wings):
            yield project.address, shared.address, f"one subject, and no `overrides`: {why}"
