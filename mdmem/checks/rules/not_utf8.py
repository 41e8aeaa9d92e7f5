"""The file holds bytes that are no UTF-8.

One decoder reads every file, so that an entry means the same on every machine. A file in Latin-1 or UTF-16 cannot be
read, and stands among the problems of every retrieval until it can.

Fails:

    title: Geschäftsregel        (the «ä» saved as the single byte 0xe4)

Fix: save the file as UTF-8, for instance `iconv -f latin1 -t utf-8`.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.finding import Finding, Severity

CODE = "not-utf8"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each file that is no UTF-8, at its first such byte."""
    yield from case.loaded(CODE)
