"""Entries supersede one another in a circle.

Each entry of the circle is superseded by what it supersedes, so nothing tells which one binds. Retrieval shows them
all, marked as contradictory, until somebody breaks the circle. Only supersession links count: `see` may go round.

Fails:

    a.md    supersedes: [wing/room/b]
    b.md    supersedes: [wing/room/a]

Fix: remove the link that points from the newer rule back to the older one, on both ends.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.model.finding import Finding, Severity

CODE = "supersession-cycle"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each circle, at its first entry by address."""
    for cycle in case.catalog.lineage.cycles:
        entry = case.catalog.entries[cycle[0]]
        field = "supersedes" if entry.supersedes else "superseded_by"
        loop = " → ".join(f"`{address}`" for address in (*cycle, cycle[0]))
        message = f"{len(cycle)} entries supersede one another: {loop}"
        help_ = "remove the link from the newer entry back to the older one"
        yield case.on_entry(CODE, entry, message, help_, field=field)
