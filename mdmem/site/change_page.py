"""Render the page of a change, from the same lines that `mdmem diff` prints."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape
from typing import Any

from markupsafe import Markup

from mdmem.change.review import ReviewRequest, review_change
from mdmem.model.text import visible
from mdmem.render.lineage_graph import LineageGraph, lineage_graph
from mdmem.render.review import Kind, headline, sections
from mdmem.render.svg import lineage_svg
from mdmem.store.git.merge import merge_base
from mdmem.store.workspace.workspace import Workspace

_TAGS: dict[Kind, str] = {"code": "code", "added": "ins", "removed": "del", "strong": "strong", "dim": "small"}
_SPOKEN_CODE = re.compile("`([^`]+)`")


def change_context(workspace: Workspace, base: str, href: Callable[[str], str | None]) -> dict[str, Any]:
    """Return what the template of the change is given; raises what `review_change` raises."""
    review = review_change(workspace, ReviewRequest(base=base))
    parts, today = [], workspace.today
    for section in sections(review, lambda kind, text: _marked(kind, text, href)):
        lines = "".join(f'<p class="deep{min(level, 4)}">{text}</p>' for level, text in section.lines)
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
    # Every text of an entry is escaped by itself.
    return {"headline": visible(headline(review)), "body": Markup("".join(parts))}


def _lineage(title: str, graph: LineageGraph, href: Callable[[str], str | None], name: str) -> str:
    drawn = lineage_svg(graph, href=lambda one: href(one) or "#", alone=False, name=name)
    return f'<section><h2>{title}</h2><div class="scroll">{drawn}</div></section>'


def _marked(kind: Kind, text: str, href: Callable[[str], str | None]) -> str:
    shown = escape(visible(text), quote=False)
    if kind not in ("code", "added", "removed"):
        shown = _SPOKEN_CODE.sub(r"<code>\1</code>", shown)
    if kind in _TAGS:
        shown = f"<{_TAGS[kind]}>{shown}</{_TAGS[kind]}>"
    target = href(text) if kind == "code" else None
    return f'<a href="{escape(target)}">{shown}</a>' if target is not None else shown
