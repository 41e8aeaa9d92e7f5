"""The clone is too shallow to tell where the change began.

Without the commit that both branches have in common, a comparison would take the other branch's work for this change's.
The run is incomplete.

Fails:

    git clone --depth 1 …, then mdmem check --base origin/main

Fix: fetch the history with `git fetch --unshallow`; in GitHub's checkout write `fetch-depth: 0`.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.finding import Finding, Severity

CODE = "shallow-history"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield what the missing commits kept from being compared, at the settings of the root."""
    yield from case.loaded(CODE)
