"""A fence of the front matter is nearly `---`, but not exactly.

Readers disagree about `----`, `+++`, `...`, or `---` with a blank behind it: one takes it for a fence, the next for
text, and the entry then means two things. Only a line that is exactly `---` counts.

Fails:

    ---
    type: decision
    status: active
    ----

Fix: write exactly `---`, at the very top of the file and after the last field.
`mdmem check --fix` does it where no doubt is left.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.fixes.base import loaded_with_fixes
from mdmem.checks.fixes.front_matter import with_exact_fences
from mdmem.model.finding import Finding, Severity

CODE = "fence-variant"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each fence that is nearly `---`, at its line."""
    yield from loaded_with_fixes(case, CODE, with_exact_fences)
