"""A key belongs to no field.

Nothing reads it, so what it says has no effect; often it is a slip in a field's name. Keys that begin with `x-` are
yours: they are kept, and never interpreted.

Fails:

    confidance: 0.8

Fix: write the field's name, or put `x-` before a key of your own.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.finding import Finding, Severity

CODE = "unknown-key"
SEVERITY = Severity.WARNING


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each key that no type of entry has."""
    yield from case.loaded(CODE)
