"""A `#` cuts a value off.

In YAML a blank and `#` begin a comment, so the rest of the line is silently lost. With no blank behind the `#`, a
number or the name of a channel was meant.

Fails:

    title: Update #2 done        (the title is `Update`)
    owner: #navigation           (the owner is empty)

Fix: put the whole value in quotes, as in `title: "Update #2 done"`; write `# ` with a blank where a comment is meant.
`mdmem check --fix` does it where no doubt is left.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.fixes.base import loaded_with_fixes
from mdmem.checks.fixes.front_matter import with_whole_value
from mdmem.model.finding import Finding, Severity

CODE = "comment-truncates-value"
SEVERITY = Severity.WARNING


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each value that a comment cuts off."""
    yield from loaded_with_fixes(case, CODE, with_whole_value)
