"""Render context packs and synthesis plans from their JSON: as text, and as Markdown that quotes the entries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mdmem.ask.context import stance_marks
from mdmem.ask.facets import Layer
from mdmem.ask.synthesis import is_doubtful
from mdmem.markdown.text import quoted
from mdmem.model.entry import EntryType
from mdmem.model.text import visible
from mdmem.render.ink import Ink
from mdmem.render.text import count, indent

Facts = Mapping[str, Any]
_TITLE = 160
_ACTIVE = "active"
_UNREADABLE = "These files cannot be read in full, and may contain rules:"
_CONTRADICTIONS = "Contradictions, for a person to resolve"


def pack_json(pack: Facts) -> dict[str, Any]:
    """Return a pack with its Markdown view."""
    return {**pack, "markdown": pack_markdown(pack)}


def pack_markdown(pack: Facts) -> str:
    """Return a pack, or one page of it, as Markdown: unreadable files first, then the facets, then the drafts."""
    write = _markdown_line if pack.get("layer") == Layer.WAKE else _markdown_item
    blocks = [f"# Context: {_cut(pack['goal'])}"]
    if pack.get("problems"):
        blocks.append("\n".join([f"**{_UNREADABLE}**", *(f"- {line}" for line in _problems(pack))]))
    blocks.append(pack["usage_hint"])
    for section in pack.get("sections", ()):
        blocks += [f"## {section['title']}", *map(write, section["items"])]
    if pack.get("proposed"):
        blocks += ["## Proposed (not binding)", *map(write, pack["proposed"])]
    if pack.get("conflicts"):
        lines = [f"- `{one['a']}` against `{one['b']}`: {one['why']}" for one in pack["conflicts"]]
        blocks.append("\n".join([f"## {_CONTRADICTIONS}", "", *lines]))
    if pack.get("fallback"):
        lines = [f"> {line}" for line in _outside(pack)]
        blocks.append("\n".join(["## Outside the memory, not binding", "", *lines]))
    if omitted := _omitted(pack):
        named = ", ".join(f"`{one['id']}`" for one in pack.get("omitted", ()))
        blocks.append(f"_{omitted}_" + (f" The best of these: {named}." if named else ""))
    return "\n\n".join([*blocks, *pack.get("remarks", ()), *pack.get("at", ())])


def pack_text(pack: Facts, *, ink: Ink) -> str:
    """Return a pack as blocks of text: unreadable files first, then the facets, then the drafts."""
    write = _text_line if pack["layer"] == Layer.WAKE else _text_item
    blocks = [_listed(_UNREADABLE, _problems(pack))] if pack["problems"] else []
    blocks.append(pack["usage_hint"])
    for section in pack["sections"]:
        blocks.append(ink.bold(f"{section['title']} ({len(section['items'])})"))
        blocks += (write(item, ink) for item in section["items"])
    if pack["proposed"]:
        blocks += [ink.bold("Proposed (not binding):"), *(write(item, ink) for item in pack["proposed"])]
    if pack["conflicts"]:
        lines = (f"{one['a']} against {one['b']}: {one['why']}" for one in pack["conflicts"])
        blocks.append(ink.warn(_listed(f"{_CONTRADICTIONS}:", lines)))
    if pack["fallback"]:
        blocks.append(_listed("Outside the memory, not binding:", _outside(pack)))
    if omitted := _omitted(pack):
        blocks.append(ink.dim(omitted))
    return "\n\n".join(blocks)


def _listed(head: str, lines: Iterable[str]) -> str:
    return "\n".join([head, *(f"  {line}" for line in lines)])


def _problems(facts: Facts) -> list[str]:
    return [
        f"{visible(one['path'])}:{one['line']}: {visible(one['message'])} ({one['code']})" for one in facts["problems"]
    ]


def _outside(pack: Facts) -> list[str]:
    return [f"{visible(one['path'])}:{one['line']}: {visible(one['text'])}" for one in pack["fallback"]]


def _omitted(pack: Facts) -> str:
    """Count the omitted entries by reason; empty if there are none, and at the start of a session."""
    if not pack.get("omitted_counts") or pack.get("layer") == Layer.WAKE:
        return ""
    counts = (f"{count(one['count'], one['type'])}: {one['why']}" for one in pack["omitted_counts"])
    return f"Omitted: {'; '.join(counts)}."


def _markdown_item(item: Facts) -> str:
    standing = "; ".join(filter(None, (f"`{item.get('id')}`{_marks(item)}", visible(item.get("reason", "")))))
    related = [
        f"- {one['relationship']} ({one['direction']}): `{one['id']}`, {one['type']}: {_cut(one['name'])}"
        + ("" if one.get("status", _ACTIVE) == _ACTIVE else f" ({one['status']})")
        for one in _related(item)
    ]
    beneath = "\n".join([*(f"- {line}" for line in _bearings(item)), *related])
    head = f"### {item.get('type')}: {_cut(item.get('name', ''))}"
    return "\n\n".join(filter(None, (head, standing, quoted(item.get("content", "")), beneath)))


def _markdown_line(item: Facts) -> str:
    """Return an item as one line: an invariant by its rule, others by their title with their open work below."""
    head = f"- {item.get('type')} `{item.get('id')}`{_marks(item, is_short=True)}: {_rule(item) or _title(item)}"
    below = [] if _rule(item) else [quoted(item.get("content", ""))]
    return "\n".join(filter(None, (head, *below, *(f"  - {line}" for line in _bearings(item)))))


def _text_item(item: Facts, ink: Ink) -> str:
    lines = [f"{_name(item, ink)}{_marks(item)}", f"  {_title(item)}"]
    lines += [indent(item["content"], 4)] if item["content"] else []
    lines += [ink.dim(f"  why: {item['reason']}"), *(ink.warn(f"  {line}") for line in _bearings(item))]
    # A draft's statements about other entries have no effect yet.
    others = [
        (one, f"{one['id']}" + ("" if one["status"] == _ACTIVE else f" ({one['status'].replace('_', ' ')})"))
        for one in _related(item)
    ]
    near = [
        f"{one['relationship']} {name}" if one["direction"] == "outgoing" else f"{name} {one['relationship']} this"
        for one, name in others
    ]
    return "\n".join([*lines, *([ink.dim(f"  linked: {'; '.join(near)}")] if near else [])])


def _text_line(item: Facts, ink: Ink) -> str:
    """Return an item as one line, as `_markdown_line` does."""
    head = f"{_name(item, ink)}: {_rule(item) or _title(item)}{_marks(item, is_short=True)}"
    below = [] if _rule(item) or not item["content"] else [indent(item["content"])]
    return "\n".join([head, *below, *(ink.warn(f"  {line}") for line in _bearings(item))])


def _name(item: Facts, ink: Ink) -> str:
    return ink.bold(f"[{item['type']}] {item['id']}")


def _title(item: Facts) -> str:
    return _cut(item.get("name", ""))


def _rule(item: Facts) -> str:
    """Return the rule of an invariant on one line; empty for other items."""
    return visible(item.get("content", "")) if item.get("type") == EntryType.INVARIANT else ""


def _marks(item: Facts, *, is_short: bool = False) -> str:
    """Return the scope of an item and whether it is shortened, but for a short form, and the marks of its status."""
    metadata = item.get("metadata", {})
    status = metadata.get("status", _ACTIVE)
    marks = [metadata["scope"]] if "scope" in metadata and not is_short else []
    marks += [status.replace("_", " ")] if status != _ACTIVE else []
    marks += ["shortened"] if metadata.get("form") == "summary" and not is_short else []
    marks += stance_marks(item)
    return f" ({', '.join(marks)})" if marks else ""


def _bearings(item: Facts) -> Iterator[str]:
    """Yield the amendments of an item and its one-sided supersessions, in both directions."""
    yield from map(_cut, item.get("bearings", ()))


def _related(item: Facts) -> Iterator[Facts]:
    """Yield the linked entries of an item that its bearings do not name already."""
    named = {line.partition(": ")[0].rpartition(" ")[2] for line in item.get("bearings", ())}
    yield from (one for one in item.get("related", ()) if one["id"] not in named)


def _cut(text: str) -> str:
    line = visible(" ".join(text.split()))
    return line if len(line) <= _TITLE else f"{line[: _TITLE - 1].rstrip()}…"


def plan_json(plan: Facts) -> dict[str, Any]:
    """Return a synthesis plan with its Markdown view."""
    return {**plan, "markdown": plan_markdown(plan)}


def plan_markdown(plan: Facts) -> str:
    """Return a synthesis plan as Markdown."""
    verdict = plan["verification"]
    audience = f", for {visible(plan['audience'])}" if plan["audience"] else ""
    grounded = f"{verdict['grounded_sections']} of {verdict['sections']} sections are grounded"
    kind = plan["output_type"].replace("_", " ")
    blocks = [f"# Plan: {visible(plan['goal'])}"]
    blocks += _bold_list(_UNREADABLE[:-1], (line.rpartition(" (")[0] for line in _problems(plan)))
    blocks.append(f"{kind}, {plan['depth']}{audience}; {verdict['status']}: {grounded}")
    blocks += _bold_list("Constraints", plan["constraints"])
    for section in plan["sections"]:
        blocks.append(f"## {visible(section['title'])}\n\n{visible(section['prompt'])}")
        blocks += map(_source, section["sources"])
        blocks += _bold_list("Gaps", section["gaps"])
    conflicts = (f"`{one['a']}` against `{one['b']}`: {one['why']}" for one in plan["conflicts"])
    blocks += _bold_list(_CONTRADICTIONS, conflicts)
    blocks += _bold_list("Gaps of the whole", (gap["reason"] for gap in plan["gaps"] if gap["section"] is None))
    blocks += _bold_list("Invariants that always apply", (f"`{one}`" for one in plan["binding"]))
    blocks += _bold_list("Drafts, not used as sources", (f"`{one}`" for one in plan["proposed"]))
    blocks += _bold_list("Omitted sections", map(visible, plan["left_out_sections"]))
    return "\n\n".join(blocks)


def _bold_list(title: str, lines: Iterable[str]) -> list[str]:
    listed = [f"- {line}" for line in lines]
    return ["\n".join([f"**{title}:**", *listed])] if listed else []


def _source(source: Facts) -> str:
    doubt = f", {source['status'].replace('_', ' ')}" if is_doubtful(source) else ""
    head = f"- `{source['id']}` ({source['type']}, {source['freshness']}{doubt}): {visible(source['name'])}"
    preview = [f"  > {line}".rstrip() for line in source["preview"].splitlines()]
    near = [f"  - {one['relationship']} ({one['direction']}): `{one['id']}`" for one in source["neighborhood"]]
    return "\n".join([f"{head}; {source['reason']}", *preview, *near])
