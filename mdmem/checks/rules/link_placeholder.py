"""A word such as `n/a`, `none` or `tbd` stands where an address belongs.

Templates ask for every field, and people who have nothing to say write that down. A reader that follows links then
looks for an entry called `n/a`, and a check for missing successors believes that there is one.

Fails:

    superseded_by: none
    see: [n/a]

Fix: remove the field; a link field that is absent says the same.
`mdmem check --fix` does it.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.fixes.base import field_at, is_only_cause, loaded_with_fixes, with_fix
from mdmem.markdown.parse import Document
from mdmem.markdown.patch import remove_item
from mdmem.model.finding import Finding, Severity

CODE = "link-placeholder"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each link that is a placeholder."""
    yield from loaded_with_fixes(case, CODE, _removed)


def _removed(document: Document, finding: Finding) -> Finding:
    found = field_at(document, finding.place)
    if found is None or is_only_cause(document, *found):
        return finding
    return with_fix(finding, f"Remove it from `{found[0]}`", remove_item, document, *found)
