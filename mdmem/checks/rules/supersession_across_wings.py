"""An entry supersedes one of another wing.

A shared rule binds other projects too, so a project cannot end it: it overrides the rule for itself. Neither can one
project end another's. Only promotion crosses wings: a shared entry that supersedes a project's.

Fails:

    shop/forms/controlled.md       supersedes: [react/forms/uncontrolled]     (react is shared)

Fix: write the address under `overrides` with a `reason`, and remove the supersession links on both ends.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.model.finding import Finding, Severity
from mdmem.store.catalog.edges import EdgeKind

CODE = "supersession-across-wings"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each edge that crosses wings and is no promotion, at the newer end where that names it."""
    for edge in case.edges:
        if edge.kind is not EdgeKind.ACROSS_WINGS:
            continue
        new, old = case.catalog.entries[edge.new], case.catalog.entries[edge.old]
        is_shared = case.catalog.wings[old.wing].is_shared
        help_ = "supersede it from within its own wing, or promote the new rule to a shared wing"
        if is_shared and not case.catalog.wings[new.wing].is_shared:
            help_ = f"write `overrides: {old.address}` with a `reason`, and remove the supersession links on both ends"
        kind = "shared" if is_shared else "project"
        forward, back = (
            case.link_place(new.address, "supersedes", old.address),
            case.link_place(old.address, "superseded_by", new.address),
        )
        if edge.by_new:
            message = f"supersedes `{old.address}` of the {kind} wing `{old.wing}`"
            yield Finding(CODE, message, forward, help_, new.address, other=back)
        else:
            message = f"superseded by `{new.address}` of another wing"
            yield Finding(CODE, message, back, help_, old.address, other=forward)
