"""The chains that a change touched, as an indented tree and as a diagram in Mermaid."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct, field

from mdmem.change.review_model import EdgeChange, Graph, GraphEdge, GraphNode
from mdmem.model.text import visible
from mdmem.render.review.pieces import Line, Piece, code, dim, line, plain, said, strong
from mdmem.render.words import entries

_LABEL = 60
_ARROWS = {
    EdgeChange.ADDED: "==>|new|",
    EdgeChange.ALTERED: "==>|changed|",
    EdgeChange.KEPT: "-->",
    EdgeChange.REMOVED: "-.->|taken away|",
    EdgeChange.SKIPPED: "-.->|through others|",
}
_SAID = {
    EdgeChange.ADDED: "new link",
    EdgeChange.ALTERED: "changed link",
    EdgeChange.KEPT: "",
    EdgeChange.REMOVED: "link taken away",
    EdgeChange.SKIPPED: "through others",
}
_STYLES = ("classDef binds stroke-width:3px", "classDef ended stroke-dasharray:4", "classDef gone stroke-dasharray:1")


def graph_lines(graph: Graph) -> Iterator[Line]:
    """Yield the chains, what was superseded first and its successors set in below it."""
    yield from _Tree(graph).lines()
    if graph.left_out:
        yield line(dim(f"{entries(graph.left_out)} of these chains not shown"))


class _Tree(Struct, frozen=True):
    """One walk down the chains; an entry that several ways lead to is followed once."""

    graph: Graph
    seen: set[str] = field(default_factory=set)

    def lines(self) -> Iterator[Line]:
        followers = {edge.new for edge in self.graph.edges}
        roots = [node for node in self.graph.nodes if node.entry.address not in followers]
        # Of a cycle every member follows another; whoever is not reached starts its own tree.
        for node in (*roots, *self.graph.nodes):
            if node.entry.address not in self.seen:
                yield from self._walk(node)

    def _walk(self, start: GraphNode) -> Iterator[Line]:
        nodes = {node.entry.address: node for node in self.graph.nodes}
        todo: list[tuple[GraphNode, GraphEdge | None, int]] = [(start, None, 0)]
        while todo:
            node, edge, level = todo.pop()
            address = node.entry.address
            again = address in self.seen
            yield _line(node, edge, level, again=again)
            self.seen.add(address)
            following = [one for one in self.graph.edges if one.old == address] if not again else []
            todo += [(nodes[one.new], one, level + 1) for one in reversed(following)]


def _line(node: GraphNode, edge: GraphEdge | None, level: int, *, again: bool) -> Line:
    pieces: list[Piece] = [plain("→ ")] if edge is not None else []
    pieces += [code(node.entry.address), plain(f" {_state(node)}")]
    if edge is not None and edge.change is not EdgeChange.KEPT:
        pieces += [plain(", "), strong(_SAID[edge.change])]
    if edge is not None and edge.kind:
        pieces += [plain(f" ({edge.kind})")]
    if again:
        return line(*pieces, dim(", shown above"), level=level)
    return line(*pieces, plain(": "), said(node.entry.title), level=level)


def _state(node: GraphNode) -> str:
    if node.is_gone:
        return "its file is gone"
    return f"{node.entry.status}, binds" if node.is_current else str(node.entry.status)


def mermaid(graph: Graph) -> str:
    """Return the chains as a flowchart from old to new, what binds with a thick border; empty without an edge."""
    if not graph.edges:
        return ""
    ids = {node.entry.address: f"n{number}" for number, node in enumerate(graph.nodes)}
    rows = ["flowchart LR"]
    rows += [f'  {ids[node.entry.address]}["{_label(node)}"]:::{_class(node)}' for node in graph.nodes]
    rows += [f"  {ids[edge.old]} {_ARROWS[edge.change]} {ids[edge.new]}" for edge in graph.edges]
    return "\n".join([*rows, *(f"  {style}" for style in _STYLES)])


def _class(node: GraphNode) -> str:
    return "gone" if node.is_gone else "binds" if node.is_current else "ended"


def _label(node: GraphNode) -> str:
    return f"{_escaped(node.entry.address)}<br/>{_escaped(node.entry.title)}"


def _escaped(text: str) -> str:
    """Return a text in which nothing but letters, digits and a few marks stands for itself."""
    flat = visible(" ".join(text.split()))
    short = flat if len(flat) <= _LABEL else f"{flat[:_LABEL]}…"
    return "".join(one if one.isalnum() or one in " .,/-…" else f"#{ord(one)};" for one in short)
