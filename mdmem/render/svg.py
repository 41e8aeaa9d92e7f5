"""Draw a lineage as SVG: the places of its boxes, and the picture."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from textwrap import wrap

from msgspec import Struct

from mdmem.model.text import visible
from mdmem.render.lineage_graph import FORWARD, Arrow, Box, BoxState, LineageGraph, Way

# More sweeps change nothing in drawings of this size.
_SWEEPS = 6


class Placement(Struct, frozen=True):
    """The column and row of each node, and for each edge the free places that it passes."""

    places: Mapping[str, tuple[int, int]]
    ways: Mapping[tuple[str, str], tuple[tuple[int, int], ...]]


def layered(nodes: Sequence[str], edges: Sequence[tuple[str, str]]) -> Placement:
    """Return the places of nodes, so that edges lead to the right, except the one that closes a cycle."""
    forward = _without_cycles(nodes, edges)
    column = _columns(nodes, forward)
    links: list[tuple[str, str]] = []
    between: dict[tuple[str, str], list[str]] = {}
    layers: list[list[str]] = [[] for _ in range(max(column.values(), default=-1) + 1)]
    for node in nodes:
        layers[column[node]].append(node)
    for start, end in forward:
        way = [start]
        for at in range(column[start] + 1, column[end]):
            way.append(f"{start}\0{end}\0{at}")
            layers[at].append(way[-1])
        links += zip(way, [*way[1:], end], strict=True)
        between[start, end] = way[1:]
    rows = _rows(layers, links)
    return Placement(
        {node: (column[node], rows[node]) for node in nodes},
        {
            edge: tuple((column[edge[0]] + 1 + at, rows[one]) for at, one in enumerate(way))
            for edge, way in between.items()
        },
    )


def _without_cycles(nodes: Sequence[str], edges: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the edges without those that close a cycle."""
    after: dict[str, list[str]] = {node: [] for node in nodes}
    kept = []
    for start, end in edges:
        if start != end and not _reaches(after, end, start):
            after[start].append(end)
            kept.append((start, end))
    return kept


def _reaches(after: Mapping[str, Sequence[str]], start: str, end: str) -> bool:
    seen, todo = {start}, [start]
    while todo:
        one = todo.pop()
        if one == end:
            return True
        new = [other for other in after[one] if other not in seen]
        seen.update(new)
        todo += new
    return False


def _columns(nodes: Sequence[str], edges: Sequence[tuple[str, str]]) -> dict[str, int]:
    """Return the length of the longest path to each node; a node without a path is just before its follower."""
    column = dict.fromkeys(nodes, 0)
    for _ in nodes:
        moved = False
        for start, end in edges:
            if column[end] <= column[start]:
                column[end] = column[start] + 1
                moved = True
        if not moved:
            break
    led_to = {end for _, end in edges}
    for node in nodes:
        followers = [column[end] for start, end in edges if start == node]
        if node not in led_to and followers:
            column[node] = min(followers) - 1
    return column


def _rows(layers: list[list[str]], links: Sequence[tuple[str, str]]) -> dict[str, int]:
    before: dict[str, list[str]] = {}
    after: dict[str, list[str]] = {}
    for start, end in links:
        after.setdefault(start, []).append(end)
        before.setdefault(end, []).append(start)
    rows = {node: row for layer in layers for row, node in enumerate(layer)}
    for sweep in range(_SWEEPS):
        neighbours = before if sweep % 2 == 0 else after
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            place = {node: (_middle(node, neighbours, rows), rows[node]) for node in layer}
            layer.sort(key=place.__getitem__)
            _spread(layer, {node: place[node][0] for node in layer}, rows)
    used = {row: number for number, row in enumerate(sorted(set(rows.values())))}
    return {node: used[row] for node, row in rows.items()}


def _middle(node: str, neighbours: Mapping[str, Sequence[str]], rows: Mapping[str, int]) -> float:
    found = [rows[one] for one in neighbours.get(node, ())]
    return sum(found) / len(found) if found else float(rows[node])


def _spread(layer: Sequence[str], wanted: Mapping[str, float], rows: dict[str, int]) -> None:
    """Give each node of a layer its wanted row, or the next free one, in the same order."""
    last = None
    for node in layer:
        row = round(wanted[node])
        rows[node] = row if last is None or row > last else last + 1
        last = rows[node]


