"""A field holds a wiki link.

In YAML `[[x]]` is a list in a list, so other tools see no link there at all. In a field an address stands plain; in
the body `[[x]]` is fine.

Fails:

    supersedes: [[app/rules/local-times]]

Fix: write `supersedes: [app/rules/local-times]`.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.finding import Finding, Severity

CODE = "wiki-link-value"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each wiki link in a field."""
    yield from case.loaded(CODE)
