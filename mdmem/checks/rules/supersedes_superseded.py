"""An entry supersedes one that another entry had superseded before, so that the history forks.

In a chain each entry supersedes the one before it, and that is all right. A fork means that the new entry was written
without the newest rule in view. It is shown for drafts, which fork it once approved, and for declared splits.

Fails:

    app/rules/b.md    supersedes: [app/rules/a]                    (in force)
    app/rules/c.md    supersedes: [app/rules/a]    status: draft

Fix: supersede the head of the chain, which the finding names.
`mdmem check --unsafe-fixes` does it where one answer is likely.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case, Link
from mdmem.checks.fixes.links import with_link
from mdmem.model.entry import Entry, Status, instant_of
from mdmem.model.finding import Finding, Severity
from mdmem.store.catalog.edges import Edge

CODE = "supersedes-superseded"
SEVERITY = Severity.INFO


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each edge to an entry that another had superseded before, at the link."""
    for edge in case.edges:
        earlier = _earlier(case, edge) if edge.kind.is_consistent else None
        if earlier is None:
            continue
        heads = [head for head in case.catalog.lineage.heads(edge.old) if head != edge.new] or [earlier]
        help_ = f"supersede {' or '.join(f'`{head}`' for head in heads)} instead, unless the split is meant"
        message = f"supersedes `{edge.old}`, which `{earlier}` already supersedes"
        place = case.link_place(edge.new, "supersedes", edge.old)
        other = case.link_place(edge.old, "superseded_by", earlier)
        shown = Finding(CODE, message, place, help_, edge.new, other=other)
        # A head that descends from this entry would make a circle of the two.
        is_free = len(heads) == 1 and heads[0] not in case.catalog.lineage.descendants(edge.new)
        link = _link(case, edge) if is_free else None
        yield with_link(shown, case, link, heads[0], is_safe=False) if link else shown


def _link(case: Case, edge: Edge) -> Link | None:
    """Return the link of a draft; a split that the old entry declares is meant."""
    if edge.by_old:
        return None
    links = (link for link in case.links if link.entry.address == edge.new and link.field == "supersedes")
    return next((link for link in links if link.target == edge.old), None)


def _earlier(case: Case, edge: Edge) -> str | None:
    """Return the first other successor that came before this one and that this one does not supersede in turn."""
    entries = case.catalog.entries
    this = entries[edge.new]
    others = (entries[address] for address in case.catalog.lineage.successors.get(edge.old, ()) if address != edge.new)
    before = [other for other in others if _order(other) < _order(this) and other.address not in this.supersedes]
    return min(before, key=_order).address if before else None


def _order(entry: Entry) -> tuple[bool, float, str]:
    created = instant_of(entry.created_at).timestamp() if entry.created_at else 0.0
    return entry.status is Status.DRAFT, created, entry.address
