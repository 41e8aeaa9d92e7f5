"""A date is not written in the form of ISO 8601.

`03/05/2026` is the third of May or the fifth of March, depending on the reader. A date that is not read leaves its
field empty: the entry cannot be ordered among others, and is never due for review.

Fails:

    created_at: 05.03.2026
    verified_at: last week

Fix: write YYYY-MM-DD, or a time with its offset such as 2026-03-05T14:30:00+01:00.
`mdmem check --fix` does it where no doubt is left.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from mdmem.checks.case import Case
from mdmem.checks.fixes.base import field_at, fields_of, loaded_with_fixes, with_fix
from mdmem.markdown.parse import Document
from mdmem.markdown.patch import set_fields
from mdmem.model.finding import Finding, Severity

CODE = "not-iso"
SEVERITY = Severity.ERROR
# A year in front leaves month and day in their order.
_YEAR_FIRST = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})", re.ASCII)


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each date that is written in another form."""
    yield from loaded_with_fixes(case, CODE, _rewritten)


def _rewritten(document: Document, finding: Finding) -> Finding:
    name, _ = field_at(document, finding.place) or ("", 0)
    meant = _meant(str(fields_of(document).get(name)))
    return with_fix(finding, f"Write `{name}: {meant}`", set_fields, document, {name: meant}) if meant else finding


def _meant(value: str) -> str | None:
    found = _YEAR_FIRST.fullmatch(value.strip())
    try:
        return date(int(found[1]), int(found[3]), int(found[4])).isoformat() if found else None
    except ValueError:
        return None
