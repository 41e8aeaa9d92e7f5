"""What the two sides of a merge did to one another's entries, read from the trees themselves, not from the result."""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case


def forked(case: Case) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return the entries that both sides superseded by different ones, each with our and their new successors."""
    if case.merge is None:
        return {}
    before, ours, theirs = (
        side.catalog.lineage.successors for side in (case.merge.ancestor, case.merge.ours, case.merge.theirs)
    )
    found = {}
    for old in sorted(ours.keys() & theirs.keys()):
        known = set(before.get(old, ()))
        mine, other = set(ours[old]) - known, set(theirs[old]) - known
        if mine - other and other - mine:
            found[old] = (tuple(sorted(mine - other)), tuple(sorted(other - mine)))
    return found


def collided(case: Case) -> Iterator[str]:
    """Yield the addresses that both sides added with different content, sorted."""
    if case.merge is None:
        return
    ours, theirs = case.merge.ours.catalog, case.merge.theirs.catalog
    for address in sorted((ours.addresses & theirs.addresses) - case.merge.ancestor.catalog.addresses):
        if ours.document(f"{address}.md").data != theirs.document(f"{address}.md").data:
            yield address
