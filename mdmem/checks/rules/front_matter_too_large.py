"""The front matter is over 16 KiB.

The front matter holds a few plain fields; the limit keeps parsing bounded, whatever a file holds. A longer one is not
parsed, and the entry stands among the problems of every retrieval.

Fails:

    ---
    type: note
    x-transcript: |
      (20 KiB of a chat)
    ---

Fix: move the text into the body, below the closing `---`.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.finding import Finding, Severity

CODE = "front-matter-too-large"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each front matter over the limit."""
    yield from case.loaded(CODE)
