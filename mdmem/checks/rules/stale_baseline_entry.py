"""The baseline records more findings of a check at an address than there are.

Some were mended, or the entry is gone. Left standing, the record lets the same fault in again without a word. Only a
run over the whole memory in which the check ran can tell.

Fails:

    {"code": "body-empty", "address": "app/rules/use-utc", "count": 1}     (and use-utc.md has a body by now)

Fix: run `mdmem check --update-baseline`, which writes down what is left.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.finding import Finding, Severity

CODE = "stale-baseline-entry"
SEVERITY = Severity.WARNING


def find(case: Case) -> Iterator[Finding]:
    """Yield what was added to the case; `baseline.apply_baseline` tells it after every other check ran."""
    yield from case.loaded(CODE)
