"""A chain of supersessions ends with an entry that is itself no longer in force.

Every link is right, and yet nothing on the subject holds now. That may be meant; the finding makes it visible. Where
the last entry does not even say why it ended, that is reported instead.

Fails:

    app/rules/old.md    status: deprecated    superseded_by: [app/rules/new]
    app/rules/new.md    status: deprecated    deprecated_reason: the service was shut down

Fix: write the entry that holds now with `supersedes: [app/rules/new]`, and name it under `superseded_by` in the last
one. Or keep the gap and say so in the last one: `ignore: {chain-without-head: the subject is gone}`.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.model.finding import Finding, Severity
from mdmem.store.catalog.edges import EdgeKind

CODE = "chain-without-head"
SEVERITY = Severity.WARNING


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each last entry of a chain that ended with its reason, at its status."""
    lineage, entries = case.catalog.lineage, case.catalog.entries
    seen: set[str] = set()
    for edge in case.edges:
        last = edge.new
        if edge.kind is not EdgeKind.SOUND or last in seen or lineage.heads(edge.old) or last in lineage.successors:
            continue
        if entries[last].superseded_by or not entries[last].why_ended or "superseded_by" in entries[last].unread:
            continue
        seen.add(last)
        message = f"ended, and nothing in force replaces it or `{edge.old}`, which it superseded"
        help_ = f"add `superseded_by` with the entry that holds now, or `ignore: {{{CODE}: <why the gap is meant>}}`"
        other = case.link_place(edge.old, "superseded_by", last)
        yield Finding(CODE, message, case.catalog.place(last, "status"), help_, last, other=other)
