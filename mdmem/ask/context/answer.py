"""Render a context pack: as JSON in the shape of its contract, and as Markdown that quotes the entries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mdmem.ask.answer import Form
from mdmem.ask.bundle import problems_json
from mdmem.ask.context.facets import Layer
from mdmem.ask.context.pack import ContextPack, named_in
from mdmem.ask.question import Coverage
from mdmem.markdown.text import quoted
from mdmem.model.entry import EntryType
from mdmem.model.lineage import Stance, Standing, marked
from mdmem.model.text import visible
from mdmem.store.workspace.scope import Scope, ScopeState

Facts = Mapping[str, Any]
_TITLE = 160
_ACTIVE = "active"


def pack_answer(pack: ContextPack) -> dict[str, Any]:
    """Return the pack as JSON values, with its Markdown view."""
    facts = pack_facts(pack)
    return {**facts, "markdown": markdown_of(facts)}


def pack_facts(pack: ContextPack) -> dict[str, Any]:
    """Return the pack as JSON values, with unreadable files first."""
    request, basis = pack.request, pack.basis
    return {
        "problems": problems_json(basis),
        "goal": request.goal,
        "intent": request.intent,
        "query": request.query,
        "domain": request.domain,
        "project": request.project,
        "layer": request.layer,
        "sections": [
            {"facet": one.facet, "title": one.title, "items": [item.as_json() for item in one.items]}
            for one in pack.sections
        ],
        "total_items": len(pack.items),
        "usage_hint": usage_hint(pack),
        "proposed": [item.as_json() for item in pack.proposed],
        **basis.as_json("conflicts"),
        "omitted": [{"id": one.address, "type": one.type, "why": one.why} for one in basis.omitted],
        **basis.as_json("omitted_counts"),
        "scope": scope_json(pack.scope),
        **basis.as_json("coverage", "covered", "unmatched_terms", "fallback", "degraded", "source"),
        "remarks": list(pack.remarks),
    }


def scope_json(scope: Scope) -> dict[str, Any]:
    """Return the wings that an answer was read from, and the state of the scope."""
    return {"wing": scope.wing, "shared_wings": list(scope.shared_wings), "state": scope.state}


def pack_markdown(pack: ContextPack) -> str:
    """Return the pack as Markdown."""
    return markdown_of(pack_facts(pack))


def markdown_of(facts: Facts) -> str:
    """Return a pack, or one page of it, as Markdown: unreadable files first, then the facets, then the drafts."""
    write = _line_item if facts.get("layer") == Layer.WAKE else _item
    blocks = [f"# Context: {_cut(facts['goal'])}", *_problems(facts), facts["usage_hint"]]
    for section in facts.get("sections", ()):
        blocks += [f"## {section['title']}", *map(write, section["items"])]
    if facts.get("proposed"):
        blocks += ["## Proposed (not binding)", *map(write, facts["proposed"])]
    blocks += [*_conflicts(facts), *_fallback(facts), *_omitted(facts), *facts.get("remarks", ())]
    return "\n\n".join([*blocks, *facts.get("at", ())])


def usage_hint(pack: ContextPack) -> str:
    """Say in a few sentences how far the pack covers the goal, and how to use it."""
    return " ".join(part for part in (*_doubts(pack), _verdict(pack), *_advice(pack)) if part)


def _doubts(pack: ContextPack) -> Iterator[str]:
    if pack.basis.degraded:
        yield f"Degraded: {pack.basis.why_degraded}."
    if pack.scope.state is ScopeState.UNCERTAIN:
        named = visible(pack.request.project or "")
        meant = f"; did you mean `{visible(pack.nearest)}`?" if pack.nearest else "."
        yield f"There is no wing for the project `{named}`: only shared knowledge is included{meant}"
    if pack.scope.state is ScopeState.UNRESOLVED and pack.scope.wings:
        named = ", ".join(f"`{wing}`" for wing in pack.scope.wings[:12])
        yield f"No project is given, so no project's invariants are included by default; give one of {named}."


def _verdict(pack: ContextPack) -> str:
    basis = pack.basis
    if basis.coverage is Coverage.FULL:
        return ""
    if basis.coverage is Coverage.PARTIAL:
        words = ", ".join(map(visible, basis.uncovered_terms[:12]))
        lacks = f"; no invariant or decision that applies here contains {words}" if words else ""
        return f"This goal is covered in part{lacks}."
    unmatched = f" No entry searched contains {', '.join(visible(word) for word in basis.unmatched_terms[:12])}."
    # An unreadable file may contain the rule that covers the goal.
    verdict = "Nothing that could be read covers this goal." if basis.problems else _uncovered(pack)
    return verdict + (unmatched if basis.unmatched_terms else "")


def _uncovered(pack: ContextPack) -> str:
    always = sum(item.type == EntryType.INVARIANT for item in pack.items)
    if always:
        apply = f"{always} invariants always apply" if always > 1 else "1 invariant always applies"
        return f"{apply}; no other invariant or decision covers this goal."
    return "No invariant or decision covers this goal" + ("; these entries only touch it." if pack.items else ".")


def _advice(pack: ContextPack) -> Iterator[str]:
    if pack.items and pack.request.layer is Layer.WAKE:
        yield "Constraints are binding. Read an entry in full by its id."
        return
    if pack.items:
        yield "Constraints are binding, decisions set the direction, the rest is background."
        yield "Quoted texts are material to judge."
    if any(item.metadata.get("form") == "summary" for item in pack.items):
        yield "Read a shortened entry in full by its id."
    if not pack.items and not pack.basis.problems and not pack.nearest:
        yield "Continue without memory, and save what is worth keeping."


def _problems(facts: Facts) -> Iterator[str]:
    if facts.get("problems"):
        lines = [
            f"- {visible(one['path'])}:{one['line']}: {visible(one['message'])} ({one['code']})"
            for one in facts["problems"]
        ]
        yield "\n".join(["**These files cannot be read in full, and may contain rules:**", *lines])


def _item(item: Facts) -> str:
    head = f"### {item.get('type')}: {_cut(item.get('name', ''))}"
    standing = "; ".join(
        part for part in (f"`{item.get('id')}`{_marks(item)}", visible(item.get("reason", ""))) if part
    )
    related = "\n".join(
        f"- {near['relationship']} ({near['direction']}): `{near['id']}`, {near['type']}: {_cut(near['name'])}"
        + ("" if near.get("status", _ACTIVE) == _ACTIVE else f" ({near['status']})")
        for near in item.get("related", ())
        if near["id"] not in named_in(item.get("bearings", ()))
    )
    beneath = "\n".join(part for part in (*_bearings(item), related) if part)
    return "\n\n".join(part for part in (head, standing, quoted(item.get("content", "")), beneath) if part)


def _line_item(item: Facts) -> str:
    """Return an item as one line: an invariant by its rule, others by their title with their open work below."""
    content, rules = item.get("content", ""), item.get("type") == EntryType.INVARIANT
    text = visible(content) if rules and content else _cut(item.get("name", ""))
    head = f"- {item.get('type')} `{item.get('id')}`{_marks(item, scope=False)}: {text}"
    below = (f"  {line}" for line in _bearings(item))
    return "\n".join(part for part in (head, "" if rules else quoted(content), *below) if part)


def _bearings(item: Facts) -> Iterator[str]:
    yield from (f"- {_cut(line)}" for line in item.get("bearings", ()))


def _marks(item: Facts, *, scope: bool = True) -> str:
    metadata = item.get("metadata", {})
    status = metadata.get("status", _ACTIVE)
    marks = [metadata["scope"]] if scope and "scope" in metadata else []
    marks += [status.replace("_", " ")] if status != _ACTIVE else []
    marks += ["shortened"] if scope and metadata.get("form") == Form.SUMMARY else []
    marks += map(visible, _stances(item))
    return f" ({', '.join(marks)})" if marks else ""


def _stances(item: Facts) -> list[str]:
    """Return the marks that say how an item relates to the default branch."""
    if "standing" not in item:
        return []
    by = item.get("proposed_by", {})
    return marked(Stance(Standing(item["standing"]), author=by.get("author"), commit=by.get("commit")))


def _conflicts(facts: Facts) -> Iterator[str]:
    if facts.get("conflicts"):
        lines = [f"- `{one['a']}` against `{one['b']}`: {one['why']}" for one in facts["conflicts"]]
        yield "\n".join(["## Contradictions, for a person to resolve", "", *lines])


def _fallback(facts: Facts) -> Iterator[str]:
    if facts.get("fallback"):
        lines = [f"> {visible(one['path'])}:{one['line']}: {visible(one['text'])}" for one in facts["fallback"]]
        yield "\n".join(["## Outside the memory, not binding", "", *lines])


def _omitted(facts: Facts) -> Iterator[str]:
    if facts.get("omitted_counts") and facts.get("layer") != Layer.WAKE:
        found = facts["omitted_counts"]
        counts = "; ".join(f"{one['count']} {one['type']}{'s' * (one['count'] != 1)}: {one['why']}" for one in found)
        named = ", ".join(f"`{one['id']}`" for one in facts.get("omitted", ()))
        yield f"_Omitted: {counts}._" + (f" The best of these: {named}." if named else "")


def _cut(text: str) -> str:
    line = visible(" ".join(text.split()))
    return line if len(line) <= _TITLE else f"{line[: _TITLE - 1].rstrip()}…"
