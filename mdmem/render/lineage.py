"""Draw the supersessions, drafts, amendments, overrides and contradictions of entries as SVG or Mermaid."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from enum import StrEnum
from functools import cached_property
from html import escape
from textwrap import wrap

from msgspec import Struct

from mdmem.model.entry import Entry, Status, day_of
from mdmem.model.text import first_of, visible
from mdmem.record import grouped
from mdmem.render.text import shorten
from mdmem.store.catalog.model import Catalog

# The most entries in a picture or flowchart; a larger one is hard to read.
MAX_BOXES = 60


class Relation(StrEnum):
    """The relation of two entries, as the label of an arrow."""

    SUPERSEDED = "superseded by"
    CLAIMED = "claimed by"
    PROPOSED = "may be superseded by"
    OVERRIDES = "overrides"
    AMENDS = "amends"
    CONFLICTS = "conflicts with"


# Relations from the older entry to the newer one.
_FORWARD = frozenset({Relation.SUPERSEDED, Relation.CLAIMED, Relation.PROPOSED})


class BoxState(StrEnum):
    """Whether an entry is current, current but under review, a draft, or no longer current."""

    CURRENT = "current"
    REVIEWED = "under review"
    DRAFT = "draft"
    SUPERSEDED = "superseded"
    DEPRECATED = "deprecated"

    @property
    def is_ended(self) -> bool:
        """Return whether the entry is no longer current."""
        return self in (BoxState.SUPERSEDED, BoxState.DEPRECATED)

    @property
    def css(self) -> str:
        """Return the CSS class of the state."""
        return "ended" if self.is_ended else self.name.lower()


class Arrow(Struct, frozen=True, order=True):
    """An arrow from one address to another, with the relation of the two entries."""

    start: str
    end: str
    kind: Relation

    @property
    def forward(self) -> tuple[str, str]:
        """Return the left and right end; a newer, amending, overriding or contradicting entry is on the right."""
        return (self.start, self.end) if self.kind in _FORWARD else (self.end, self.start)


class Box(Struct, frozen=True):
    """An entry to draw as a box; `is_asked` says that the graph was requested for this entry."""

    entry: Entry
    state: BoxState
    is_asked: bool = False

    @property
    def days(self) -> str:
        """Return the day of creation, and of deprecation if the entry is not current; empty without a date."""
        begin, end = (f"{day_of(one)}" if one else "" for one in (self.entry.created_at, self.entry.deprecated_at))
        return f"{begin or '?'} – {end or '?'}" if self.state.is_ended and (begin or end) else begin


class LineageGraph(Struct, frozen=True):
    """The entries to draw, the oldest of a chain first, their arrows, and the number of entries that are not drawn."""

    nodes: tuple[Box, ...]
    edges: tuple[Arrow, ...]
    hidden: int = 0


class Relations(Struct, frozen=True, dict=True):
    """The arrows between all entries of a catalog."""

    catalog: Catalog

    @cached_property
    def arrows(self) -> Mapping[str, Sequence[Arrow]]:
        """Return, for each address, the arrows that start or end there."""
        entries, lineage, arrows = self.catalog.entries, self.catalog.lineage, list[Arrow]()
        for address, one in entries.items():
            arrows += (Arrow(address, new, Relation.SUPERSEDED) for new in lineage.successors.get(address, ()))
            arrows += (Arrow(address, new, Relation.CLAIMED) for new in lineage.claimants_of(address))
            if one.status is Status.DRAFT:
                arrows += (Arrow(old, address, Relation.PROPOSED) for old in one.supersedes if old in entries)
            for kind, linked in (
                (Relation.OVERRIDES, one.overrides),
                (Relation.AMENDS, one.amends),
                (Relation.CONFLICTS, one.contradicts),
            ):
                arrows += (Arrow(address, other, kind) for other in linked if other in entries and other != address)
        return _by_end(arrows)

    @cached_property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Return groups of connected entries, the largest first; in a group, a chain starts with its oldest entry."""
        found, seen = [], set[str]()
        for one in sorted(self.arrows):
            if one not in seen:
                members = set(_reachable([one], self.arrows))
                seen |= members
                chains = (self.catalog.lineage.chain(member) for member in sorted(members))
                found.append(tuple(dict.fromkeys(it for chain in chains for it in chain if it in members)))
        return tuple(sorted(found, key=lambda group: (-len(group), group)))

    def graph(self, addresses: Sequence[str] = (), *, today: date, wing: str | None = None) -> LineageGraph:
        """Return the graph of the chains of some entries with their relations; the `MAX_BOXES` nearest are drawn.

        Without addresses, all related entries are drawn, the largest group first; with `wing`, only the groups with an
        entry of that wing.
        """
        catalog, found = self.catalog, set[Arrow]()
        groups = (group for group in self.groups if wing is None or any(it.startswith(f"{wing}/") for it in group))
        related = [one for group in groups for one in group]
        starts = addresses or related[:MAX_BOXES]
        order = dict.fromkeys(one for address in starts for one in catalog.lineage.chain(address))
        for one in order:
            # A draft is drawn with the entry that it may supersede.
            own = self.arrows.get(one, ())
            found.update(arrow for arrow in own if arrow.kind is not Relation.PROPOSED or arrow.start in order)
        near = _reachable(starts, _by_end(found))
        drawn = set(near[:MAX_BOXES])
        shown = [*(one for one in order if one in drawn), *sorted(drawn - order.keys())]
        boxes = (Box(catalog.entries[one], state_of(catalog, one, today=today), one in addresses) for one in shown)
        arrows = (arrow for arrow in sorted(found) if arrow.start in drawn and arrow.end in drawn)
        return LineageGraph(tuple(boxes), tuple(arrows), max(0, len(near if addresses else related) - MAX_BOXES))


