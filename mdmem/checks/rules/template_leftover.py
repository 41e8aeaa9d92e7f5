"""Text of the template was left in the entry, or a list of choices where one was to be made.

Two of the Kubernetes proposals say `status: provisional|implementable|implemented|...` to this day. A sentence such
as `<State what was decided in one sentence.>` is no decision, and retrieval would hand it to agents as one. Text in
code is not looked at.

Fails:

    status: draft | active | deprecated
    owner: <team>

    Rationale: <say what breaks when it is violated.>

Fix: replace it by what is meant, or remove it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.fixes.base import REVIEW_REASON
from mdmem.markdown.parse import Document
from mdmem.model.finding import Finding, Severity
from mdmem.model.templates import PLACEHOLDERS

CODE = "template-leftover"
SEVERITY = Severity.ERROR
_HELP = "replace it by what is meant, or remove it"
_NAMES = ("label", "owner", "topic", "focus", "agent", "approved_by")
_SENTENCES = ("title", "trigger", "objective", "reason", "deprecated_reason", REVIEW_REASON)
_CHOICES = re.compile(r"[\w-]+(?:\s*\|\s*[\w-]+){2,}")
_BRACKETED = re.compile(r"<[^<>]+>")
_PLACEHOLDER = re.compile("<(?:" + "|".join(map(re.escape, sorted(PLACEHOLDERS))) + ")>")


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each placeholder in a body or a value, and for each value that lists choices."""
    yield from case.loaded(CODE)
    for address, document in case.documents:
        if document.fields is None:
            continue
        yield from _in_front_matter(address, document)
        if _PLACEHOLDER.search(document.body):
            yield from _in_body(case, address)


def _in_front_matter(address: str, document: Document) -> Iterator[Finding]:
    for name in (*_NAMES, *_SENTENCES):
        value = document.fields.get(name) if document.fields else None
        if not isinstance(value, str) or not ("|" in value or "<" in value):
            continue
        if (_BRACKETED if name in _NAMES else _PLACEHOLDER).fullmatch(value):
            yield Finding(CODE, f"`{name}` still holds `{value}`", document.place(name), _HELP, address)
        elif name in _NAMES and _CHOICES.fullmatch(value):
            yield Finding(
                CODE, f"`{name}` still lists the choices `{value}`", document.place(name), "keep one", address
            )


def _in_body(case: Case, address: str) -> Iterator[Finding]:
    for found in _PLACEHOLDER.finditer(case.prose_of(address)):
        message = f"the template's `{found.group()}` was left in"
        yield case.in_body(CODE, address, message, _HELP, offset=found.start(), width=len(found.group()))
