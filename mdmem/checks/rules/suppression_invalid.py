"""A suppression names no check, gives no reason, or is about a check that no file can silence.

It keeps nothing back, and whoever wrote it believes that it does. A reason is asked for because the next reader cannot
tell a judgement from a slip. What cannot be silenced by the file itself: what a change did to it, what a merge made of
it, and that something was not read.

Fails:

    <!-- mdmem: ignore vague-invariant -->
    <!-- mdmem: ignore vague-invarient the word is quoted -->
    ignore: {frozen-text-changed: a typo}

Fix: write the code and why it does not apply here, `<!-- mdmem: ignore CODE REASON -->`.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.model.finding import Finding, Severity

CODE = "suppression-invalid"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each suppression that keeps nothing back for a fault of its own."""
    for suppression in case.suppressions:
        if suppression.fault is not None:
            message, help_ = suppression.fault
            yield Finding(CODE, message, suppression.place, help_, suppression.address)
