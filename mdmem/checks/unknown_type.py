"""The type is none of invariant, decision, pattern and note.

The type is the entry's authority: an invariant is never left out, a note is the first to go. An entry of an unknown
type cannot be ordered, so it is not read, and stands among the problems of every retrieval.

Fails:

    type: desicion

Fix: write one of the four types; what else the entry is goes into `label`, as in `type: note` with `label: session`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mdmem.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.checks.case import Case

CODE = "unknown-type"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each `type` that is none of the four."""
    yield from case.loaded(CODE)
