"""An invariant or a decision in force does not say why.

A rule without its reason is followed where it makes no sense and dropped where it matters, and nobody can tell
whether it still holds when the code has changed. A line that starts with `Rationale:` or `Why:`, a heading such as
Motivation or Context, a `reason` in the front matter, or a sentence with because, so that, since or the like is
enough.

Fails:

    All services use UTC.

Fix: add a line `Rationale: ...` that says what breaks otherwise, or what was turned down.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.prose import reasons_begin, says_nothing
from mdmem.entry.model import Entry, EntryType
from mdmem.finding import Finding, Severity

CODE = "rationale-missing"
SEVERITY = Severity.WARNING
_NEEDS_ONE = frozenset({EntryType.INVARIANT, EntryType.DECISION})
_CAUSE = re.compile(
    r"\b(?:because|since|so\s+that|otherwise|therefore|hence|due\s+to|in\s+order\s+to|the\s+reason|(?:that|which)\s+is\s+why"
    r"|to\s+(?:avoid|prevent|keep|ensure|make\s+sure)|or\s+else|lest)\b|[,;]\s+so\b",
    re.IGNORECASE,
)


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each invariant and decision in force whose body gives no reason."""
    for entry, document in case.entries:
        if entry.type in _NEEDS_ONE and entry.is_in_force and not _has_reason(entry, document.body):
            help_ = "add a line `Rationale: ...` that says what breaks otherwise"
            yield case.on_entry(CODE, entry, f"the {entry.type} does not say why", help_, field="type")


def _has_reason(entry: Entry, body: str) -> bool:
    if entry.reason or "Rationale:" in body or "because" in body:
        return True
    return _CAUSE.search(body) is not None or reasons_begin(body) is not None or says_nothing(body)
