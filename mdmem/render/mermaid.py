"""Render the lineage of entries as a flowchart in Mermaid."""

from __future__ import annotations

import re

from mdmem.model.text import visible
from mdmem.render.lineage_graph import Box, BoxState, LineageGraph, Way

# The text of a larger chart is longer than the 40,000 characters that a client accepts.
MOST = 100
_LONGEST = 80
# Everything but letters, digits and harmless marks. Mermaid interprets quotes, brackets, `#`, backticks and HTML.
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
    return "<br/>".join([label(entry.title), escaped(entry.address), escaped(standing)])


def label(text: str) -> str:
    """Return a text in one line, escaped, and cut where it is very long."""
    flat = " ".join(text.split())
    return escaped(flat if len(flat) <= _LONGEST else f"{flat[: _LONGEST - 1]}…")


def escaped(text: str) -> str:
    """Return a text for a label: an entity replaces every character that Mermaid may interpret."""
    return _SPECIAL.sub(lambda found: f"#{ord(found[0])};", visible(text))
