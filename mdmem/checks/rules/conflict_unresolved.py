"""Two entries in force contradict each other.

`conflicts_with` says so openly, and retrieval shows both; until somebody decides, each reader decides alone. A pair is
reported once, whichever end names it. Where one of the two overrides the other, it is decided.

Fails:

    app/rules/a.md    status: active    conflicts_with: [app/rules/b]
    app/rules/b.md    status: active

Fix: end one with `mdmem deprecate`, or name the shared entry under `overrides` in the project's. Where both hold,
narrow one with `applies_to` or `focus`, and remove `conflicts_with`.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.finding import Finding, Severity

CODE = "conflict-unresolved"
SEVERITY = Severity.WARNING


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each contradicting pair of which both are current, at the first that names the other."""
    seen: set[frozenset[str]] = set()
    for link in case.distinct_links:
        if link.field != "conflicts_with" or link.target is None:
            continue
        pair = frozenset({link.entry.address, link.target})
        if pair in seen or not all(case.is_current(one) for one in pair) or _is_decided(case, *pair):
            continue
        seen.add(pair)
        message = f"contradicts `{link.target}`, and both are in force"
        help_ = f"end one, as with `mdmem deprecate {link.target} --reason TEXT`, or narrow one and remove the link"
        place = case.catalog.place(link.entry.address, link.field, link.item)
        other = case.link_place(link.target, link.field, link.entry.address)
        yield Finding(CODE, message, place, help_, link.entry.address, other=other)


def _is_decided(case: Case, first: str, second: str) -> bool:
    entries = case.catalog.entries
    return second in entries[first].overrides or first in entries[second].overrides
