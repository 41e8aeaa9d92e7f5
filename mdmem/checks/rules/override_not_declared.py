"""A project's entry covers the subject of a shared one, or calls itself a local override, without `overrides`.

Retrieval then returns both as binding, and only a reader who knows both can tell that one is meant to win. Two current
entries of one type cover one subject when they bear the same entry-id, or when their titles share most of their words.
`see` or `conflicts_with` between the two says that they were compared, and ends the finding.

Fails:

    type: decision
    label: local-override
    title: Use a MultiThreadedExecutor in the navigation node

Fix: add `overrides:` with the address of the shared rule and a `reason`, or link it with `see` when both hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mdmem.checks.case import Case, written_links
from mdmem.markdown.similarity import undeclared_overlaps
from mdmem.model.entry import Entry, Status
from mdmem.model.finding import Finding, Place, Severity

if TYPE_CHECKING:
    from mdmem.markdown.similarity import Overlap

CODE = "override-not-declared"
SEVERITY = Severity.WARNING


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each pair that overlaps, then for each other local override that names nothing."""
    found: set[str] = set()
    for overlap in _overlaps(case):
        project, shared = overlap.project, overlap.shared
        found.add(project.address)
        message = f"covers the subject of the shared `{shared.address}` without `overrides`: {overlap.why}"
        help_ = f"add `overrides: {shared.address}` and `reason:`, or `see: [{shared.address}]` when both hold"
        place = case.catalog.place(project.address, "title")
        yield Finding(CODE, message, place, help_, project.address, other=Place(shared.path))
    for entry in case.catalog.entries.values():
        if entry.address not in found and _overrides_nothing(case, entry):
            message = "labelled `local-override`, and does not say what it overrides"
            yield case.on_entry(
                CODE, entry, message, "add `overrides:` with the address of the shared rule", field="label"
            )


def _overlaps(case: Case) -> Iterator[Overlap]:
    if any(wing.is_shared for wing in case.catalog.wings.values()):
        current = (entry for address, entry in case.catalog.entries.items() if case.is_current(address))
        yield from undeclared_overlaps(current, case.catalog.wings)


def _overrides_nothing(case: Case, entry: Entry) -> bool:
    if entry.label != "local-override" or entry.status is Status.DEPRECATED:
        return False
    # A value that could not be read has its own finding.
    return not written_links(case.catalog.document(entry.path), "overrides") and "overrides" not in entry.unread
