"""A field holds a wiki link.

In YAML `[[x]]` is a list in a list, so other tools see no link there at all. In a field an address stands plain; in
the body `[[x]]` is fine.

Fails:

    supersedes: [[app/rules/local-times]]

Fix: write `supersedes: [app/rules/local-times]`.
`mdmem check --fix` does it where no doubt is left.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.fixes.base import line_start, loaded_with_fixes, with_fix
from mdmem.markdown.layout import replace_span
from mdmem.markdown.parse import Document
from mdmem.model.finding import Finding, Severity

CODE = "wiki-link-value"
SEVERITY = Severity.ERROR
_LINK = re.compile(r"\[{1,2}\s*([^\[\],]+?)\s*\]{1,2}")


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each wiki link in a field."""
    yield from loaded_with_fixes(case, CODE, _plain)


def _plain(document: Document, finding: Finding) -> Finding:
    """Take the brackets away where they stand in one line."""
    start = line_start(document, finding.place.line) + finding.place.column - 1
    text = document.text[start : start + finding.place.width]
    inner = _LINK.fullmatch(text)
    if inner is None:
        return finding
    return with_fix(finding, "Write the address plain", replace_span, document, start, start + len(text), inner[1])
