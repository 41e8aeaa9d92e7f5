"""Render context packs (answers of `context`) as text or Markdown, and synthesis plans (outlines) as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from mdmem.ask.context import stance_marks
from mdmem.ask.facets import Layer
from mdmem.ask.synthesis import is_doubtful
from mdmem.markdown.body import quoted
from mdmem.model.entry import EntryType
from mdmem.model.text import visible
from mdmem.render.style import Style
from mdmem.render.text import count, indent

Facts = Mapping[str, Any]
_TITLE = 160
_ACTIVE = "active"
_UNREADABLE = "These files cannot be read in full, and may contain rules"
_CONTRADICTIONS = "Contradictions, for a person to resolve"


def pack_markdown(pack: Facts) -> str:
    """Return a context pack, or one page of it, as Markdown that quotes the entries."""
    blocks = [f"# Context: {_cut(pack['goal'])}", *_pack(pack, Style(is_markdown=True))]
    if named := ", ".join(f"`{one['id']}`" for one in pack.get("omitted", ()) if _omitted(pack)):
        blocks[-1] += f" The best of these: {named}."
    return "\n\n".join([*blocks, *pack.get("remarks", ()), *pack.get("at", ())])


def pack_text(pack: Facts, style: Style) -> str:
    """Return a context pack as text for a terminal."""
    return "\n\n".join(_pack(pack, style))


def _pack(pack: Facts, style: Style) -> Iterator[str]:
    """Yield the blocks of a pack: unreadable files first, then the entries by facet (section), then the drafts."""
    write = partial(_item, style=style, is_short=pack.get("layer") == Layer.WAKE)
    if pack.get("problems"):
        yield _listed(f"**{_UNREADABLE}**" if style.is_markdown else _UNREADABLE, _problems(pack), style)
    yield pack["usage_hint"]
    for section in pack.get("sections", ()):
        yield style.heading(section["title"] + ("" if style.is_markdown else f" ({len(section['items'])})"))
        yield from map(write, section["items"])
    if pack.get("proposed"):
        yield style.heading("Proposed (not binding)")
        yield from map(write, pack["proposed"])
    if pack.get("conflicts"):
        lines = (f"`{one['a']}` against `{one['b']}`: {one['why']}" for one in pack["conflicts"])
        yield _listed(style.heading(_CONTRADICTIONS), lines, style)
    if pack.get("fallback"):
        outside = (f"{visible(one['path'])}:{one['line']}: {visible(one['text'])}" for one in pack["fallback"])
        yield _listed(style.heading("Outside the memory, not binding"), outside, style)
    if omitted := _omitted(pack):
        yield style.foot(omitted)


def _listed(head: str, lines: Iterable[str], style: Style) -> str:
    if style.is_markdown:
        return "\n".join([head, "", *(f"- {line}" for line in lines)])
    return "\n".join([f"{head}:", *(f"  {line}" for line in lines)])


def _problems(facts: Facts) -> list[str]:
    return [
        f"{visible(one['path'])}:{one['line']}: {visible(one['message'])} ({one['code']})" for one in facts["problems"]
    ]


def _omitted(pack: Facts) -> str:
    """Return a sentence that counts the omitted entries by reason; empty in the layer for the start of a session."""
    if not pack.get("omitted_counts") or pack.get("layer") == Layer.WAKE:
        return ""
    counts = (f"{count(one['count'], one['type'])}: {one['why']}" for one in pack["omitted_counts"])
    return f"Omitted: {'; '.join(counts)}."


def _item(item: Facts, style: Style, *, is_short: bool) -> str:
    """Return an item with its content, reason and relations, or, if `is_short`, with its rule or open work alone."""
    kind, address, content = item.get("type"), item.get("id"), item.get("content", "")
    title, metadata = _cut(item.get("name", "")), item.get("metadata", {})
    status = metadata.get("status", _ACTIVE)
    remarks = [metadata["scope"]] if "scope" in metadata and not is_short else []
    remarks += [status.replace("_", " ")] if status != _ACTIVE else []
    remarks += ["shortened"] if metadata.get("form") == "summary" and not is_short else []
    remarks += stance_marks(item)
    marks = f" ({', '.join(remarks)})" if remarks else ""
    below = [_cut(line) for line in item.get("bearings", ())]
    if is_short:
        rule = visible(content) if kind == EntryType.INVARIANT else ""
        if style.is_markdown:
            head, shown = f"- {kind} `{address}`{marks}: {rule or title}", "" if rule else quoted(content)
        else:
            head = f"{style.bold(f'[{kind}] {address}')}: {rule or title}{marks}"
            shown = "" if rule else indent(content)
        return "\n".join(filter(None, (head, shown, indent(_bullets(below, style), 2 if style.is_markdown else 0))))
    reason = visible(item.get("reason", ""))
    # The lines above mention these entries already.
    mentioned = {line.partition(": ")[0].rpartition(" ")[2] for line in item.get("bearings", ())}
    below += [
        f"{one['relationship']} ({one['direction']}): `{one['id']}`, {one['type']}: {_cut(one['name'])}"
        + ("" if one.get("status", _ACTIVE) == _ACTIVE else f" ({one['status']})")
        for one in item.get("related", ())
        if one["id"] not in mentioned
    ]
    if style.is_markdown:
        state = "; ".join(filter(None, (f"`{address}`{marks}", reason)))
        return "\n\n".join(filter(None, (f"### {kind}: {title}", state, quoted(content), _bullets(below, style))))
    head = f"{style.bold(f'[{kind}] {address}')}{marks}"
    lines = [head, f"  {title}", *([indent(content, 4)] if content else [])]
    return "\n".join([*lines, style.dim(f"  why: {reason}"), *([_bullets(below, style)] if below else [])])


def _bullets(lines: Iterable[str], style: Style) -> str:
    return "\n".join(f"- {line}" if style.is_markdown else style.dim(f"  {line}") for line in lines)


def _cut(text: str) -> str:
    line = visible(" ".join(text.split()))
    return line if len(line) <= _TITLE else f"{line[: _TITLE - 1].rstrip()}…"


def plan_json(plan: Facts) -> dict[str, Any]:
    """Return a synthesis plan (the plan of a text) with its Markdown form under the key `markdown`."""
    return {**plan, "markdown": plan_markdown(plan)}


def plan_markdown(plan: Facts) -> str:
    """Return a synthesis plan as Markdown."""
    verdict = plan["verification"]
    audience = f", for {visible(plan['audience'])}" if plan["audience"] else ""
    grounded = f"{verdict['grounded_sections']} of {verdict['sections']} sections are grounded"
    kind = plan["output_type"].replace("_", " ")
    blocks = [f"# Plan: {visible(plan['goal'])}"]
    blocks += _bold_list(_UNREADABLE, (line.rpartition(" (")[0] for line in _problems(plan)))
    blocks.append(f"{kind}, {plan['depth']}{audience}; {verdict['status']}: {grounded}")
    blocks += _bold_list("Constraints", plan["constraints"])
    for section in plan["sections"]:
        blocks.append(f"## {visible(section['title'])}\n\n{visible(section['prompt'])}")
        for source in section["sources"]:
            doubt = f", {source['status'].replace('_', ' ')}" if is_doubtful(source) else ""
            head = f"- `{source['id']}` ({source['type']}, {source['freshness']}{doubt}): {visible(source['name'])}"
            preview = [f"  > {line}".rstrip() for line in source["preview"].splitlines()]
            near = [f"  - {one['relationship']} ({one['direction']}): `{one['id']}`" for one in source["neighborhood"]]
            blocks.append("\n".join([f"{head}; {source['reason']}", *preview, *near]))
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
