"""An entry in force refers to one that is superseded.

Who follows the link reads a rule that no longer holds. Supersession links are there for history and are left alone, and
so is a reference from an entry to what it replaced itself.

Fails:

    status: active
    see: [app/rules/retry-v1]     (superseded by app/rules/retry-v2)

Fix: write the address of the entry that replaced it, named in the finding.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.distinct_links import distinct_links
from mdmem.finding import Finding, Place, Severity

CODE = "link-to-superseded"
SEVERITY = Severity.WARNING
_HISTORY = frozenset({"supersedes", "superseded_by"})


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each link or cross-reference from a current entry to one that another replaced."""
    for link in distinct_links(case):
        if link.field not in _HISTORY and link.target in case.catalog.lineage.successors:
            place = case.catalog.place(link.entry.address, link.field, link.item)
            yield from _stale(case, link.entry.address, link.target, place)
    for found in case.references:
        if found.target in case.catalog.lineage.successors:
            place = case.catalog.document(f"{found.address}.md").body_place(found.link.offset, found.link.width)
            yield from _stale(case, found.address, found.target, place)


def _stale(case: Case, address: str, target: str, place: Place) -> Iterator[Finding]:
    lineage = case.catalog.lineage
    heads = lineage.heads(target)
    if target in heads or address in heads or not lineage.is_current(address) or target in lineage.ancestors(address):
        return
    named = " and ".join(f"`{head}`" for head in heads)
    if heads:
        message, help_ = f"`{target}` is superseded by {named}", f"write {named}"
    else:
        message, help_ = (
            f"`{target}` is superseded, and nothing in force replaces it",
            "remove the link, or say why it stays",
        )
    yield Finding(CODE, message, place, help_, address, other=Place(f"{target}.md"))
