"""The tree to compare with cannot be read.

Without it nothing tells what the change deletes, activates or rewrites, and silence would look like a clean change. The
run is incomplete.

Fails:

    mdmem check --base origin/main     (and the clone has no origin/main)

Fix: fetch the branch, for instance `git fetch origin main`, or name another with `--base`.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.finding import Finding, Severity

CODE = "base-unavailable"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield what kept the base from being read, at the settings of the root."""
    yield from case.loaded(CODE)
