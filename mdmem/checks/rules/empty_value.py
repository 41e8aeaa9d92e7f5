"""A field has no value.

An empty field says less than none: it may be forgotten, or a value may have been lost in an edit. Readers of YAML
take it for `null`, which some write back into the file.

Fails:

    owner:
    tags: ~

Fix: write a value, or remove the line.
`mdmem check --fix` does it.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.fixes.base import key_at, with_fix
from mdmem.markdown.parse import Document
from mdmem.markdown.patch import set_fields
from mdmem.model.finding import Finding, Severity

CODE = "empty-value"
SEVERITY = Severity.WARNING


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each field without a value, unless a `#` cut it off, which is a finding of its own."""
    cut = {(found.place.path, found.place.line) for found in case.loaded("comment-truncates-value")}
    for finding in case.loaded(CODE):
        if (finding.place.path, finding.place.line) not in cut:
            yield _removed(case.catalog.document(finding.place.path), finding)


def _removed(document: Document, finding: Finding) -> Finding:
    """Remove the key where its line holds nothing else: a comment there is what somebody meant to remember."""
    key = key_at(document, finding.place)
    line = document.text.split("\n")[finding.place.line - 1]
    if key is None or "#" in line:
        return finding
    return with_fix(finding, f"Remove `{key}`", set_fields, document, {key: None})
