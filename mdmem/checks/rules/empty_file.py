"""The file is empty, or holds only blanks.

An empty file in an entry's place is a write that was cut short, or an entry that was never begun. Its address exists,
so links to it look right, and nothing stands there.

Fails:

    $ touch app/rules/use-utc.md

Fix: delete the file, or write the entry with `mdmem new`.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.finding import Finding, Severity

CODE = "empty-file"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each file without a word in it."""
    yield from case.loaded(CODE)
