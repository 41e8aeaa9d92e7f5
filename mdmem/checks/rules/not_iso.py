"""A date is not written in the form of ISO 8601.

`03/05/2026` is the third of May or the fifth of March, depending on the reader. A date that is not read leaves its
field empty: the entry cannot be ordered among others, and is never due for review.

Fails:

    created_at: 05.03.2026
    verified_at: last week

Fix: write YYYY-MM-DD, or a time with its offset such as 2026-03-05T14:30:00+01:00.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mdmem.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.checks.case import Case

CODE = "not-iso"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each date of another form than ISO 8601."""
    yield from case.loaded(CODE)
