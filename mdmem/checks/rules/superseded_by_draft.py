"""An entry was ended in favour of a draft.

A draft changes nothing: until somebody approves it, the old rule should hold, and with the old one ended nothing does.
An entry that gives a reason of its own for its end, or that another entry in force replaced, may name a draft.

Fails:

    app/rules/new.md    status: draft         supersedes: [app/rules/old]
    app/rules/old.md    status: deprecated    superseded_by: [app/rules/new]

Fix: run `mdmem approve` for the draft. Until then write `status: active` in the old entry, and
remove `superseded_by` and `deprecated_at` from it.
`mdmem check --unsafe-fixes` does it where the end is just being written, and was not imported.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.fixes.base import is_imported, reviving, with_choice
from mdmem.model.entry import Status
from mdmem.model.finding import Finding, Severity
from mdmem.store.catalog.edges import EdgeKind

CODE = "superseded-by-draft"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each entry that names a draft as its successor too early, at that link."""
    for edge in case.edges:
        if edge.kind is not EdgeKind.BY_DRAFT:
            continue
        if case.catalog.entries[edge.old].status is Status.DEPRECATED:
            message = f"deprecated in favour of `{edge.new}`, which is still a draft"
            help_ = f"run `mdmem approve {edge.new}`, or write `status: active` here without `superseded_by`"
        else:
            message = f"names `{edge.new}` as successor, which is still a draft"
            help_ = f"remove `superseded_by`; `mdmem approve {edge.new}` writes it in its time"
        place = case.link_place(edge.old, "superseded_by", edge.new)
        shown = Finding(CODE, message, place, help_, edge.old, other=case.catalog.place(edge.new, "status"))
        is_end_imported = case.catalog.entries[edge.old].status is Status.DEPRECATED and is_imported(case, edge.old)
        title = "Keep the old entry in force"
        yield shown if is_end_imported else with_choice(shown, title, reviving, case, edge.old, edge.new)
