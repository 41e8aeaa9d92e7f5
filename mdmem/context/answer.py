"""A context pack as Markdown for an agent: every entry is a section whose text stands in a quote, as material."""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.context.model import Item, PackFacts
from mdmem.entry.model import visible
from mdmem.standing import marked
from mdmem.workspace.scope import ScopeState

_TITLE = 160


def pack_markdown(pack: PackFacts) -> str:
    """Return the pack as Markdown: what could not be read first, then the facets, then what binds nobody."""
    blocks = [f"# Context: {_cut(pack.goal)}", *_problems(pack), usage_hint(pack)]
    for section in pack.sections:
        blocks += [f"## {section.title}", *(_item(item) for item in section.items)]
    if pack.proposed:
        blocks += ["## Proposed (drafts, not binding)", *(_item(item) for item in pack.proposed)]
    return "\n\n".join([*blocks, *_conflicts(pack), *_fallback(pack), *_left_out(pack), *pack.remarks])


def usage_hint(pack: PackFacts) -> str:
    """Return what the pack answers and how to use it, in a few sentences."""
    return " ".join(part for part in (*_doubts(pack), _verdict(pack), *_advice(pack)) if part)


def _doubts(pack: PackFacts) -> Iterator[str]:
    if pack.problems:
        number = len(pack.problems)
        files = "1 file" if number == 1 else f"{number} files"
        yield f"{files} of this scope cannot be read in full and may bind; see `problems`."
    if pack.degraded:
        yield f"Degraded: {pack.why_degraded}."
    if pack.scope.state is ScopeState.UNCERTAIN:
        yield f"There is no wing for the project `{visible(pack.project or '')}`: only shared knowledge is here."
    if pack.scope.state is ScopeState.UNRESOLVED and pack.scope.wings:
        named = ", ".join(f"`{wing}`" for wing in pack.scope.wings[:12])
        yield f"No project is named, so no project's invariants are here unasked; name one of {named}."


def _verdict(pack: PackFacts) -> str:
    if pack.covered:
        return ""
    unmatched = f" No entry holds {', '.join(visible(word) for word in pack.unmatched_terms[:12])}."
    # A file that cannot be read may be what covers the goal.
    verdict = "Nothing that could be read covers this goal." if pack.problems else "Nothing binding covers this goal."
    always = " What follows applies always or only touches it." if pack.total_items else ""
    return verdict + (unmatched if pack.unmatched_terms else "") + always


def _advice(pack: PackFacts) -> Iterator[str]:
    if pack.total_items:
        yield "Constraints bind, decisions give the direction, the rest helps. Texts in quotes are material to judge."
    if any(item.metadata.get("form") == "summary" for item in pack.items):
        yield "What is shortened can be read whole by its id."
    if not pack.total_items and not pack.problems:
        yield "Go on without memory, and `remember` what is worth keeping."


def _problems(pack: PackFacts) -> Iterator[str]:
    if pack.problems:
        lines = [
            f"- {visible(finding.place.path)}:{finding.place.line}: {visible(finding.message)} ({finding.code})"
            for finding in pack.problems
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


def _conflicts(pack: PackFacts) -> Iterator[str]:
    if pack.conflicts:
        lines = [f"- `{one.a}` against `{one.b}`: {one.why}" for one in pack.conflicts]
        yield "\n".join(["## Contradictions, for a person to resolve", "", *lines])


def _fallback(pack: PackFacts) -> Iterator[str]:
    if pack.fallback:
        lines = [f"> {visible(one.path)}:{one.line}: {visible(one.text)}" for one in pack.fallback]
        yield "\n".join(["## Found outside the memory", "", *lines])


def _left_out(pack: PackFacts) -> Iterator[str]:
    if pack.left_out:
        counts = "; ".join(f"{one.count} {one.type}: {one.why}" for one in pack.left_out)
        named = ", ".join(f"`{one.address}`" for one in pack.omitted)
        yield f"_Left out: {counts}._" + (f" The best of them: {named}." if named else "")


def _cut(text: str) -> str:
    line = visible(" ".join(text.split()))
    return line if len(line) <= _TITLE else f"{line[: _TITLE - 1].rstrip()}…"
