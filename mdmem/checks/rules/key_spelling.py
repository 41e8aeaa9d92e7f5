"""A key surely means a field, but is spelt another way.

A key that is not read hides what it says: an entry with `superseded-by` looks as if nothing had replaced it.

Fails:

    superseded-by: app/rules/store-utc
    Status: active

Fix: write the field's own name, as in `superseded_by` and `status`.
`mdmem check --fix` does it where no doubt is left.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.fixes.base import key_at, loaded_with_fixes, with_fix
from mdmem.markdown.parse import Document
from mdmem.markdown.patch import rename_key
from mdmem.model.finding import Finding, Severity
from mdmem.model.spelling import known_spelling

CODE = "key-spelling"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each key that surely means a field and is not read as it."""
    yield from loaded_with_fixes(case, CODE, _respelt)


def _respelt(document: Document, finding: Finding) -> Finding:
    key = key_at(document, finding.place)
    meant = known_spelling(key) if key else None
    # Where the right key stands, too, which of the two values holds cannot be told.
    if meant is None or meant in (document.fields or ()):
        return finding
    return with_fix(finding, f"Write `{meant}`", rename_key, document, key, meant)
