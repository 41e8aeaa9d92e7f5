"""What entries say about some words, as text, Markdown and JSON values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mdmem.ask.about import ToldEntry
from mdmem.markdown.text import quoted
from mdmem.render.characters import one_line
from mdmem.render.ink import Ink
from mdmem.render.json import beneath_json
from mdmem.render.retrieval import TITLE_ALONE, mention_line
from mdmem.render.words import indent

_NOTHING, _NOTHING_MORE, _ALL = "holds none of these words", "nothing more of it is about these words", "given before"


def told_text(told: Iterable[ToldEntry], ink: Ink) -> str:
    """Return each entry with its passages, or that it has none."""
    return "\n\n".join(
        f"{ink.bold(one.entry.address)}: {one_line(one.entry.title)}{_standing(one)}\n{indent(_said(one))}"
        + "".join(f"\n  {ink.dim(mention_line(other))}" for other in one.beneath)
        for one in told
    )


def told_markdown(told: Iterable[ToldEntry]) -> str:
    """Return each entry as a section, its passages as a quote."""
    return "\n\n".join(
        f"### {one_line(one.entry.title)}\n\n`{one.entry.address}`{_standing(one)}\n\n{quoted(_said(one))}"
        + "".join(f"\n- {mention_line(other)}" for other in one.beneath)
        for one in told
    )


def told_json(told: Iterable[ToldEntry]) -> dict[str, Any]:
    """Return the passages of each entry; `heads` is what is in force in its place."""
    return {
        "entries": [
            {
                "address": one.entry.address,
                "title": one.entry.title,
                "passages": one.said,
                **({"given_before": "all" if one.was_whole else "in part"} if one.before else {}),
                "heads": list(one.heads),
                **({"beneath": beneath_json(one.beneath)} if one.beneath else {}),
            }
            for one in told
        ]
    }


def _said(one: ToldEntry) -> str:
    if one.is_title_alone:
        return f"has {TITLE_ALONE}"
    if one.was_whole:
        return _ALL
    return one.said or (_NOTHING_MORE if one.before else _NOTHING)


def _standing(one: ToldEntry) -> str:
    if one.is_current:
        return ""
    return f" (replaced by {', '.join(one.heads)})" if one.heads else " (not in force)"
