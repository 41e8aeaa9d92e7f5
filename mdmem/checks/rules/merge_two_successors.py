"""Each side of a merge supersedes the same entry by another one.

Both branches are right by themselves, and after the merge two rules count as the one in force. Where each side wrote
both ends, git shows a conflict in the old file; where one wrote only its own, it merges without a word.

Fails:

    ours:      app/rules/a.md    supersedes: [app/rules/old]
    theirs:    app/rules/b.md    supersedes: [app/rules/old]

Fix: merge the other branch into yours, then let `mdmem resolve` put one of the two behind the other, or give it up.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.model.finding import Finding, Place, Severity

CODE = "merge-two-successors"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each entry that the two sides replaced in two ways, with our successor as other end."""
    if case.merge is None:
        return
    for old, (ours, theirs) in case.merge.forked().items():
        message = (
            f"superseded by {_listed(ours)} in {case.merge.ours.name}, and by {_listed(theirs)} in "
            f"{case.merge.theirs.name}"
        )
        help_ = (
            f"merge {case.merge.theirs.name.partition(' (')[0]} here, then `mdmem resolve` shows what can be decided"
        )
        is_read = old in case.catalog.entries
        place = case.catalog.place(old, "superseded_by") if is_read else Place(f"{old}.md")
        other = case.link_place(ours[0], "supersedes", old) if ours[0] in case.catalog.entries else None
        yield Finding(CODE, message, place, help_, old, other)


def _listed(addresses: tuple[str, ...]) -> str:
    return " and ".join(f"`{address}`" for address in addresses)
