"""An entry in force refers to one that is superseded.

Who follows the link reads a rule that no longer holds. Supersession links are there for history and are left alone, and
so is what a session `produced`, and a reference from an entry to what it replaced itself.

Fails:

    status: active
    see: [app/rules/retry-v1]     (superseded by app/rules/retry-v2)

Fix: write the address of the entry that replaced it, named in the finding.
`mdmem check --unsafe-fixes` does it where one answer is likely.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case, Link
from mdmem.checks.fixes.links import with_link, with_reference
from mdmem.model.finding import Finding, Place, Severity

CODE = "link-to-superseded"
SEVERITY = Severity.WARNING
# What amends an ended entry is told by a check of its own.
_HISTORY = frozenset({"supersedes", "superseded_by", "amends"})


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each link or cross-reference from a current entry to one that another replaced."""
    for link in case.distinct_links:
        if not _is_history(link) and link.target in case.catalog.lineage.successors:
            place = case.catalog.place(link.entry.address, link.field, link.item)
            for shown, head in _stale(case, link.entry.address, link.target, place):
                yield with_link(shown, case, link, head, is_safe=False) if head else shown
    for found in case.references:
        if found.target in case.catalog.lineage.successors:
            place = case.catalog.document(f"{found.address}.md").body_place(found.link.offset, found.link.width)
            for shown, head in _stale(case, found.address, found.target, place):
                yield with_reference(shown, case, found, head, is_safe=False) if head else shown


def _is_history(link: Link) -> bool:
    return link.field in _HISTORY or (link.field == "produced" and link.entry.label == "session")


def _stale(case: Case, address: str, target: str, place: Place) -> Iterator[tuple[Finding, str | None]]:
    """Yield the finding, if the link is stale, with the one entry that holds instead."""
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
    finding = Finding(CODE, message, place, help_, address, other=Place(f"{target}.md"))
    yield finding, heads[0] if len(heads) == 1 else None
