"""A field belongs to another type of entry.

`trigger`, `repeatable_steps` and `exclusions` are read for patterns only, `objective`, `actions_taken` and their like
for sessions, `entity` and `relations` for entities. Elsewhere nothing reads them, so what they say reaches nobody.

Fails:

    type: note
    trigger: The build fails on a clean checkout

Fix: make the entry the type that the field belongs to, give the note `label: session` or `label: entity`, or move the
text into the body.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mdmem.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.checks.case import Case

CODE = "field-not-for-type"
SEVERITY = Severity.WARNING


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each field that belongs to another type or label."""
    yield from case.loaded(CODE)
