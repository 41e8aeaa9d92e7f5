"""An entry was superseded by one that had already ended.

Two branches make this: one ends the new rule, the other puts it in the place of the old. Nothing is in force then, and
nobody decided so. A successor that ended later is `chain-without-head`, a deleted one `dangling-link`.

Fails:

    app/rules/new.md    status: deprecated    deprecated_at: 2026-03-01    deprecated_reason: withdrawn
    app/rules/old.md    status: deprecated    deprecated_at: 2026-05-01    superseded_by: [app/rules/new]

Fix: name the entry that holds instead, or take the old one back into force and remove the links on both ends.
`mdmem check --unsafe-fixes` does it where one answer is likely.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.fixes.base import reviving, unlinking, with_choice
from mdmem.model.entry import day_of
from mdmem.model.finding import Edit, Finding, Severity
from mdmem.store.catalog.edges import EdgeKind

CODE = "superseded-by-dead"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each entry whose successor had ended before it did, at the link."""
    for edge in case.edges:
        ended = case.catalog.entries[edge.new].deprecated_at if edge.kind is EdgeKind.BY_DEAD else None
        if ended is not None:
            message = f"superseded by `{edge.new}`, which had already ended on {day_of(ended)}"
            help_ = "name the entry that holds instead, or remove the links on both ends and write `status: active`"
            place = case.link_place(edge.old, "superseded_by", edge.new)
            other = case.catalog.place(edge.new, "deprecated_at")
            shown = Finding(CODE, message, place, help_, edge.old, other=other)
            yield with_choice(shown, "Take the old entry back into force", _undo, case, edge.old, edge.new)


def _undo(case: Case, old: str, new: str) -> list[Edit]:
    """Remove the links on both ends, the claim last: with it alone, the old entry is still superseded."""
    return [*reviving(case, old, new), *unlinking(case, new, "supersedes", old)]
