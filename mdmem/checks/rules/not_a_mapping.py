"""The front matter is a list or a text, not fields.

An entry is described by fields, one `key: value` a line. A list of them has no names to look up.

Fails:

    ---
    - type: decision
    - status: active
    ---

Fix: write one `key: value` a line, without the dashes.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.finding import Finding, Severity

CODE = "not-a-mapping"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each front matter that is a list or a text."""
    yield from case.loaded(CODE)
