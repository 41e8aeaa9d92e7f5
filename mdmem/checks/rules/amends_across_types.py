"""An entry amends one of higher authority.

The order is invariant, decision, pattern, note. A note cannot change a part of a decision: readers would follow it, and
whoever guards the decision never saw it. Such an amendment counts for nothing, and answers do not show it.

Fails:

    app/rules/exception.md    type: note        amends: [app/rules/retry-twice]
    app/rules/retry-twice.md  type: decision

Fix: give the amending entry the type of the amended one, or write `see` instead.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.model.finding import Finding, Severity
from mdmem.store.catalog.amendments import is_lower

CODE = "amends-across-types"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each amendment of an entry that weighs more, at the link."""
    for link, old in case.amendments:
        if is_lower(link.entry, old):
            message = f"a {link.entry.type} amends the {old.type} `{old.address}`"
            help_ = f"write `type: {old.type}`, or `see: [{old.address}]` in place of `amends`"
            place = case.catalog.place(link.entry.address, "amends", link.item)
            yield Finding(
                CODE, message, place, help_, link.entry.address, other=case.catalog.place(old.address, "type")
            )
