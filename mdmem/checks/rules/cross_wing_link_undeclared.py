"""A link leads into a wing that the reader's wing does not read.

A project reads its own wing and the shared wings that its manifest names, all of them when it names none. A link into
any other wing leads to a rule that retrieval never returns here, and whose owners do not know who depends on it.
Supersession links are judged by `supersession-across-wings`. Each entry is reported once for each such wing.

Fails:

    shop/README.md               shared_wings: [react]
    shop/contracts/money.md      see: [billing/contracts/rounding]

Fix: add the shared wing to `shared_wings`, or move what both need into a shared wing.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case, Link
from mdmem.markdown.links import BodyLink
from mdmem.model.entry import Wing
from mdmem.model.finding import Finding, Place, Severity

CODE = "cross-wing-link-undeclared"
SEVERITY = Severity.WARNING
_HISTORY = frozenset({"supersedes", "superseded_by"})


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each entry and each wing that it links to undeclared, at the first such link."""
    seen: set[tuple[str, str]] = set()
    for address, target, link in _links(case):
        if case.catalog.hides(target) or target.split("/", 1)[0] in case.catalog.missing_wings:
            continue
        here, there = (case.catalog.wings[one.split("/", 1)[0]] for one in (address, target))
        if (address, there.name) in seen or _reads(here, there):
            continue
        seen.add((address, there.name))
        if there.is_shared:
            help_ = f"add `{there.name}` to `shared_wings` in the README.md of `{here.name}`"
        else:
            shared = f"write `kind: shared` in the README.md of `{there.name}` if its rules are meant for all"
            help_ = f"{shared}, else state here what is needed from it"
        message = f"`{target}` is in the {there.kind} wing `{there.name}`, which `{here.name}` does not read"
        yield Finding(CODE, message, _place(case, address, link), help_, address, other=Place(f"{target}.md"))


def _links(case: Case) -> Iterator[tuple[str, str, Link | BodyLink]]:
    for link in case.distinct_links:
        if link.target is not None and link.field not in _HISTORY and not link.target.startswith(f"{link.entry.wing}/"):
            yield link.entry.address, link.target, link
    for found in case.references:
        if found.path is None and found.target is not None:
            yield found.address, found.target, found.link


def _place(case: Case, address: str, link: Link | BodyLink) -> Place:
    if isinstance(link, Link):
        return case.catalog.place(address, link.field, link.item)
    return case.catalog.document(f"{address}.md").body_place(link.offset, link.width)


def _reads(here: Wing, there: Wing) -> bool:
    if here.name == there.name:
        return True
    return there.is_shared and (here.shared_wings is None or there.name in here.shared_wings)
