"""Render context packs (answers of `context`) and synthesis plans (outlines of a text) as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mdmem.ask.context import branch_state_marks, is_doubtful
from mdmem.ask.facets import Layer
from mdmem.markdown.body import quoted
from mdmem.model.entry import EntryType
from mdmem.model.text import visible
from mdmem.render.text import count, indent, shorten

Facts = Mapping[str, Any]
_ACTIVE = "active"
_UNREADABLE = "These files cannot be read in full, and may contain rules"
_CONTRADICTIONS = "Contradictions, for a person to resolve"


def pack_markdown(pack: Facts) -> str:
    """Return a page of a context pack as Markdown. Texts are block quotes, except invariants in the layer `wake`."""
    is_short = pack.get("layer") == Layer.WAKE
    blocks = [f"# Context: {shorten(pack['goal'])}"]
    blocks += _bold_list(_UNREADABLE, _problems(pack))
    blocks.append(pack["usage_hint"])
    sections = [(one["title"], one["items"]) for one in pack.get("sections", ())]
    for title, items in (*sections, ("Proposed (not binding)", pack.get("proposed", ()))):
        blocks += [f"## {title}"] if items else []
        blocks += map(_short_item if is_short else _item, items)
    blocks += _bold_list(_CONTRADICTIONS, _conflicts(pack))
    outside = (f"{visible(one['path'])}:{one['line']}: {visible(one['text'])}" for one in pack.get("fallback", ()))
    blocks += _bold_list("Outside the memory, not binding", outside)
    if pack.get("omitted_counts") and not is_short:
        counts = (f"{count(one['count'], one['type'])}: {one['why']}" for one in pack["omitted_counts"])
        best = ", ".join(f"`{one['id']}`" for one in pack.get("omitted", ()))
        named = f" The best of these: {best}." if best else ""
        blocks.append(f"_Omitted: {'; '.join(counts)}._{named}")
    return "\n\n".join([*blocks, *pack.get("remarks", ()), *pack.get("at", ())])


def _problems(facts: Facts) -> Iterator[str]:
    problems = facts.get("problems", ())
    return (f"{visible(one['path'])}:{one['line']}: {visible(one['message'])} ({one['code']})" for one in problems)


def _conflicts(facts: Facts) -> Iterator[str]:
    return (f"`{one['a']}` against `{one['b']}`: {one['why']}" for one in facts.get("conflicts", ()))


def _marks(item: Facts, *marks: str) -> str:
    status = item.get("metadata", {}).get("status", _ACTIVE)
    found = [*marks, *([status.replace("_", " ")] if status != _ACTIVE else []), *branch_state_marks(item)]
    return f" ({', '.join(found)})" if found else ""


def _short_item(item: Facts) -> str:
    """Return an item with its rule or open work alone, for the start of a session."""
    content, head = item.get("content", ""), f"- {item.get('type')} `{item.get('id')}`{_marks(item)}:"
    below = indent("\n".join(f"- {shorten(line)}" for line in item.get("bearings", ())))
    if item.get("type") == EntryType.INVARIANT and content:
        return "\n".join(filter(None, (f"{head} {visible(content)}", below)))
    return "\n".join(filter(None, (f"{head} {shorten(item.get('name', ''))}", quoted(content), below)))


def _item(item: Facts) -> str:
    metadata, bearings = item.get("metadata", {}), item.get("bearings", ())
    marks = [metadata["scope"]] if "scope" in metadata else []
    marks += ["shortened"] if metadata.get("form") == "summary" else []
    state = "; ".join(filter(None, (f"`{item.get('id')}`{_marks(item, *marks)}", visible(item.get("reason", "")))))
    below = [f"- {shorten(line)}" for line in bearings]
    # The lines of `bearings` mention these entries already.
    mentioned = {line.partition(": ")[0].rpartition(" ")[2] for line in bearings}
    for one in item.get("related", ()):
        if one["id"] not in mentioned:
            status = "" if one.get("status", _ACTIVE) == _ACTIVE else f" ({one['status']})"
            related = f"{one['relationship']} ({one['direction']}): `{one['id']}`, {one['type']}"
            below.append(f"- {related}: {shorten(one['name'])}{status}")
    blocks = (f"### {item.get('type')}: {shorten(item.get('name', ''))}", state, quoted(item.get("content", "")))
    return "\n\n".join(filter(None, (*blocks, "\n".join(below))))


def plan_markdown(plan: Facts) -> str:
    """Return a synthesis plan as Markdown."""
    verdict = plan["verification"]
    audience = f", for {visible(plan['audience'])}" if plan["audience"] else ""
    grounded = f"{verdict['grounded_sections']} of {verdict['sections']} sections are grounded"
    kind = plan["output_type"].replace("_", " ")
    blocks = [f"# Plan: {visible(plan['goal'])}", *_bold_list(_UNREADABLE, _problems(plan))]
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
    blocks += _bold_list(_CONTRADICTIONS, _conflicts(plan))
    blocks += _bold_list("Gaps of the whole", (gap["reason"] for gap in plan["gaps"] if gap["section"] is None))
    blocks += _bold_list("Invariants that always apply", (f"`{one}`" for one in plan["binding"]))
    blocks += _bold_list("Drafts, not used as sources", (f"`{one}`" for one in plan["proposed"]))
    blocks += _bold_list("Omitted sections", map(visible, plan["left_out_sections"]))
    return "\n\n".join(blocks)


def _bold_list(title: str, lines: Iterable[str]) -> list[str]:
    listed = [f"- {line}" for line in lines]
    return ["\n".join([f"**{title}:**", *listed])] if listed else []