# Wide enough for a type, a state and two days in any font.
BOX, TALL, GAP, ROW = 272, 76, 104, 104
_EDGE = 12
_TITLE, _LINES, _ADDRESS = 33, 2, 37
_REASON, _REASON_LINES, _REASON_TALL = 38, 4, 14
# For a single picture; a page has the same in its style sheet.
STYLE = """
.lineage{font:13px/1.3 system-ui,-apple-system,"Segoe UI",sans-serif;color:#1c2530}
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
.lineage .clash{stroke:#b3261e}.lineage .why{font-style:italic}
.lineage .way{fill:#5b6876;font-size:11px;paint-order:stroke;stroke:#fff;stroke-width:5px}
@media(prefers-color-scheme:dark){.lineage{color:#e6ebf0;background:#14191f}.lineage rect{fill:#1d242c;stroke:#76828e}
.lineage .invariant .bar{fill:#f29aa3}.lineage .decision .bar{fill:#8cbdea}
.lineage .pattern .bar{fill:#9ccb92}.lineage .note .bar{fill:#d7c58d}
.lineage .about,.lineage .way,.lineage .ended .title{fill:#a3afbb}
.lineage .ended rect{fill:#191f26;stroke:#6d7883}
.lineage path{stroke:#8d99a5}.lineage .clash{stroke:#ff8a80}.lineage .way{stroke:#14191f}}
""".strip().replace("\n", "")
_HEAD = (
    '<defs><marker id="to" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
    '<path d="M1,1 L7,4 L1,7"/></marker></defs>'
)
_CLASS = {
    BoxState.CURRENT: "current",
    BoxState.REVIEWED: "reviewed",
    BoxState.ENDED: "ended",
    BoxState.DRAFT: "draft",
}
_LOOSE = {Way.CLAIMED: "loose", Way.PROPOSED: "loose", Way.CONFLICTS: "clash"}
# Labels that are too long for the gap between two boxes.
_SHORT = {Way.PROPOSED: "proposed"}


