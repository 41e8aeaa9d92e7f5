"""Both sides of a merge add an entry at the same address, and the two differ.

An address is the name that links use. Keeping both texts under one name is no merge: what was linked to on one side
means the other side's rule from then on.

Fails:

    ours:      app/rules/retry.md    Calls are retried once.
    theirs:    app/rules/retry.md    Calls are retried five times.

Fix: move one of the two with `mdmem mv` before the merge, or withdraw it.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.model.finding import Finding, Place, Severity

CODE = "merge-address-collision"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each address that both sides added with different content."""
    if case.merge is None:
        return
    for address in case.merge.collided():
        message = f"{case.merge.ours.name} and {case.merge.theirs.name} each add another entry at this address"
        help_ = f"move one of them, as with `mdmem mv {address} {address}-2`, or withdraw it"
        yield Finding(CODE, message, Place(f"{address}.md"), help_, address)
