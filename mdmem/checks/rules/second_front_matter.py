"""A second front matter follows the first.

A tool that did not recognise the first one, because of its line endings or a byte order mark, put its own before it.
Which of the two is meant cannot be told; only the first is read.

Fails:

    ---
    title: Store times in UTC
    ---
    ---
    type: decision
    status: active
    ---

Fix: merge the two into one.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.finding import Finding, Severity

CODE = "second-front-matter"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each body that begins with a front matter of its own."""
    yield from case.loaded(CODE)
