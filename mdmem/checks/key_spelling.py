"""A key surely means a field, but is spelt another way.

A key that is not read hides what it says: an entry with `superseded-by` looks as if nothing had replaced it.

Fails:

    superseded-by: app/rules/store-utc
    Status: active

Fix: write the field's own name, as in `superseded_by` and `status`.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.finding import Finding, Severity

CODE = "key-spelling"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each key that surely means a field and is not read as it."""
    yield from case.loaded(CODE)
