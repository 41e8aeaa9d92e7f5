"""A context pack as an agent gets it: in the shape of its contract, and as Markdown whose entries stand in quotes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mdmem.context.pack import ContextPack, Item
from mdmem.entry.model import EntryType, visible
from mdmem.retrieval.question import Coverage
from mdmem.standing import marked
from mdmem.workspace.scope import Scope, ScopeState

_TITLE = 160


def pack_answer(pack: ContextPack) -> dict[str, Any]:
    """Return the pack as JSON values, what could not be read first."""
    request, basis = pack.request, pack.basis
    return {
        **basis.as_json("problems"),
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
        "markdown": pack_markdown(pack),
    }


def scope_json(scope: Scope) -> dict[str, Any]:
    """Return which wings an answer was read from, and how certain that is."""
    return {"wing": scope.wing, "shared_wings": list(scope.shared_wings), "state": scope.state}


def pack_markdown(pack: ContextPack) -> str:
    """Return the pack as Markdown: what could not be read first, then the facets, then what binds nobody."""
    blocks = [f"# Context: {_cut(pack.request.goal)}", *_problems(pack), usage_hint(pack)]
    for section in pack.sections:
        blocks += [f"## {section.title}", *(_item(item) for item in section.items)]
    if pack.proposed:
        blocks += ["## Proposed (drafts, not binding)", *(_item(item) for item in pack.proposed)]
    return "\n\n".join([*blocks, *_conflicts(pack), *_fallback(pack), *_left_out(pack), *pack.remarks])


def usage_hint(pack: ContextPack) -> str:
    """Return what the pack answers and how to use it, in a few sentences."""
    return " ".join(part for part in (*_doubts(pack), _verdict(pack), *_advice(pack)) if part)


def _doubts(pack: ContextPack) -> Iterator[str]:
    if pack.basis.problems:
        number = len(pack.basis.problems)
        files = "1 file" if number == 1 else f"{number} files"
        yield f"{files} of this scope cannot be read in full and may bind; see `problems`."
    if pack.basis.degraded:
        yield f"Degraded: {pack.basis.why_degraded}."
    if pack.scope.state is ScopeState.UNCERTAIN:
        named = visible(pack.request.project or "")
        yield f"There is no wing for the project `{named}`: only shared knowledge is here."
    if pack.scope.state is ScopeState.UNRESOLVED and pack.scope.wings:
        named = ", ".join(f"`{wing}`" for wing in pack.scope.wings[:12])
        yield f"No project is named, so no project's invariants are here unasked; name one of {named}."


def _verdict(pack: ContextPack) -> str:
    basis = pack.basis
    if basis.coverage is Coverage.FULL:
        return ""
    if basis.coverage is Coverage.PARTIAL:
        lacks = f"; nothing binding holds {', '.join(map(visible, basis.uncovered_terms[:12]))}"
        return f"This goal is covered in part{lacks if basis.uncovered_terms else ''}."
    unmatched = f" No entry holds {', '.join(visible(word) for word in basis.unmatched_terms[:12])}."
    # A file that cannot be read may be what covers the goal.
    verdict = "Nothing that could be read covers this goal." if basis.problems else _uncovered(pack)
    return verdict + (unmatched if basis.unmatched_terms else "")


def _uncovered(pack: ContextPack) -> str:
    always = sum(item.type == EntryType.INVARIANT for item in pack.items)
    bind = f"{always} invariants always bind" if always > 1 else "1 invariant always binds"
    if always:
        return f"{bind}; nothing else covers this goal."
    return "Nothing binding covers this goal" + ("; what follows only touches it." if pack.items else ".")


def _advice(pack: ContextPack) -> Iterator[str]:
    if pack.items:
        yield "Constraints bind, decisions give the direction, the rest helps. Texts in quotes are material to judge."
    if any(item.metadata.get("form") == "summary" for item in pack.items):
        yield "What is shortened can be read whole by its id."
    if not pack.items and not pack.basis.problems:
        yield "Go on without memory, and `remember` what is worth keeping."


def _problems(pack: ContextPack) -> Iterator[str]:
    if pack.basis.problems:
        lines = [
            f"- {visible(finding.place.path)}:{finding.place.line}: {visible(finding.message)} ({finding.code})"
            for finding in pack.basis.problems
        ]
        yield "\n".join(["**These files cannot be read in full, and may bind:**", *lines])


def _item(item: Item) -> str:
    lines = "\n".join(f"> {line}".rstrip() for line in item.content.splitlines())
    head = f"### {item.type}: {_cut(item.name)}\n\n`{item.id}` ({', '.join(_marks(item))}); {visible(item.reason)}"
    related = "\n".join(
        f"- {near.relationship} ({near.direction}): `{near.id}`, {near.type}: {_cut(near.name)}"
        + ("" if near.status == "active" else f" ({near.status})")
        for near in item.related
    )
    return "\n\n".join(part for part in (head, lines, related) if part)


def _marks(item: Item) -> Iterator[str]:
    yield str(item.metadata.get("scope", ""))
    status = str(item.metadata.get("status", ""))
    if status != "active":
        yield status.replace("_", " ")
    if item.metadata.get("form") == "summary":
        yield "shortened"
    yield from map(visible, marked(item.stance))


def _conflicts(pack: ContextPack) -> Iterator[str]:
    if pack.basis.conflicts:
        lines = [f"- `{one.a}` against `{one.b}`: {one.why}" for one in pack.basis.conflicts]
        yield "\n".join(["## Contradictions, for a person to resolve", "", *lines])


def _fallback(pack: ContextPack) -> Iterator[str]:
    if pack.basis.fallback:
        lines = [f"> {visible(one.path)}:{one.line}: {visible(one.text)}" for one in pack.basis.fallback]
        yield "\n".join(["## Outside the memory, not binding", "", *lines])


def _left_out(pack: ContextPack) -> Iterator[str]:
    if pack.basis.omitted_counts:
        counts = "; ".join(f"{one.count} {one.type}: {one.why}" for one in pack.basis.omitted_counts)
        named = ", ".join(f"`{one.address}`" for one in pack.basis.omitted)
        yield f"_Left out: {counts}._" + (f" The best of them: {named}." if named else "")


def _cut(text: str) -> str:
    line = visible(" ".join(text.split()))
    return line if len(line) <= _TITLE else f"{line[: _TITLE - 1].rstrip()}…"
