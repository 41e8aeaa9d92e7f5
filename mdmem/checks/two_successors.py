"""Two entries supersede the same one.

Two branches that each replace a rule merge into this, and both new rules then count as the one in force. A split into
several rules is legal when the old entry names all of them and gives a `reason`, or `deprecated_reason`, for the split.

Fails:

    app/rules/a.md      supersedes: [app/rules/old]
    app/rules/b.md      supersedes: [app/rules/old]
    app/rules/old.md    superseded_by: [app/rules/a, app/rules/b]

Fix: keep one and remove the link from the other, or let one of the two supersede the other; for a split, name all in
`superseded_by` and say why.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from mdmem.checks.case import Case
from mdmem.checks.edges import EdgeKind
from mdmem.finding import Finding, Severity

CODE = "two-successors"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each entry with several successors and no declared split, at its `superseded_by`."""
    doubled = (edge for edge in case.edges if edge.kind is EdgeKind.TWO_SUCCESSORS)
    for old, group in groupby(doubled, key=lambda edge: edge.old):
        edges = tuple(group)
        successors = [edge.new for edge in edges]
        listed = ", ".join(f"`{address}`" for address in successors)
        message = f"{len(successors)} entries supersede it: {listed}"
        claim = next((edge for edge in reversed(edges) if edge.by_new), None)
        other = case.link_place(claim.new, "supersedes", old) if claim else None
        place = case.catalog.place(old, "superseded_by")
        yield Finding(CODE, message, place, _help(case, old, successors), old, other=other)


def _help(case: Case, old: str, successors: list[str]) -> str:
    for new in successors:
        through = sorted(case.catalog.lineage.ancestors(new).intersection(successors))
        if through:
            return f"remove `{old}` from `supersedes` in `{new}.md`: it supersedes `{through[0]}`, and that is enough"
    return f"remove `{old}` from `supersedes` of all but one; for a split, name all of them here and add `reason`"
