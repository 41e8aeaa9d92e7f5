"""One link field names the same entry twice.

A merge of two branches that each add the link leaves both. Written in two forms, in full and short, they are one link.

Fails:

    see: [app/rules/retry, retry]

Fix: remove the second.
`mdmem check --fix` does it.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case, Link
from mdmem.checks.fixes.base import with_fix
from mdmem.markdown.patch import remove_item
from mdmem.model.finding import Finding, Severity

CODE = "duplicate-link"
SEVERITY = Severity.WARNING


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each link that repeats an earlier one of its field, other than to the entry itself."""
    first: dict[tuple[str, str, str], Link] = {}
    for link in case.links:
        meant = link.target or link.written
        if meant == link.entry.address:
            continue
        earlier = first.setdefault((link.entry.address, link.field, meant), link)
        if earlier is not link:
            place, other = (case.catalog.place(one.entry.address, one.field, one.item) for one in (link, earlier))
            message = f"`{link.field}` names `{meant}` twice"
            shown = Finding(CODE, message, place, "remove this one", link.entry.address, other=other)
            document = case.catalog.document(link.entry.path)
            yield with_fix(shown, "Remove the second", remove_item, document, link.field, link.item)
