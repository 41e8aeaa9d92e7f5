"""A field that every entry needs is absent or empty.

`type` gives an entry its authority, `status` says whether it binds, `created_at` orders it among others. Without
`type` or `status` the entry cannot be read: it may be an invariant, so every retrieval has to name it as a problem.

Fails:

    ---
    type: decision
    created_at: 2026-03-05
    ---

Fix: add the field; here `status: draft` until the decision is approved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mdmem.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.checks.case import Case

CODE = "missing-field"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each of `type`, `status` and `created_at` that is absent or empty."""
    yield from case.loaded(CODE)
