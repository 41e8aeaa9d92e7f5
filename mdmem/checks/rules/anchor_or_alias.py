"""The front matter uses a YAML anchor or alias.

Aliases can expand a few lines to gigabytes, and `&name` at the start of a value silently disappears from it. So
neither is expanded, and the entry is not read.

Fails:

    owner: &team navigation
    x-reviewer: *team

Fix: write the value out, or put it in quotes where `&` or `*` belongs to it.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.finding import Finding, Severity

CODE = "anchor-or-alias"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each anchor and each alias."""
    yield from case.loaded(CODE)
