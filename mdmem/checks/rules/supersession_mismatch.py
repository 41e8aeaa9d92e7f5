"""An entry names one successor while another claims to supersede it.

Each file is fine by itself and every link leads somewhere, yet readers of the old entry are sent to the wrong one.
Where two entries claim the old one, it is `two-successors` instead.

Fails:

    app/rules/new.md    supersedes: [app/rules/old]
    app/rules/old.md    superseded_by: [app/rules/other]

Fix: write the true successor in the old entry, or remove the claim from the other.
`mdmem check --unsafe-fixes` does it where one answer is likely.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from mdmem.checks.case import Case
from mdmem.checks.fixes.base import with_choice
from mdmem.markdown.patch import replace_item, set_fields
from mdmem.model.finding import Finding, Severity
from mdmem.store.catalog.edges import EdgeKind

CODE = "supersession-mismatch"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each entry that points past the one that claims it, at its `superseded_by`."""
    mismatched = (edge for edge in case.edges if edge.kind is EdgeKind.MISMATCH)
    for old, group in groupby(mismatched, key=lambda edge: edge.old):
        edges = tuple(group)
        named = [edge.new for edge in edges if edge.by_old]
        claimant = next(edge.new for edge in edges if not edge.by_old)
        listed = ", ".join(f"`{address}`" for address in named)
        message = f"`superseded_by` names {listed}, but `{claimant}` supersedes this entry"
        help_ = f"write `superseded_by: [{claimant}]`, or remove `{old}` from `supersedes` in `{claimant}.md`"
        other = case.link_place(claimant, "supersedes", old)
        shown = Finding(CODE, message, case.link_place(old, "superseded_by", named[0]), help_, old, other=other)
        document, title = case.catalog.document(f"{old}.md"), f"Name `{claimant}` as the successor"
        if len(case.catalog.entries[old].superseded_by) == 1:
            yield with_choice(shown, title, replace_item, document, "superseded_by", 0, claimant)
        else:
            yield with_choice(shown, title, set_fields, document, {"superseded_by": [claimant]})
