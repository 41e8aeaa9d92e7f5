"""The front matter is opened and never closed.

Without a closing `---` nothing tells where the fields end and the text begins, and every guess is wrong for some
file. So the entry is not read.

Fails:

    ---
    type: decision
    status: active
    created_at: 2026-03-05

    We store times in UTC.

Fix: write `---` on a line of its own after the last field.
`mdmem check --fix` does it where no doubt is left.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.fixes.base import loaded_with_fixes
from mdmem.checks.fixes.front_matter import with_end
from mdmem.model.finding import Finding, Severity

CODE = "fence-unterminated"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each front matter without an end, at its opening fence."""
    yield from loaded_with_fixes(case, CODE, with_end)
