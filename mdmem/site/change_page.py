"""The page of a change: what we believed and will believe, from the same lines that `mdmem diff` prints."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import escape
from typing import Any

from markupsafe import Markup

from mdmem.change.review import ReviewRequest, review_change
from mdmem.model.text import visible
from mdmem.render.lineage_graph import LineageGraph, lineage_graph
from mdmem.render.review.pieces import Line, Piece, PieceKind
from mdmem.render.review.sections import headline, sections
from mdmem.render.svg import lineage_svg
from mdmem.store.git.merge import merge_base
from mdmem.store.workspace.workspace import Workspace

_TAGS = {
    PieceKind.CODE: "code",
    PieceKind.ADDED: "ins",
    PieceKind.REMOVED: "del",
    PieceKind.STRONG: "strong",
    PieceKind.DIM: "small",
}


_SPOKEN_CODE = re.compile("`([^`]+)`")


def change_context(workspace: Workspace, base: str, href: Callable[[str], str | None]) -> dict[str, Any]:
    """Return what the template of the change is given; raises what `review_change` raises."""
    review = review_change(workspace, ReviewRequest(base=base))
    parts, today = [], workspace.today
    for section in sections(review):
        lines = "".join(_lines(section.lines, href))
        parts.append(f"<section><h2>{escape(visible(section.title))}</h2>{lines}</section>")
    touched = [node.entry.address for node in review.graph.nodes if node.entry.address in workspace.catalog.entries]
    if touched:
        parts.append(
            _lineage("Lineage as it will be", lineage_graph(workspace.catalog, touched, today=today), href, "after")
        )
    was = workspace.as_of(merge_base(workspace.location.get_repository(), base, "HEAD")).catalog
    there = [node.entry.address for node in review.graph.nodes if node.entry.address in was.entries]
    if there:
        parts.append(_lineage("Lineage as it was", lineage_graph(was, there, today=today), href, "before"))
    # Every text is escaped piece by piece.
    return {"headline": visible(headline(review)), "body": Markup("".join(parts))}


def _lineage(title: str, graph: LineageGraph, href: Callable[[str], str | None], name: str) -> str:
    drawn = lineage_svg(graph, href=lambda one: href(one) or "#", alone=False, name=name)
    return f'<section><h2>{title}</h2><div class="scroll">{drawn}</div></section>'


def _lines(lines: tuple[Line, ...], href: Callable[[str], str | None]) -> Iterator[str]:
    for one in lines:
        yield f'<p class="deep{min(one.level, 4)}">{"".join(_piece(piece, href) for piece in one.pieces)}</p>'


def _piece(piece: Piece, href: Callable[[str], str | None]) -> str:
    text = escape(visible(piece.text), quote=False)
    if piece.kind not in (PieceKind.CODE, PieceKind.ADDED, PieceKind.REMOVED):
        # What the program says, no words of an entry.
        text = _SPOKEN_CODE.sub(r"<code>\1</code>", text)
    target = href(piece.text) if piece.kind in (PieceKind.CODE, PieceKind.STRONG) else None
    shown = f"<{_TAGS[piece.kind]}>{text}</{_TAGS[piece.kind]}>" if piece.kind in _TAGS else text
    return f'<a href="{escape(target)}">{shown}</a>' if target is not None else shown
