"""A suppression kept nothing back: the check it names finds nothing in its file.

What it excused is mended, or the suppression never fitted. Left standing, it silences the next fault of that kind.
Only a run in which the named check ran can tell; checks that depend on what git has here are not told of.

Fails:

    <!-- mdmem: ignore body-empty the title says it all -->     (and the body has a sentence by now)

Fix: remove the comment, or the code from `ignore`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mdmem.checks.case import Case
from mdmem.checks.suppressions import Suppression
from mdmem.model.finding import Finding, Severity

CODE = "unused-suppression"
SEVERITY = Severity.WARNING


def find(case: Case) -> Iterator[Finding]:
    """Yield what the run added to the case: no check can tell alone what the others find."""
    yield from case.loaded(CODE)


def unused(suppressions: Iterable[Suppression]) -> tuple[Finding, ...]:
    """Return one finding for each of some suppressions that kept nothing back."""
    return tuple(
        Finding(CODE, f"`{one.code}` finds nothing here that could be ignored", one.place, "remove it", one.address)
        for one in suppressions
    )
