"""The status is none of draft, active, under_review and deprecated.

The status says whether an entry binds. Among the Kubernetes proposals one was `imlpemented`, and every tool that
looked for `implemented` passed it by. An entry of an unknown status is not read, and stands among the problems of
every retrieval.

Fails:

    status: superseded

Fix: write one of the four. What was accepted is `active`, what was proposed is `draft`, what was replaced is
`deprecated` with `superseded_by`.
`mdmem check --fix` does it where no doubt is left.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.fixes.base import certainly_meant, fields_of, loaded_with_fixes, with_fix
from mdmem.markdown.parse import Document
from mdmem.markdown.patch import set_fields
from mdmem.model.entry import Status
from mdmem.model.finding import Finding, Severity
from mdmem.model.spelling import certain_value

CODE = "unknown-status"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each `status` that is none of the four."""
    yield from loaded_with_fixes(case, CODE, _corrected)


def _corrected(document: Document, finding: Finding) -> Finding:
    """Correct one slip of the pen, and another format's word that has but one meaning."""
    value = str(fields_of(document).get("status"))
    meant = certainly_meant(value, Status) or certain_value(value, Status)
    return with_fix(finding, f"Write `status: {meant}`", set_fields, document, {"status": meant}) if meant else finding
