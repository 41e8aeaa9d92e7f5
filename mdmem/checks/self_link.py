"""An entry links to itself.

An entry cannot supersede, override or contradict itself; the link is left over from a copied file or a rename, and what
was meant is not there.

Fails:

    app/rules/retry.md    supersedes: [app/rules/retry]

Fix: write the address that was meant, or remove the link.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.finding import Finding, Severity

CODE = "self-link"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each link field in which an entry names itself."""
    seen: set[tuple[str, str]] = set()
    for link in case.links:
        key = (link.entry.address, link.field)
        if link.target == link.entry.address and key not in seen:
            seen.add(key)
            message = f"`{link.field}` names the entry itself"
            yield case.on_entry(
                CODE, link.entry, message, "remove it, or write what was meant", field=link.field, item=link.item
            )
