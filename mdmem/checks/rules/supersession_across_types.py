"""An entry of lower authority supersedes one of higher.

The order is invariant, decision, pattern, note. A decision in the place of an invariant takes away a rule that was not
to be violated, and nothing but the type tells. Raising authority, a note that becomes a decision, is fine.

Fails:

    app/rules/new.md    type: decision     supersedes: [app/rules/old]
    app/rules/old.md    type: invariant

Fix: give the new entry the type of the old one, or say that the drop is meant:
`ignore: {supersession-across-types: why}`.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.model.entry import EntryType
from mdmem.model.finding import Finding, Severity

CODE = "supersession-across-types"
SEVERITY = Severity.WARNING


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each edge on which authority drops; an error where an invariant loses."""
    for edge in case.edges:
        new, old = case.catalog.entries.get(edge.new), case.catalog.entries.get(edge.old)
        if not edge.kind.is_consistent or new is None or old is None or new.type.rank <= old.type.rank:
            continue
        severity = Severity.ERROR if old.type is EntryType.INVARIANT else Severity.WARNING
        message = f"a {new.type} supersedes the {old.type} `{old.address}`"
        help_ = f"write `type: {old.type}`, or add `ignore: {{{CODE}: <why it may weigh less>}}`"
        place, other = case.catalog.place(new.address, "type"), case.catalog.place(old.address, "type")
        yield Finding(CODE, message, place, help_, new.address, other=other, severity=severity)
