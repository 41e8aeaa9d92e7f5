"""The file has no front matter.

Type and status decide what an entry's authority is, and they stand between two lines of `---` at the very top.
Without them the text is only prose, and it is not read as memory.

Fails:

    # Store times in UTC

    All times are stored in UTC.

Fix: start the file with `---`, `type:`, `status:`, `created_at:` and `---`; `mdmem new` writes such a file.
`mdmem check --fix` does it where no doubt is left.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.fixes.base import loaded_with_fixes
from mdmem.checks.fixes.front_matter import with_start
from mdmem.model.finding import Finding, Severity

CODE = "front-matter-missing"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each file that does not begin with a front matter."""
    yield from loaded_with_fixes(case, CODE, with_start)
