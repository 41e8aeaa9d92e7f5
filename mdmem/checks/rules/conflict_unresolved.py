"""Two entries in force contradict each other.

`conflicts_with`, or an entity's relation `CONFLICTS_WITH`, says so openly, and retrieval shows both; until somebody
decides, each reader decides alone. A pair is reported once, whichever end names it. Where one of the two overrides the
other, it is decided.

Fails:

    app/rules/a.md    status: active    conflicts_with: [app/rules/b]
    app/rules/b.md    status: active

Fix: end one with `mdmem deprecate`, or name the shared entry under `overrides` in the project's. Where both hold,
narrow one with `applies_to` or `focus`, and remove the link.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.model.entry import Entry
from mdmem.model.finding import Finding, Place, Severity

CODE = "conflict-unresolved"
SEVERITY = Severity.WARNING


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each contradicting pair of which both are current, at the first that names the other."""
    seen: set[frozenset[str]] = set()
    for entry in case.catalog.entries.values():
        for target in entry.contradicts:
            pair = frozenset({entry.address, target})
            if len(pair) < 2 or pair in seen or not all(map(case.is_current, pair)) or _is_decided(case, *pair):
                continue
            seen.add(pair)
            message = f"contradicts `{target}`, and both are in force"
            help_ = f"end one, as with `mdmem deprecate {target} --reason TEXT`, or narrow one and remove the link"
            place, other = _place(case, entry, target), _place(case, case.catalog.entries[target], entry.address)
            yield Finding(CODE, message, place, help_, entry.address, other=other)


def _place(case: Case, entry: Entry, target: str) -> Place:
    """Return where an entry says that it contradicts another; the head of its file where it does not."""
    if target in entry.contradicts and target not in entry.conflicts_with:
        named = ((item, one.to) for item, one in enumerate(entry.relations) if one.is_contradiction)
        item = next(item for item, to in named if to == target)
        return case.catalog.place(entry.address, "relations", item)
    return case.link_place(entry.address, "conflicts_with", target)


def _is_decided(case: Case, first: str, second: str) -> bool:
    entries = case.catalog.entries
    return second in entries[first].overrides or first in entries[second].overrides
