"""Render search results, lists of entries, entries in full and excerpts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from mdmem.ask.answer import VIA_NAMED, replaced_notes
from mdmem.markdown.text import quoted
from mdmem.model.entry import Entry, Status
from mdmem.model.lineage import Stance, Standing, standing_marks
from mdmem.render.answers import TITLE_ALONE, Style, mention_line
from mdmem.render.basis import ended_text, problems_text, relations_text
from mdmem.render.ink import Ink
from mdmem.render.json import mentions_json
from mdmem.render.text import UNREPLACED, count, first_of, indent, one_line, repeats

if TYPE_CHECKING:
    from mdmem.ask.answer import Item as Result
    from mdmem.ask.answer import SearchResult
    from mdmem.ask.show import EntryExcerpt, ShownEntry


def search_text(
    result: SearchResult,
    style: Style,
    *,
    limit: int,
    snippet_of: Callable[[Result], str],
    more: str = "--limit shows them",
) -> str:
    """Return the best results, each with a snippet; `more` tells the reader how to see the rest."""
    blocks = [*problems_text(result.basis)]
    if result.basis.degraded:
        blocks.append(f"Degraded: {result.basis.why_degraded}; this answer comes from the files themselves.")
    blocks += ended_text(result.basis)
    write = _result_in_list if style.is_markdown else _result
    results = [write(hit, snippet_of(hit), style.ink) for hit in result.hits[:limit]]
    blocks += ["\n".join(results)] if style.is_markdown and results else results
    if len(result.hits) > limit:
        blocks.append(style.foot(f"{len(result.hits) - limit} more; {more}"))
    return "\n\n".join(blocks)


def _result(hit: Result, snippet: str, ink: Ink) -> str:
    marks = _marks(hit.status.value, hit.stance)
    lines = [f"{ink.bold(f'[{hit.entry.type}] {hit.entry.address}')}{marks}", f"  {one_line(hit.entry.title)}"]
    if hit.heads and hit.entry.address not in hit.heads:
        lines.append(f"  replaced by {', '.join(hit.heads)}")
    lines += [f"  {line}" for line in (*replaced_notes(hit.via), *relations_text(hit))]
    lines += [f"  {hit.stance.note}"] if hit.stance is not None and hit.stance.note else []
    return "\n".join([*lines, *([ink.dim(f"  {snippet}")] if snippet else [])])


def _result_in_list(hit: Result, snippet: str, _: Ink) -> str:
    via = f", in place of {first_of([f'`{old}`' for old in hit.via], VIA_NAMED)}" if hit.via else ""
    marks = "".join(f", {mark}" for mark in standing_marks(hit.stance))
    head = f"- `{hit.entry.address}` ({hit.entry.type}{via}{marks}): {one_line(hit.entry.title)}. {snippet}"
    return "\n  ".join([head, *relations_text(hit)])


def _marks(status: str, stance: Stance | None) -> str:
    """Return in parentheses the status of an entry and its state compared with the default branch.

    The text is empty for an active entry of the default branch.
    """
    marks = [*([] if status == Status.ACTIVE else [status.replace("_", " ")]), *standing_marks(stance)]
    return f" ({', '.join(marks)})" if marks else ""


def entry_list(listed: Iterable[Entry], style: Style, marks: Mapping[str, str]) -> str:
    """Return one line or table row for each entry: type, status, address, and title.

    `marks` are short remarks by address, which are printed after the title.
    """
    entries = list(listed)
    if style.is_markdown:
        rows = [
            f"| {one.type} | {one.status} | `{one.address}` | "
            f"{f'{one_line(one.title)}{_mark(one, marks)}'.replace('|', chr(92) + '|')} |"
            for one in entries
        ]
        return "\n".join(["| type | status | address | title |", "| --- | --- | --- | --- |", *rows])
    width = max((len(entry.address) for entry in entries), default=0)
    return "\n".join(
        f"{one.type:<9}  {one.status.replace('_', ' '):<12}  {style.ink.bold(f'{one.address:<{width}}')}  "
        f"{one_line(one.title)}{style.ink.dim(f' {_mark(one, marks)}') if marks.get(one.address) else ''}"
        for one in entries
    )


def _mark(entry: Entry, marks: Mapping[str, str]) -> str:
    return f" ({marks[entry.address]})" if marks.get(entry.address) else ""


def titles_by_room(listed: Iterable[Entry], ink: Ink) -> str:
    """Return a heading for each room, with the id and the title of each of its entries below.

    A title is left out if the entry-id contains all its words in their order.
    """
    rooms: dict[str, list[str]] = {}
    for entry in sorted(listed, key=lambda one: one.address):
        room, _, entry_id = entry.address.rpartition("/")
        title = "" if repeats(entry_id, entry.title) else f"  {one_line(entry.title)}"
        rooms.setdefault(room, []).append(f"{entry_id}{title}")
    return "\n\n".join("\n".join([ink.bold(f"{room}/"), *lines]) for room, lines in rooms.items())


def nothing_listed(hidden: Mapping[str, int], *, is_filtered: bool) -> str:
    """Return the message for an empty list, with the options that would show hidden entries."""
    return "; ".join(["no entry passes these filters" if is_filtered else "no entry is current", *_hidden(hidden)])


def not_listed(hidden: Mapping[str, int]) -> str:
    """Return how many entries a list hides, and which options show them; empty if it hides none."""
    return f"and {'; '.join(_hidden(hidden))}" if any(hidden.values()) else ""


def _hidden(hidden: Mapping[str, int]) -> Iterator[str]:
    if hidden["draft"]:
        yield f"{count(hidden['draft'], 'draft')}, shown by --include-drafts"
    if hidden["ended"]:
        counted = count(hidden["ended"], "entry that is not current", "entries that are not current")
        yield f"{counted}, shown by --include-deprecated"


def shown_text(shown: Iterable[ShownEntry], style: Style) -> str:
    """Return entries in full, each with its state: current, draft, replaced, proposed, and so on."""
    return "\n\n".join(_shown(one, style) for one in shown)


def _shown(one: ShownEntry, style: Style) -> str:
    entry = one.entry
    if style.is_markdown:
        head = f"## {one_line(entry.title)}\n\n`{entry.address}`: {entry.type}, {standing(one)}"
        return f"{head}\n\n{one.body.strip()}"
    fields = [f"  {name}: {_value(value)}" for name, value in one.front_matter.items() if name not in ("type", "title")]
    head = f"{style.ink.bold(f'[{entry.type}] {entry.address}')} ({standing(one)})"
    return "\n".join([head, f"  {one_line(entry.title)}", *fields, "", indent(one.body.strip("\n"))]).rstrip()


def standing(one: ShownEntry) -> str:
    """Return the state of an entry as text: current or not, its state on the default branch, what amends it."""
    related = ((verb, named) for verb, named in (("claimed", one.claimed_by), ("amended", one.amended_by)) if named)
    notes = [f"{verb} by {', '.join(named)}" for verb, named in related]
    notes += [one.stance.note] if one.stance is not None and one.stance.note else []
    return "; ".join([", ".join([_state(one), *standing_marks(one.stance)]), *notes])


def _state(one: ShownEntry) -> str:
    if one.current:
        return "current" if one.entry.status is Status.ACTIVE else one.entry.status.replace("_", " ")
    if one.entry.status is Status.DRAFT:
        return "draft" if one.stance is not None and one.stance.standing is Standing.MERGED else "draft, not binding"
    return f"replaced by {', '.join(one.heads)}" if one.heads else f"not current, {UNREPLACED}"


def _value(value: object) -> str:
    if isinstance(value, list):
        return one_line(", ".join(str(item) for item in value))
    return "" if value is None else one_line(str(value))


def excerpts_text(shown: Iterable[EntryExcerpt], style: Style) -> str:
    """Return the excerpts of entries under their titles; in Markdown, excerpts are block quotes."""
    return "\n\n".join(_excerpt(one, style) for one in shown)


def _excerpt(one: EntryExcerpt, style: Style) -> str:
    replaced = f" (replaced by {', '.join(one.heads)})" if one.heads else " (not current)"
    state = "" if one.is_current else replaced
    content = f"has {TITLE_ALONE}" if one.is_title_alone else one.content or "already shown"
    mentions = [mention_line(other) for other in one.mentions]
    if style.is_markdown:
        head = f"### {one_line(one.entry.title)}\n\n`{one.entry.address}`{state}"
        return "\n- ".join([f"{head}\n\n{quoted(content)}", *mentions])
    head = f"{style.ink.bold(one.entry.address)}: {one_line(one.entry.title)}{state}"
    return "\n".join([head, indent(content), *(f"  {style.ink.dim(line)}" for line in mentions)])


def excerpts_json(shown: Iterable[EntryExcerpt]) -> dict[str, Any]:
    """Return the excerpts as JSON values; `heads` are the entry itself or its current successors."""
    return {
        "entries": [
            {
                "address": one.entry.address,
                "title": one.entry.title,
                "passages": one.content,
                **({"given_before": one.was_shown} if one.was_shown else {}),
                "heads": list(one.heads),
                **({"beneath": mentions_json(one.mentions)} if one.mentions else {}),
            }
            for one in shown
        ]
    }