def _by_end(arrows: Iterable[Arrow]) -> dict[str, list[Arrow]]:
    return grouped((end, arrow) for arrow in arrows for end in (arrow.start, arrow.end))


def _reachable(starts: Iterable[str], arrows: Mapping[str, Iterable[Arrow]]) -> list[str]:
    """Return the given entries and all entries connected with them, the nearest first, then by address."""
    found = dict.fromkeys(starts)
    queue = list(found)
    for one in queue:
        new = {end for arrow in arrows.get(one, ()) for end in (arrow.start, arrow.end)} - found.keys()
        queue += sorted(new)
        found |= dict.fromkeys(new)
    return queue


def state_of(catalog: Catalog, address: str, *, today: date) -> BoxState:
    """Return the state of an entry on a day; superseded means that a current entry replaced it."""
    status = catalog.entries[address].status_on(today)
    if status is Status.DRAFT:
        return BoxState.DRAFT
    if not catalog.lineage.is_current(address):
        return BoxState.SUPERSEDED if catalog.lineage.heads(address) else BoxState.DEPRECATED
    return BoxState.REVIEWED if status is Status.UNDER_REVIEW else BoxState.CURRENT


_MAX_TITLE = 80
# All characters except letters, digits and harmless punctuation. Mermaid interprets quotes, brackets, `#` and HTML.
_SPECIAL = re.compile(r"[^\w ./,:+()'=@?–-]")
_CHART_LINES = {Relation.CLAIMED: "-.->", Relation.PROPOSED: "-.->", Relation.CONFLICTS: "---"}


def lineage_flowchart(graph: LineageGraph) -> str:
    """Return a graph as a flowchart in Mermaid; a comment counts the hidden entries."""
    names = {node.entry.address: f"n{number}" for number, node in enumerate(graph.nodes)}
    lines = ["flowchart TD"]
    lines += [f"%% {graph.hidden} more entries are not drawn"] if graph.hidden else []
    for node in graph.nodes:
        entry = node.entry
        about = ", ".join(filter(None, (entry.type.value, entry.status.value, node.days)))
        text = "<br/>".join(map(chart_text, (shorten(entry.title, _MAX_TITLE), entry.address, about)))
        lines.append(f'{names[entry.address]}["{text}"]:::{node.state.css}')
    for edge in graph.edges:
        lines.append(f'{names[edge.start]} {_CHART_LINES.get(edge.kind, "-->")}|"{edge.kind}"| {names[edge.end]}')
    lines += ["classDef current stroke-width:3px", "classDef reviewed stroke-width:3px"]
    lines += ["classDef ended stroke-dasharray:4", "classDef draft stroke-dasharray:1"]
    return "\n    ".join(lines) + "\n"


