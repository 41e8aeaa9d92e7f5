"""The lineage of entries as a flowchart of Mermaid."""

from __future__ import annotations

import re

from mdmem.model.text import visible
from mdmem.render.lineage_graph import Box, BoxState, LineageGraph, Way

# The text of a chart of more is longer than the 40,000 characters that a client takes.
MOST = 100
_LONGEST = 80
# Everything but letters, digits and harmless marks: Mermaid reads quotes, brackets, `#`, backticks and HTML in labels.
_SPECIAL = re.compile(r"[^\w ./,:+()'=@?–-]")
_CLASSES = (
    "classDef current stroke-width:3px",
    "classDef ended stroke-dasharray:4",
    "classDef draft stroke-dasharray:1",
)
_CLASS = {
    BoxState.CURRENT: "current",
    BoxState.REVIEWED: "current",
    BoxState.ENDED: "ended",
    BoxState.DRAFT: "draft",
}
_LINES = {Way.CLAIMED: "-.->", Way.PROPOSED: "-.->", Way.CONFLICTS: "---"}


def lineage_flowchart(graph: LineageGraph) -> str:
    """Return a graph as a flowchart; a comment says how many entries are not drawn."""
    names = {node.entry.address: f"n{number}" for number, node in enumerate(graph.nodes)}
    lines = ["flowchart TD"]
    lines += [f"%% {graph.hidden} more entries are not drawn"] if graph.hidden else []
    lines += [f'{names[node.entry.address]}["{_label(node)}"]:::{_CLASS[node.state]}' for node in graph.nodes]
    lines += [
        f'{names[edge.start]} {_LINES.get(edge.kind, "-->")}|"{edge.kind}"| {names[edge.end]}' for edge in graph.edges
    ]
    lines += [f"style {names[node.entry.address]} fill:#ffe9a8,color:#000" for node in graph.nodes if node.is_asked]
    return "\n    ".join([*lines, *_CLASSES]) + "\n"


def _label(node: Box) -> str:
    entry = node.entry
    standing = ", ".join(filter(None, (entry.type.value, entry.status.value, node.days)))
    title = entry.title if len(entry.title) <= _LONGEST else f"{entry.title[: _LONGEST - 1]}…"
    return "<br/>".join([escaped(title), escaped(entry.address), escaped(standing)])


def escaped(text: str) -> str:
    """Return a text as a label shows it: what Mermaid would read as its own is an entity of its kind."""
    return _SPECIAL.sub(lambda found: f"#{ord(found[0])};", visible(text))
