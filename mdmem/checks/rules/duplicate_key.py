"""A key stands twice in one front matter.

YAML readers keep the last of two equal keys and say nothing, and a clean merge of two branches that each add `tags`
makes such a file. Which of the two was meant cannot be told, so the entry is not read.

Fails:

    status: active
    tags: [api]
    status: deprecated

Fix: keep one of the two lines.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.finding import Finding, Severity

CODE = "duplicate-key"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each key that repeats an earlier one."""
    yield from case.loaded(CODE)
