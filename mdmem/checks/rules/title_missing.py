"""The entry has neither a title nor a heading.

The title is what lists, search results and reviews show, and it counts more than the body when a question is matched.
Without one the entry is called after its file, and `adr-12` tells nobody anything.

Fails:

    ---
    type: decision
    status: active
    created_at: 2026-03-05
    ---

    All services use UTC.

Fix: add `title:` with the rule in a few words.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.markdown.parse import first_heading
from mdmem.model.entry import title_of
from mdmem.model.finding import Finding, Severity

CODE = "title-missing"
SEVERITY = Severity.WARNING


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each entry whose title is only its entry-id in words."""
    for entry, _ in case.entries:
        if entry.title != title_of(entry.address) or "title" in entry.unread:
            continue
        document = case.catalog.document(entry.path)
        if (document.fields and document.fields.get("title")) or first_heading(document.body):
            continue
        yield case.on_entry(
            CODE, entry, "no `title`, and no heading in the body", "add `title:` with the rule in a few words"
        )
