"""A file or folder is there and cannot be read.

What cannot be read may hold an invariant, so it never counts as absent: the run is incomplete, and every retrieval
names the file among its problems.

Fails:

    app/rules/use-utc.md    (permission denied)

Fix: give yourself the right to read it, for instance `chmod u+r FILE`, and run this again.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.finding import Finding, Severity

CODE = "unreadable"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each file or folder that is there and cannot be read."""
    yield from case.loaded(CODE)
