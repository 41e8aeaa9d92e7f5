"""git is there and does not answer.

It distrusts the owner of the repository, is too old for what was asked, or cannot write where it must: what it would
have told is missing, and silence would look like a clean change. The run is incomplete.

Fails:

    mdmem check --merge main      (and git is older than 2.38)

Fix: do what the finding says, for instance `git config --global --add safe.directory DIR`, and run it again.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.finding import Finding, Severity

CODE = "git-unavailable"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield what git would not do, at the settings of the root."""
    yield from case.loaded(CODE)
