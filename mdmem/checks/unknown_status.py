"""The status is none of draft, active, under_review and deprecated.

The status says whether an entry binds. Among the Kubernetes proposals one was `imlpemented`, and every tool that
looked for `implemented` passed it by. An entry of an unknown status is not read, and stands among the problems of
every retrieval.

Fails:

    status: superseded

Fix: write one of the four. What was accepted is `active`, what was proposed is `draft`, what was replaced is
`deprecated` with `superseded_by`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mdmem.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.checks.case import Case

CODE = "unknown-status"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each `status` that is none of the four."""
    yield from case.loaded(CODE)