def lineage_svg(
    graph: LineageGraph, *, href: Callable[[str], str] | None = None, alone: bool = True, name: str = "lineage"
) -> str:
    """Return a graph as SVG; `href` gives the page of an address, and `alone` includes the style sheet.

    `name` is unique in a page. A picture of some entries has their reasons, too; one of all has no room for them.
    """
    reasons = _reasons(graph) if any(node.is_asked for node in graph.nodes) else {}
    deep = _REASON_TALL * max(map(len, reasons.values()), default=0)
    placement = layered([node.entry.address for node in graph.nodes], [_forward(edge) for edge in graph.edges])
    frame = _Frame(placement, ROW + deep)
    columns = max((column for column, _ in placement.places.values()), default=0) + 1
    rows = max((row for _, row in (*placement.places.values(), *_passed(placement))), default=0) + 1
    width, height = columns * (BOX + GAP) - GAP + 2 * _EDGE, (rows - 1) * frame.row + TALL + deep + 2 * _EDGE
    height += 24 if graph.hidden else 0
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    # A screen reader skips the parts of an image, so a picture with links is a group.
    role = "img" if href is None else "group"
    said = f'role="{role}" aria-labelledby="{name}-title" aria-describedby="{name}-said"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="lineage" {size} {said}>',
        f'<title id="{name}-title">{_text(_title(graph))}</title>',
        f'<desc id="{name}-said">{_text(" ".join(_sentences(graph, has_reasons=bool(reasons))))}</desc>',
        *([f"<style>{STYLE}</style>"] if alone else []),
        _HEAD,
        *(line for edge in graph.edges for line in _arrow(edge, frame)),
        *(line for node in graph.nodes for line in _box(node, frame, href, reasons.get(node.entry.address, ()))),
    ]
    if graph.hidden:
        parts.append(f'<text class="way" x="{_EDGE}" y="{height - 10}">+{graph.hidden} more are not drawn</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


class _Frame(Struct, frozen=True):
    """The places of the boxes, and the height of a row."""

    placement: Placement
    row: int

    def corner(self, place: tuple[int, int]) -> tuple[int, int]:
        return _EDGE + place[0] * (BOX + GAP), _EDGE + place[1] * self.row


def _reasons(graph: LineageGraph) -> dict[str, Sequence[str]]:
    """Return the stated reasons of the entries, as lines of a box."""
    told = ((node.entry.address, node.reasons) for node in graph.nodes)
    return {address: _wrapped(reasons, _REASON, _REASON_LINES) for address, reasons in told if reasons}


def _forward(edge: Arrow) -> tuple[str, str]:
    """Return an edge from left to right: an amending or overriding entry is right of the other one."""
    return (edge.start, edge.end) if edge.kind in FORWARD else (edge.end, edge.start)


def _passed(placement: Placement) -> Iterator[tuple[int, int]]:
    return (place for way in placement.ways.values() for place in way)


def _arrow(edge: Arrow, frame: _Frame) -> Iterator[str]:
    start, end = _forward(edge)
    places = frame.placement.places
    if edge.kind is Way.CONFLICTS:
        # Neither side comes first.
        start, end = sorted((start, end), key=lambda one: places[one])
    (left, top), (right, low) = frame.corner(places[start]), frame.corner(places[end])
    is_back = places[end][0] <= places[start][0]
    points = [(left + BOX, top + TALL // 2)]
    for place in frame.placement.ways.get((start, end), ()):
        x, y = frame.corner(place)
        points += [(x, y + TALL // 2), (x + BOX, y + TALL // 2)]
    points.append((right if not is_back else right + BOX, low + TALL // 2))
    drawn = points if edge.kind in FORWARD else [*reversed(points)]
    path = _curve(drawn, is_back=is_back)
    kind = f' class="{_LOOSE[edge.kind]}"' if edge.kind in _LOOSE else ""
    head = "" if edge.kind is Way.CONFLICTS else ' marker-end="url(#to)"'
    yield f'<path{kind} d="{path}"{head}/>'
    (x1, y1), (x2, y2) = points[-2], points[-1]
    label = _SHORT.get(edge.kind, edge.kind)
    yield f'<text class="way" text-anchor="middle" x="{(x1 + x2) // 2}" y="{(y1 + y2) // 2 - 6}">{label}</text>'


def _curve(points: list[tuple[int, int]], *, is_back: bool) -> str:
    x, y = points[0]
    path = [f"M{x},{y}"]
    for to_x, to_y in points[1:]:
        bend = GAP // 2 if is_back or to_x == x else (to_x - x) // 2
        path.append(f"C{x + bend},{y} {to_x + bend if is_back else to_x - bend},{to_y} {to_x},{to_y}")
        x, y = to_x, to_y
    return " ".join(path)


def _box(node: Box, frame: _Frame, href: Callable[[str], str] | None, reasons: Sequence[str]) -> Iterator[str]:
    entry = node.entry
    x, y = frame.corner(frame.placement.places[entry.address])
    tall = TALL + _REASON_TALL * len(reasons)
    asked = " asked" if node.is_asked else ""
    link = f'<a href="{escape(href(entry.address))}">' if href is not None else ""
    yield f'<g class="{_CLASS[node.state]} {entry.type}{asked}">{link}<title>{_text(entry.title)}</title>'
    yield f'<rect x="{x}" y="{y}" width="{BOX}" height="{tall}" rx="6"/>'
    yield f'<rect class="bar" x="{x}" y="{y}" width="5" height="{tall}" rx="2"/>'
    lines = _wrapped(entry.title, _TITLE, _LINES)
    for number, line in enumerate(lines):
        yield f'<text class="title" x="{x + 14}" y="{y + 19 + 16 * number}">{_text(line)}</text>'
    yield f'<text class="about" x="{x + 14}" y="{y + 53}">{_text(_tail(entry.address))}</text>'
    yield f'<text class="about" x="{x + 14}" y="{y + 68}">{_text(node.standing)}</text>'
    for number, line in enumerate(reasons, 1):
        yield f'<text class="about why" x="{x + 14}" y="{y + 68 + _REASON_TALL * number}">{_text(line)}</text>'
    yield "</a></g>" if link else "</g>"


def _wrapped(text: str, width: int, most: int) -> list[str]:
    lines = wrap(" ".join(visible(text).split()), width, break_on_hyphens=False) or [""]
    return lines if len(lines) <= most else [*lines[: most - 1], f"{lines[most - 1][: width - 1]}…"]


def _tail(address: str) -> str:
    """Return the end of a long address."""
    shown = visible(address)
    return shown if len(shown) <= _ADDRESS else f"…{shown[1 - _ADDRESS :]}"


def _title(graph: LineageGraph) -> str:
    asked = [node.entry.title for node in graph.nodes if node.is_asked]
    if not asked:
        return "What replaced what"
    return f"Lineage of {', '.join(asked[:3])}{' and others' if len(asked) > 3 else ''}"


def _sentences(graph: LineageGraph, *, has_reasons: bool) -> Iterator[str]:
    """Yield a description of the boxes and arrows for those who cannot see them."""
    titles = {node.entry.address: node.entry.title for node in graph.nodes}
    for node in graph.nodes:
        days = f", {node.days}" if node.days else ""
        why = f": {node.reasons}" if has_reasons and node.reasons else ""
        yield f"{node.entry.title} is {node.state}{days}{why}."
    for edge in graph.edges:
        verb = "is " if edge.kind in (Way.SUPERSEDED, Way.CLAIMED) else ""
        yield f"{titles[edge.start]} {verb}{edge.kind} {titles[edge.end]}."


def _text(text: str) -> str:
    return escape(visible(text), quote=False)
