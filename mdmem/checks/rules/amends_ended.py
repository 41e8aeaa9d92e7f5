"""An entry in force amends one that does not hold any more.

What replaced the amended entry was written with or without the amendment, and nobody can tell which: the amendment is
shown with neither. Where the amending entry itself replaced the other, it is no amendment.

Fails:

    app/rules/exception.md      status: active        amends: [app/rules/retry-once]
    app/rules/retry-once.md     status: deprecated    superseded_by: [app/rules/retry-twice]

Fix: amend what replaced it, which the finding names, or end the amendment with `mdmem deprecate`.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.model.entry import Status
from mdmem.model.finding import Finding, Severity

CODE = "amends-ended"
SEVERITY = Severity.WARNING


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each amendment in force of an entry that is not, at the link."""
    for link, old in case.amendments:
        if link.entry.status is Status.DRAFT or old.status is Status.DRAFT or case.is_current(old.address):
            continue
        heads = case.catalog.lineage.heads(old.address)
        named = " or ".join(f"`{head}`" for head in heads if head != link.entry.address)
        after = f", replaced by {named}" if named else ""
        help_ = f"amend {named} if this still holds" if named else "remove the link"
        help_ += f", or end this with `mdmem deprecate {link.entry.address} --reason TEXT`"
        place = case.catalog.place(link.entry.address, "amends", link.item)
        message = f"amends `{old.address}`, which has ended{after}"
        yield Finding(CODE, message, place, help_, link.entry.address, other=case.catalog.place(old.address, "status"))
