"""The manifest of a wing holds something that cannot be read.

A manifest says whether a wing is shared, who owns it and which shared wings it reads. A key that is not read means the
default: a shared wing that counts as a project's, or shared invariants that nobody sees.

Fails:

    ---
    kind: libary
    ---

Fix: correct the value or the key; known are kind, project_id, owners, shared_wings, applies_to, description and
last_hygiene_at.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.model.finding import Finding, Severity

CODE = "manifest-invalid"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each fault of a wing's README.md, unless git cannot merge it."""
    yield from (finding for finding in case.loaded(CODE) if finding.place.path not in case.unmerged)
