"""A value is not of the kind its field holds.

A value that cannot be read is left out of the entry, so `confidence: high` ranks nothing and a list under `owner`
names nobody, while a reader of the file believes that both count. A list field with a single value may be written as
a plain value.

Fails:

    version: two
    confidence: 80%
    owner: [web-team, api-team]

Fix: write a whole number from 1, a number from 0 to 1, one text; or rename the key to `x-...` to keep the value as it
is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mdmem.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.checks.case import Case

CODE = "wrong-type"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each value, or item of a list, that its field cannot hold."""
    yield from case.loaded(CODE)