def chart_text(text: str) -> str:
    """Escape a text for a flowchart: characters that Mermaid may interpret become entities."""
    return _SPECIAL.sub(lambda found: f"#{ord(found[0])};", visible(text))


def layout(nodes: Sequence[str], edges: Sequence[tuple[str, str]]) -> dict[str, tuple[int, int]]:
    """Return column and row (from 0) of each node, so that edges lead to the right, except one edge of each cycle."""
    before = defaultdict[str, list[str]](list)
    for start, end in edges:
        before[end] += [start] if start != end else []
    columns: dict[str, int] = {}

    def column_of(node: str, behind: frozenset[str] = frozenset()) -> int:
        if node not in columns:
            behind |= {node}
            earlier = (column_of(one, behind) for one in before[node] if one not in behind)
            columns[node] = 1 + max(earlier, default=-1)
        return columns[node]

    for node in nodes:
        column_of(node)
    places: dict[str, tuple[int, int]] = {}
    for node in sorted(nodes, key=lambda one: columns[one]):
        row = min((places[one][1] for one in before[node] if one in places), default=0)
        while (columns[node], row) in places.values():
            row += 1
        places[node] = columns[node], row
    return places


# In pixels: a box is wide enough for a type, a state and two days in any font.
_BOX, _TALL, _GAP, _ROW = 284, 76, 104, 104
_EDGE = 12
_TITLE, _LINES, _ADDRESS = 33, 2, 37
# The style sheet of a single picture. The pages have their own.
STYLE = """
.lineage{font:13px/1.3 system-ui,-apple-system,"Segoe UI",sans-serif;color:#1c2530;background:#fff}
.lineage rect{fill:#fff;stroke:#7f8995;stroke-width:1.5}
.lineage text{fill:currentColor}.lineage .about{fill:#5b6876;font-size:11px}
.lineage .invariant .bar{fill:#8c2f39}.lineage .decision .bar{fill:#1f5f99}
.lineage .pattern .bar{fill:#3a6632}.lineage .note .bar{fill:#66562a}
.lineage .ended rect{fill:#f4f5f6;stroke:#9aa4ae;stroke-dasharray:6 4}
.lineage .ended .title{text-decoration:line-through;fill:#5b6876}
.lineage .draft rect{stroke:#8a6d1a;stroke-dasharray:2 4}
.lineage .draft .title{font-style:italic}
.lineage .reviewed rect{stroke:#c05b1c}.lineage g rect.bar{stroke:none}.lineage .asked rect{stroke-width:3}
.lineage path{fill:none;stroke:#6b7885;stroke-width:1.5}.lineage .loose{stroke-dasharray:5 4}
.lineage .clash{stroke:#b3261e}
.lineage .way{fill:#5b6876;font-size:11px;paint-order:stroke;stroke:#fff;stroke-width:5px}
""".strip().replace("\n", "")
_HEAD = (
    '<defs><marker id="to" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
    '<path d="M1,1 L7,4 L1,7"/></marker></defs>'
)
_LOOSE = {Relation.CLAIMED: "loose", Relation.PROPOSED: "loose", Relation.CONFLICTS: "clash"}


