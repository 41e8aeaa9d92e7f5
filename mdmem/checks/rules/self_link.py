"""An entry links to itself.

An entry cannot supersede, override or contradict itself; the link is left over from a copied file or a rename, and what
was meant is not there.

Fails:

    app/rules/retry.md    supersedes: [app/rules/retry]

Fix: write the address that was meant, or remove the link.
`mdmem check --fix` does it.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case, Link
from mdmem.checks.fixes.base import is_only_cause, with_fix
from mdmem.markdown.patch import remove_item
from mdmem.model.finding import Finding, Severity

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
            help_ = "remove it, or write what was meant"
            shown = case.on_entry(CODE, link.entry, message, help_, field=link.field, item=link.item)
            yield _removed(case, link, shown)


def _removed(case: Case, link: Link, finding: Finding) -> Finding:
    """Remove the link where nothing that another check asks for is lost with it."""
    document = case.catalog.document(link.entry.path)
    is_needed = link.field == "overrides" and len(link.entry.overrides) == 1
    if is_needed or is_only_cause(document, link.field, link.item):
        return finding
    return with_fix(finding, f"Remove it from `{link.field}`", remove_item, document, link.field, link.item)
