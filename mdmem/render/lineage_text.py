"""The lineage of entries as lines, for a terminal."""

from __future__ import annotations

from mdmem.model.entry import visible
from mdmem.render.ink import Ink
from mdmem.render.lineage_graph import LineageGraph


def lineage_text(graph: LineageGraph, ink: Ink) -> str:
    """Return each entry with how it stands, the oldest of a chain first, and what its arrows lead to below it."""
    blocks = []
    for node in graph.nodes:
        entry = node.entry
        title = f"{ink.bold(visible(entry.title))} {ink.dim(f'({node.standing})')}"
        arrows = [f"    {edge.kind} {visible(edge.end)}" for edge in graph.edges if edge.start == entry.address]
        blocks += [title, f"  {visible(entry.address)}", *arrows]
    if graph.hidden:
        blocks.append(ink.dim(f"+{graph.hidden} more are not shown"))
    return "\n".join(blocks) if blocks else "nothing has been replaced, amended, overridden or contradicted yet"
