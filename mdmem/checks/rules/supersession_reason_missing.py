"""An entry supersedes another and does not say why.

The reason belongs in the new entry: the old one only points to it. Without it, nobody can tell later whether the change
still makes sense. `reason` counts, and so does a body that gives one, for instance after `Rationale:`.

Fails:

    supersedes: [app/rules/retry-twice]

    Retry five times.

Fix: add `reason:` with what was wrong or has changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from mdmem.checks.case import Case
from mdmem.model.entry import EntryType
from mdmem.model.finding import Finding, Severity

CODE = "supersession-reason-missing"
SEVERITY = Severity.WARNING


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each entry that supersedes without a reason; an error where an invariant is concerned."""
    consistent = sorted((edge.new, edge.old) for edge in case.edges if edge.kind.is_consistent)
    for address, group in groupby(consistent, key=lambda ends: ends[0]):
        entry, olds = case.catalog.entries[address], [old for _, old in group]
        if case.gives_reason(entry):
            continue
        types = {entry.type, *(case.catalog.entries[old].type for old in olds)}
        severity = Severity.ERROR if EntryType.INVARIANT in types else Severity.WARNING
        message = f"nothing says why it supersedes {', '.join(f'`{old}`' for old in olds)}"
        place, other = (
            case.link_place(address, "supersedes", olds[0]),
            case.link_place(olds[0], "superseded_by", address),
        )
        yield Finding(
            CODE, message, place, "add `reason:` with what has changed", address, other=other, severity=severity
        )
