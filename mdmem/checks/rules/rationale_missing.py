"""An invariant or a decision in force does not say why.

A rule without its reason is followed where it makes no sense and dropped where it matters, and nobody can tell
whether it still holds when the code has changed. A line that starts with `Rationale:` or `Why:`, a heading such as
Motivation, Context, Background, Considerations, Goals or Rejected, a `reason` in the front matter, or a sentence with
because, so that, since, the problem or the like is enough.

Fails:

    All services use UTC.

Fix: add a line `Rationale: ...` that says what breaks otherwise, or what was turned down.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.prose import reasons_begin, says_nothing
from mdmem.model.entry import Entry, EntryType
from mdmem.model.finding import Finding, Severity

CODE = "rationale-missing"
SEVERITY = Severity.WARNING
_NEEDS_ONE = frozenset({EntryType.INVARIANT, EntryType.DECISION})
# What is usual first, the commoner the earlier: to look for one of these takes a tenth of what the expression does.
_USUAL = ("because", "Rationale:", " since ", " so that ", " to avoid ", " otherwise ", " therefore ", " in order to ")
_CAUSE = re.compile(
    r"\b(?:because|since|so\s+that|otherwise|therefore|hence|due\s+to|in\s+order\s+to|the\s+reason|(?:that|which)\s+is\s+why"
    r"|to\s+(?:avoid|prevent|keep|ensure|make\s+sure|allow|enable|support|reduce|improve)|or\s+else|lest|thus|thereby"
    r"|for\s+(?:this|that|the\s+same)\s+reason|as\s+a\s+(?:result|consequence)|which\s+means|leads?\s+to|caused\s+by"
    r"|the\s+(?:problem|issue|trouble|advantage|benefit|drawback|trade-?off)s?|we\s+(?:want|need)|(?:is|are)\s+needed"
    r"|in\s+(?:favou?r\s+of|the\s+past|case)|instead\s+of|rather\s+than|no\s+longer|allows?|avoids?|prevents?"
    r"|use\s+cases?)\b|[,;]\s+so\b",
    re.IGNORECASE,
)
_TOPIC = (
    r"considerations?|considered|alternatives?|rejected|goals?|objectives?|benefits?|advantages?|drawbacks?|pros|cons"
    r"|trade-?offs?|use[ -]cases?|user[ ]stor(?:y|ies)|requirements?|need|justification|because|history|discussion|faq"
)
_HEADING = re.compile(
    rf"^#{{1,6}}[ \t].*\b(?:{_TOPIC})\b"
    rf"|^[ \t]*[*_]{{2}}.*\b(?:{_TOPIC})\b.*[*_]{{2}}"
    rf"|^.*\b(?:{_TOPIC})\b.*\r?\n[=~^-]{{3,}}",
    re.IGNORECASE | re.MULTILINE,
)


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each invariant and decision in force whose body gives no reason."""
    for entry, document in case.entries:
        if entry.type in _NEEDS_ONE and entry.is_in_force and not _has_reason(entry, document.body):
            help_ = "add a line `Rationale: ...` that says what breaks otherwise"
            yield case.on_entry(CODE, entry, f"the {entry.type} does not say why", help_, field="type")


def _has_reason(entry: Entry, body: str) -> bool:
    if entry.reason or any(map(body.__contains__, _USUAL)):
        return True
    if _CAUSE.search(body) is not None or reasons_begin(body) is not None:
        return True
    return _HEADING.search(body) is not None or says_nothing(body)
