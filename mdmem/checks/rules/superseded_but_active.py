"""An entry is superseded by its links and in force by its status.

Readers who look at the status alone follow the old rule. Retrieval goes by the links and returns the successor.

Fails:

    status: active
    superseded_by: [app/rules/new]

Fix: write `status: deprecated` and `deprecated_at: YYYY-MM-DD` in the old entry.
`mdmem check --fix` does it where the link to the successor is just being written into an entry that was there before
and was not imported, `--unsafe-fixes` anywhere but where only a part was superseded.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from mdmem.checks.case import Case
from mdmem.checks.fixes.base import ending, is_in_part, may_end, with_choice, with_fix
from mdmem.markdown.patch import set_fields
from mdmem.model.finding import Finding, Severity
from mdmem.store.catalog.edges import EdgeKind

CODE = "superseded-but-active"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each entry that both ends call superseded and whose status is not deprecated."""
    unflipped = (edge for edge in case.edges if edge.kind is EdgeKind.BUT_ACTIVE)
    for old, group in groupby(unflipped, key=lambda edge: edge.old):
        entry, successors = case.catalog.entries[old], [edge.new for edge in group]
        listed = " and ".join(f"`{address}`" for address in successors)
        help_ = "write `status: deprecated` and `deprecated_at`"
        if old in case.catalog.lineage.heads(old):
            # Its successors ended too: flipping it would leave nothing in force.
            help_ = f"remove the links on both ends if this entry is in force again, else {help_}"
        message = f"superseded by {listed}, yet its status is `{entry.status}`"
        other = case.link_place(successors[0], "supersedes", old)
        shown = Finding(CODE, message, case.catalog.place(old, "status"), help_, old, other=other)
        if old in case.catalog.lineage.heads(old):
            yield shown
        else:
            if any(is_in_part(case, old, new) for new in successors):
                yield shown
                continue
            document = case.catalog.document(entry.path)
            is_sure = all(may_end(case, old, named_by=old, field="superseded_by", target=new) for new in successors)
            add = with_fix if is_sure else with_choice
            yield add(shown, "Write `status: deprecated`, which ends it", set_fields, document, ending(entry, case))
