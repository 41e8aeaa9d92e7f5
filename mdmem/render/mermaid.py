"""The lineage of an entry as a flowchart of Mermaid: the same entries give the same text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from mdmem.catalog import Catalog
from mdmem.entry.model import Entry, Status, visible

# A chart of more is no help, and stays below the 40,000 characters that a client takes.
MOST = 100
_LONGEST = 80
# Everything but letters, digits and harmless marks: Mermaid reads quotes, brackets, `#`, backticks and HTML in labels.
_SPECIAL = re.compile(r"[^\w ./,:+()'=@-]")
_CLASSES = (
    "classDef current stroke-width:3px",
    "classDef ended stroke-dasharray:4",
    "classDef draft stroke-dasharray:1",
)


def lineage_flowchart(catalog: Catalog, address: str, *, most: int = MOST) -> str:
    """Return what an entry superseded and what supersedes it, with drafts, overrides and contradictions.

    Of more than `most` entries, those nearest to it are drawn, and a comment says how many are not.
    """
    edges = sorted(set(_edges(catalog, address)))
    near = _nearest(address, edges)
    drawn = set(near[:most])
    order = {one: f"n{number}" for number, one in enumerate(sorted(drawn, key=_by_age(catalog, address)))}
    lines = ["flowchart TD"]
    lines += [f"%% {len(near) - most} more entries are not drawn"] if len(near) > most else []
    lines += [f'{order[one]}["{_label(catalog, one)}"]:::{_class(catalog, one)}' for one in order]
    lines += [f"{order[a]} {arrow} {order[b]}" for a, b, arrow in edges if a in drawn and b in drawn]
    lines += [f"style {order[address]} fill:#ffe9a8,color:#000", *_CLASSES]
    return "\n    ".join(lines) + "\n"


def _edges(catalog: Catalog, address: str) -> Iterator[tuple[str, str, str]]:
    lineage, entries = catalog.lineage, catalog.entries
    chain = set(lineage.chain(address))
    for old in chain:
        yield from ((old, new, '-->|"superseded by"|') for new in lineage.successors.get(old, ()))
        yield from ((old, new, '-.->|"claimed by"|') for new in lineage.claimants_of(old))
    for one in entries.values():
        if one.status is Status.DRAFT:
            yield from ((old, one.address, '-.->|"may be superseded by"|') for old in _among(one.supersedes, chain))
        yield from _bearings(one, chain, entries)


def _bearings(one: Entry, chain: set[str], entries: Mapping[str, Entry]) -> Iterator[tuple[str, str, str]]:
    for arrow, named in (
        ('-->|"overrides"|', one.overrides),
        ('-->|"amends"|', one.amends),
        ('---|"conflicts with"|', one.conflicts_with),
    ):
        for other in named:
            if other in entries and other != one.address and not chain.isdisjoint((one.address, other)):
                yield one.address, other, arrow


def _among(named: Iterable[str], chain: set[str]) -> Iterator[str]:
    return (one for one in named if one in chain)


def _nearest(address: str, edges: Iterable[tuple[str, str, str]]) -> list[str]:
    """Return every entry that the edges reach, the nearest to one first, then by address."""
    beside: dict[str, set[str]] = {}
    for a, b, _ in edges:
        beside.setdefault(a, set()).add(b)
        beside.setdefault(b, set()).add(a)
    found = [address]
    seen = {address}
    for one in found:
        new = sorted(beside.get(one, set()) - seen)
        found += new
        seen.update(new)
    return found


def _by_age(catalog: Catalog, address: str) -> Callable[[str], tuple[int, str]]:
    chain = {one: number for number, one in enumerate(catalog.lineage.chain(address))}
    return lambda one: (chain.get(one, len(chain)), one)


def _class(catalog: Catalog, address: str) -> str:
    if catalog.lineage.is_current(address):
        return "current"
    return "draft" if catalog.entries[address].status is Status.DRAFT else "ended"


def _label(catalog: Catalog, address: str) -> str:
    entry = catalog.entries[address]
    made = f", {entry.created_at.isoformat()[:10]}" if entry.created_at else ""
    title = entry.title if len(entry.title) <= _LONGEST else f"{entry.title[: _LONGEST - 1]}…"
    return "<br/>".join([escaped(title), escaped(address), escaped(f"{entry.type}, {entry.status}{made}")])


def escaped(text: str) -> str:
    """Return a text as a label shows it: what Mermaid would read as its own is an entity of its kind."""
    return _SPECIAL.sub(lambda found: f"#{ord(found[0])};", visible(text))
