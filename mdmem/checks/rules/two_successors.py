"""Two entries supersede the same one.

Two branches that each replace a rule merge into this, and both new rules then count as the one in force. A split into
several rules is legal when the old entry names all of them and gives a `reason`, or `deprecated_reason`, for the split.

Fails:

    app/rules/a.md      supersedes: [app/rules/old]
    app/rules/b.md      supersedes: [app/rules/old]
    app/rules/old.md    superseded_by: [app/rules/a, app/rules/b]

Fix: keep one and remove the link from the other, or let one of the two supersede the other; for a split, name all in
`superseded_by` and say why.
`mdmem check --unsafe-fixes` does it where one answer is likely.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from mdmem.checks.case import Case
from mdmem.checks.fixes.base import unlinking, with_choice
from mdmem.model.finding import Edit, Finding, Severity
from mdmem.store.catalog.edges import EdgeKind

CODE = "two-successors"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each entry with several successors and no declared split, at its `superseded_by`."""
    # Of these, merge-two-successors knows which side wrote which.
    known = case.merge.forked() if case.merge else {}
    doubled = (edge for edge in case.edges if edge.kind is EdgeKind.TWO_SUCCESSORS and edge.old not in known)
    for old, group in groupby(doubled, key=lambda edge: edge.old):
        edges = tuple(group)
        successors = [edge.new for edge in edges]
        listed = ", ".join(f"`{address}`" for address in successors)
        message = f"{len(successors)} entries supersede it: {listed}"
        claim = next((edge for edge in reversed(edges) if edge.by_new), None)
        other = case.link_place(claim.new, "supersedes", old) if claim else None
        place = case.catalog.place(old, "superseded_by")
        needless = _needless(case, successors)
        shown = Finding(CODE, message, place, _help(old, needless), old, other=other)
        if needless is None:
            yield shown
        else:
            yield with_choice(shown, f"Remove the link to `{needless[0]}`", _cut, case, old, needless[0])


def _needless(case: Case, successors: list[str]) -> tuple[str, str] | None:
    """Return the successor that supersedes another one of them, with that one."""
    for new in successors:
        through = sorted(case.catalog.lineage.ancestors(new).intersection(successors))
        if through:
            return new, through[0]
    return None


def _help(old: str, needless: tuple[str, str] | None) -> str:
    if needless:
        new, through = needless
        return f"remove `{old}` from `supersedes` in `{new}.md`: it supersedes `{through}`, and that is enough"
    return f"remove `{old}` from `supersedes` of all but one; for a split, name all of them here and add `reason`"


def _cut(case: Case, old: str, new: str) -> list[Edit]:
    return [*unlinking(case, new, "supersedes", old), *unlinking(case, old, "superseded_by", new)]
