"""The type is none of invariant, decision, pattern and note.

The type is the entry's authority: an invariant is never left out, a note is the first to go. An entry of an unknown
type cannot be ordered, so it is not read, and stands among the problems of every retrieval.

Fails:

    type: desicion

Fix: write one of the four types; what else the entry is goes into `label`, as in `type: note` with `label: session`.
`mdmem check --fix` does it where no doubt is left.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.fixes.base import certainly_meant, fields_of, loaded_with_fixes, with_fix
from mdmem.markdown.parse import Document
from mdmem.markdown.patch import set_fields
from mdmem.model.entry import EntryType
from mdmem.model.finding import Finding, Severity
from mdmem.model.spelling import certain_value

CODE = "unknown-type"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each `type` that is none of the four."""
    yield from loaded_with_fixes(case, CODE, _corrected)


def _corrected(document: Document, finding: Finding) -> Finding:
    """Correct one slip of the pen, and another format's word that has but one meaning."""
    value = str(fields_of(document).get("type"))
    meant = certainly_meant(value, EntryType) or certain_value(value, EntryType)
    return with_fix(finding, f"Write `type: {meant}`", set_fields, document, {"type": meant}) if meant else finding
