"""The entry has no body.

A title alone is no rule: it says neither what to do nor why, and an agent that finds it has to guess. Headings and
comments count as nothing. A pattern with `repeatable_steps` says all in its front matter, and so may a session or an
entity.

Fails:

    ---
    type: decision
    status: active
    created_at: 2026-03-05
    ---

    # Use PostgreSQL

Fix: state it in a sentence or two below the front matter, with a line `Rationale: ...` for a decision or an
invariant.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.prose import says_nothing
from mdmem.model.entry import Entry
from mdmem.model.finding import Finding, Severity

CODE = "body-empty"
SEVERITY = Severity.ERROR
_SPEAKING_LABELS = frozenset({"session", "entity"})


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each entry that needs a body and has none."""
    for entry, document in case.entries:
        if not says_nothing(document.body) or _may_be_silent(entry):
            continue
        message = "the body is empty but for headings" if "#" in document.body else "the body is empty"
        yield case.on_entry(CODE, entry, message, "state it in a sentence or two below the front matter")


def _may_be_silent(entry: Entry) -> bool:
    return bool(entry.repeatable_steps) or entry.label in _SPEAKING_LABELS
