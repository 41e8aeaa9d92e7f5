"""Where the boxes of a layered drawing stand: columns by the longest way, rows by the middle of the neighbours.

The method is Sugiyama's, Tagawa's and Toda's (1981): layers, then sweeps by barycentre; a long edge passes through a
free row of each column between. Every step is in integers or has ties broken by order: the same graph, the same places.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

# More sweeps change nothing in drawings of this size.
_SWEEPS = 6


class Placement(Struct, frozen=True):
    """Column and row of each node, counted from 0, and for each edge the rows that it passes in the columns between."""

    places: Mapping[str, tuple[int, int]]
    ways: Mapping[tuple[str, str], tuple[tuple[int, int], ...]]


def layered(nodes: Sequence[str], edges: Sequence[tuple[str, str]]) -> Placement:
    """Return the places of nodes, so that edges lead to the right; of a cycle the edge back leads to the left."""
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
    """Return the edges, those left out that close a cycle in the order in which the nodes stand."""
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
    """Return the length of the longest way to each node; one that nothing leads to stands just before its follower."""
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
    """Give each node of a layer the row that it wants, or the next one that is free; their order stays."""
    last = None
    for node in layer:
        row = round(wanted[node])
        rows[node] = row if last is None or row > last else last + 1
        last = rows[node]
