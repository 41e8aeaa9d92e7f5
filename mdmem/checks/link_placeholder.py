"""A word such as `n/a`, `none` or `tbd` stands where an address belongs.

Templates ask for every field, and people who have nothing to say write that down. A reader that follows links then
looks for an entry called `n/a`, and a check for missing successors believes that there is one.

Fails:

    superseded_by: none
    see: [n/a]

Fix: remove the field; a link field that is absent says the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mdmem.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.checks.case import Case

CODE = "link-placeholder"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each link that is a placeholder."""
    yield from case.loaded(CODE)
