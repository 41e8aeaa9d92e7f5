"""A field that every entry needs is absent or empty.

`type` gives an entry its authority, `status` says whether it binds, `created_at` orders it among others. Without
`type` or `status` the entry cannot be read: it may be an invariant, so every retrieval has to name it as a problem.

Fails:

    ---
    type: decision
    created_at: 2026-03-05
    ---

Fix: add the field; here `status: draft` until the decision is approved.
`mdmem check --fix` does it where no doubt is left.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.fixes.base import fields_of, is_slip, loaded_with_fixes, with_choice, with_fix
from mdmem.markdown.parse import Document
from mdmem.markdown.patch import rename_key, set_fields
from mdmem.model.fields import KNOWN_FIELDS, REQUIRED
from mdmem.model.finding import Finding, Severity

CODE = "missing-field"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each of `type`, `status` and `created_at` that is absent or empty."""
    for finding in loaded_with_fixes(case, CODE, _respelt):
        yield finding if finding.fix is not None else _dated(case, finding)


def _dated(case: Case, finding: Finding) -> Finding:
    """Take the day of a file's first commit for the one on which it was written, though that may be an import's."""
    day = case.facts.days.added.get(finding.place.path) if case.facts is not None else None
    if day is None or not finding.message.startswith("`created_at` "):
        return finding
    document = case.catalog.document(finding.place.path)
    return with_choice(finding, f"Add `created_at: {day}`", set_fields, document, {"created_at": day})


def _respelt(document: Document, finding: Finding) -> Finding:
    """Correct a key that is one slip of the pen from the missing one; nothing else tells what the value would be."""
    meant = next((name for name in REQUIRED if finding.message.startswith(f"`{name}` ")), None)
    fields = fields_of(document)
    if meant is None or meant in fields:
        return finding
    slips = [key for key in fields if key not in KNOWN_FIELDS and is_slip(key.lower(), meant)]
    if len(slips) != 1:
        return finding
    return with_fix(finding, f"Write `{meant}` for `{slips[0]}`", rename_key, document, slips[0], meant)
