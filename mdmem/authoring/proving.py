"""Whether the files as they would be are what was meant: every touched one loads, and no link or edge of it breaks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

from mdmem.catalog import Catalog
from mdmem.checks.edges import EdgeKind, classify
from mdmem.entry.model import LINK_FIELDS
from mdmem.finding import Severity

_HARMLESS = (EdgeKind.SOUND, EdgeKind.PENDING)


def new_faults(
    before: Catalog, after: Catalog, touched: Collection[str], *, moved: Mapping[str, str] | None = None
) -> Iterator[str]:
    """Yield a sentence for each fault that the touched addresses have afterwards and had not before, sorted.

    `moved` gives the new address of each that has another one.
    """

    def now(address: str) -> str:
        return moved.get(address, address) if moved else address

    yield from _unread(before, after, touched, now)
    yield from _dangling(before, after, touched, now)
    known = {(now(edge.old), now(edge.new), edge.kind) for edge in classify(before)}
    for edge in classify(after):
        is_new = (edge.old, edge.new, edge.kind) not in known
        if is_new and edge.kind not in _HARMLESS and not {edge.old, edge.new}.isdisjoint(touched):
            yield f"`{edge.new}` supersedes `{edge.old}`: {_MEANT.get(edge.kind, edge.kind.value)}"


_MEANT = {
    EdgeKind.ACROSS_WINGS: "a project entry overrides one of another wing, it does not supersede it",
    EdgeKind.CYCLE: "the two would supersede each other",
    EdgeKind.DANGLING: "one of them does not exist",
    EdgeKind.MISMATCH: "the older one names another successor",
    EdgeKind.SELF: "an entry cannot supersede itself",
    EdgeKind.TWO_SUCCESSORS: "another entry supersedes it already",
    EdgeKind.UNKNOWN: "one of them cannot be read",
}


Now = Callable[[str], str]


def _unread(before: Catalog, after: Catalog, touched: Collection[str], now: Now) -> Iterator[str]:
    broken = {now(path.removesuffix(".md")) for path in before.broken}
    for address in sorted(touched):
        path = f"{address}.md"
        if path in after.broken and address not in broken:
            first = after.broken[path].findings[0]
            yield f"{path}:{first.place.line}: {first.message}; {first.help}"
    known = {(one.code, now(one.place.path.removesuffix(".md")), one.message) for one in before.findings}
    for finding in after.findings:
        address = finding.place.path.removesuffix(".md")
        is_new = (finding.code, address, finding.message) not in known
        is_ours = address in touched
        if is_new and is_ours and finding.severity is not Severity.WARNING and finding.place.path not in after.broken:
            yield f"{finding.place.path}:{finding.place.line}: {finding.message}; {finding.help}"


def _dangling(before: Catalog, after: Catalog, touched: Collection[str], now: Now) -> Iterator[str]:
    was = {now(address): address for address in before.entries}
    for address in sorted(after.entries.keys() & touched):
        known = {link for name in LINK_FIELDS for link in _links(before, was.get(address, address), name)}
        for name in LINK_FIELDS:
            for link in _links(after, address, name):
                if link not in after.addresses and link not in known:
                    yield f"`{name}` of `{address}` would name `{link}`, which does not exist"


def _links(catalog: Catalog, address: str, name: str) -> tuple[str, ...]:
    entry = catalog.entries.get(address)
    return entry.links(name) if entry is not None else ()