def lineage_svg(graph: LineageGraph, *, href: Callable[[str], str] | None = None) -> str:
    """Return a graph as SVG, for a page if `href` returns the link of an address, else with its own style sheet."""
    places = layout([node.entry.address for node in graph.nodes], [edge.forward for edge in graph.edges])
    corners = {one: (_EDGE + x * (_BOX + _GAP), _EDGE + y * _ROW) for one, (x, y) in places.items()}
    width = max((x for x, _ in corners.values()), default=0) + _BOX + _EDGE
    height = max((y for _, y in corners.values()), default=0) + _ROW + (24 if graph.hidden else 0)
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    # A screen reader skips the parts of an image, so a picture with links is a group.
    role = "img" if href is None else "group"
    described = f'role="{role}" aria-labelledby="lineage-title" aria-describedby="lineage-said"'
    asked = [node.entry.title for node in graph.nodes if node.is_asked]
    title = f"Lineage of {first_of(asked, 3)}" if asked else "Supersessions and other relations"
    titles = {node.entry.address: node.entry.title for node in graph.nodes}
    # Sentences for screen readers.
    sentences = [f"{one.entry.title} is {one.state}{f', {one.days}' if one.days else ''}." for one in graph.nodes]
    for edge in graph.edges:
        verb = "is " if edge.kind in (Relation.SUPERSEDED, Relation.CLAIMED) else ""
        sentences.append(f"{titles[edge.start]} {verb}{edge.kind} {titles[edge.end]}.")
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="lineage" {size} {described}>',
        f'<title id="lineage-title">{_text(title)}</title>',
        f'<desc id="lineage-said">{_text(" ".join(sentences))}</desc>',
        *([f"<style>{STYLE}</style>"] if href is None else []),
        _HEAD,
        *(line for edge in graph.edges for line in _arrow(edge, corners)),
    ]
    for node in graph.nodes:
        (x, y), link = corners[node.entry.address], href(node.entry.address) if href is not None else None
        parts += _box(node, x, y, link)
    if graph.hidden:
        parts.append(f'<text class="way" x="{_EDGE}" y="{height - 10}">+{graph.hidden} more are not drawn</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _arrow(edge: Arrow, corners: Mapping[str, tuple[int, int]]) -> Iterator[str]:
    is_conflict = edge.kind is Relation.CONFLICTS
    # A contradiction has no direction, so its ends are sorted by position.
    start, end = sorted(edge.forward, key=lambda one: corners[one]) if is_conflict else edge.forward
    (left, top), (right, low) = corners[start], corners[end]
    # An arrow within a column, or to the left, leads around the right side of the boxes.
    is_back, bend = right <= left, _GAP // 2
    x1, y1, x2, y2 = left + _BOX, top + _TALL // 2, right + _BOX * is_back, low + _TALL // 2
    # An arrow that passes other boxes sags below them.
    sag = _TALL if x2 - x1 > _GAP else 0
    ways = [f"{x1},{y1}", f"{x1 + bend},{y1 + sag}", f"{x2 + bend if is_back else x2 - bend},{y2 + sag}", f"{x2},{y2}"]
    first, *others = ways if edge.kind in _FORWARD else reversed(ways)
    kind = f' class="{_LOOSE[edge.kind]}"' if edge.kind in _LOOSE else ""
    head = "" if is_conflict else ' marker-end="url(#to)"'
    yield f'<path{kind} d="M{first} C{" ".join(others)}"{head}/>'
    # The full name would be too long for the gap between two boxes.
    label = "proposed" if edge.kind is Relation.PROPOSED else edge.kind
    x, y = (x1 + x2) // 2, (y1 + y2) // 2 + sag * 3 // 4
    yield f'<text class="way" text-anchor="middle" x="{x}" y="{y - 6}">{label}</text>'


def _box(node: Box, x: int, y: int, link: str | None) -> Iterator[str]:
    entry, asked = node.entry, " asked" if node.is_asked else ""
    opening, end = ("", "</g>") if link is None else (f'<a href="{escape(link)}">', "</a></g>")
    yield f'<g class="{node.state.css} {entry.type}{asked}">{opening}<title>{_text(entry.title)}</title>'
    yield f'<rect x="{x}" y="{y}" width="{_BOX}" height="{_TALL}" rx="6"/>'
    yield f'<rect class="bar" x="{x}" y="{y}" width="5" height="{_TALL}" rx="2"/>'
    lines = wrap(shorten(entry.title), _TITLE, max_lines=_LINES, placeholder="…", break_on_hyphens=False)
    for number, line in enumerate(lines):
        yield f'<text class="title" x="{x + 14}" y="{y + 19 + 16 * number}">{_text(line)}</text>'
    address = visible(entry.address)
    shown = address if len(address) <= _ADDRESS else f"…{address[1 - _ADDRESS :]}"
    about = ", ".join(filter(None, (entry.type.value, node.state.value, node.days)))
    yield f'<text class="about" x="{x + 14}" y="{y + 53}">{_text(shown)}</text>'
    yield f'<text class="about" x="{x + 14}" y="{y + 68}">{_text(about)}</text>'
    yield end


def _text(text: str) -> str:
    return escape(visible(text), quote=False)
