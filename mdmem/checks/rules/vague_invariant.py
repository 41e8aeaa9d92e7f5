"""An invariant is worded so that nobody can tell whether it was broken.

An invariant is never left out and never overruled, so an agent has to be able to decide whether a change breaks it.
With "prefer", "try to", "should" or "where possible" every change complies. What is usually done is a pattern, and
what was chosen is a decision; an invariant says must, must not, never, always or only. Reasons are not looked at.

Fails:

    Callbacks should not block the executor where possible.

Fix: write "A callback must not block the executor", or make the entry a pattern.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.prose import sentences, statement
from mdmem.model.entry import Entry, EntryType, Status
from mdmem.model.finding import Finding, Severity

CODE = "vague-invariant"
SEVERITY = Severity.WARNING
_HELP = "say must, must not, never, always or only; or make it a pattern"
_BINDING = re.compile(
    r"\b(?:must|shall|never|always|only|may\s+not|cannot|can't|do(?:es)?\s+not|don't|doesn't"
    r"|forbidden|prohibited|required|not\s+(?:allowed|permitted))\b",
    re.IGNORECASE,
)
_SOFT = re.compile(
    r"\b(?:should(?:n't)?(?:\s+(?:not|never|always|only))?|prefer(?:s|red|ably)?|try(?:ing)?\s+to|ideally|recommended"
    r"|(?:wherever|where|whenever|when|if|as\s+far\s+as)\s+possible)\b",
    re.IGNORECASE,
)
# A text without any of these is in another language, and its words for must are not known here.
_ENGLISH = re.compile(r"\b(?:the|is|are|and|of|to|for|with|not|by|from|that)\b", re.IGNORECASE)


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each invariant with a sentence that binds nobody, or without a binding word."""
    for entry, _ in case.entries:
        if entry.type is EntryType.INVARIANT and entry.status is not Status.DEPRECATED:
            yield from _judged(case, entry)


def _judged(case: Case, entry: Entry) -> Iterator[Finding]:
    rule = statement(case.prose_of(entry.address))
    soft = _soft_word(rule) if _SOFT.search(rule) else None
    if soft:
        offset, word = soft
        message = f"the rule says `{' '.join(word.split())}`, so nobody can tell whether it was broken"
        yield case.in_body(CODE, entry.address, message, _HELP, offset=offset, width=len(word))
    elif rule.strip() and not _BINDING.search(rule) and not _BINDING.search(entry.title) and _ENGLISH.search(rule):
        message = "the rule says none of must, must not, never, always, only"
        offset = len(rule) - len(rule.lstrip())
        yield case.in_body(CODE, entry.address, message, _HELP, offset=offset)


def _soft_word(rule: str) -> tuple[int, str] | None:
    """Return the first soft word, with its offset, in a sentence where nothing else binds."""
    for start, sentence in sentences(rule):
        soft = _SOFT.search(sentence)
        if soft and not _BINDING.search(_SOFT.sub("", sentence)):
            return start + soft.start(), soft.group()
    return None
