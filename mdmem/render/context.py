"""A context pack for a terminal, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mdmem.ask.context.answer import pack_answer, usage_hint
from mdmem.ask.context.pack import named_in
from mdmem.ask.context.request import Layer
from mdmem.model.entry import EntryType
from mdmem.model.standing import marked
from mdmem.render.basis import contradictions_text, fallback_text, problems_text
from mdmem.render.characters import one_line
from mdmem.render.ink import Ink
from mdmem.render.json import dump
from mdmem.render.words import count, indent

if TYPE_CHECKING:
    from mdmem.ask.context.pack import ContextPack, Item, Related


def context_json(pack: ContextPack) -> str:
    """Return the pack in the shape of the contract."""
    return dump(pack_answer(pack))


def context_text(pack: ContextPack, *, ink: Ink) -> str:
    """Return the pack as blocks: what could not be read first, then the facets, then what binds nobody."""
    write = _line_item if pack.request.layer is Layer.WAKE else _item
    blocks = [*problems_text(pack.basis), usage_hint(pack)]
    for section in pack.sections:
        blocks += [ink.bold(f"{section.title} ({len(section.items)})"), *(write(item, ink) for item in section.items)]
    if pack.proposed:
        blocks += [ink.bold("Proposed (not binding):"), *(write(item, ink) for item in pack.proposed)]
    blocks += [ink.warn(block) for block in contradictions_text(pack.basis)]
    return "\n\n".join([*blocks, *fallback_text(pack.basis), *(ink.dim(block) for block in _foot(pack))])


def _item(item: Item, ink: Ink) -> str:
    status = str(item.metadata.get("status", ""))
    marks = [str(item.metadata.get("scope", "")), *([status.replace("_", " ")] if status != "active" else [])]
    marks += ["shortened"] if item.metadata.get("form") == "summary" else []
    marks += marked(item.stance)
    head = f"{ink.bold(f'[{item.type}] {item.id}')} ({', '.join(marks)})"
    said = [indent(item.content, 4)] if item.content else []
    lines = [head, f"  {one_line(item.name)}", *said, ink.dim(f"  why: {item.reason}")]
    near = [_linked(one) for one in item.related if one.id not in named_in(item.bearings)]
    return "\n".join([*lines, *_bearings(item, ink), *([ink.dim(f"  linked: {'; '.join(near)}")] if near else [])])


def _linked(one: Related) -> str:
    # What a draft says of others changes nothing yet.
    name = one.id if one.status == "active" else f"{one.id} ({one.status.replace('_', ' ')})"
    return f"{one.relationship} {name}" if one.direction == "outgoing" else f"{name} {one.relationship} this"


def _bearings(item: Item, ink: Ink) -> Iterator[str]:
    yield from (ink.warn(f"  {one_line(line)}") for line in item.bearings)


def _line_item(item: Item, ink: Ink) -> str:
    """Return an item in a line, a rule in the place of its title, below others what they say: a session begins so."""
    status = str(item.metadata.get("status", ""))
    marks = [*([status.replace("_", " ")] if status != "active" else []), *marked(item.stance)]
    marked_as = f" ({', '.join(marks)})" if marks else ""
    rules = item.content if item.type == EntryType.INVARIANT else ""
    head = f"{ink.bold(f'[{item.type}] {item.id}')}: {one_line(rules or item.name)}{marked_as}"
    said = [indent(item.content)] if item.content and not rules else []
    return "\n".join([head, *said, *_bearings(item, ink)])


def _foot(pack: ContextPack) -> Iterator[str]:
    if pack.basis.omitted_counts and pack.request.layer is not Layer.WAKE:
        counted = (f"{count(one.count, one.type)} ({one.why})" for one in pack.basis.omitted_counts)
        yield f"Left out: {'; '.join(counted)}."
