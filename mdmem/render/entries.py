"""Render entries in full, in lists, as passages, and context packs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from mdmem.ask.answer import VIA_NAMED, replaced_notes
from mdmem.ask.show import EntryExcerpt
from mdmem.markdown.text import quoted
from mdmem.model.entry import Entry, Status
from mdmem.model.lineage import Standing, marked
from mdmem.render.answers import TITLE_ALONE, mention_line
from mdmem.render.basis import ended_text, problems_text, relations_text
from mdmem.render.ink import Ink
from mdmem.render.json import mentions_json
from mdmem.render.text import UNREPLACED, count, indent, one_line

if TYPE_CHECKING:
    from mdmem.ask.answer import Item as Result
    from mdmem.ask.answer import SearchResult
    from mdmem.ask.show import ShownEntry


def search_text(
    result: SearchResult,
    *,
    limit: int,
    snippet_of: Callable[[Result], str],
    ink: Ink,
    more: str = "--limit shows them",
) -> str:
    """Return the best hits with a snippet each; `more` says how to see the rest."""
    blocks = [*problems_text(result.basis)]
    if result.basis.degraded:
        blocks.append(f"Degraded: {result.basis.why_degraded}; this answer comes from the files themselves.")
    blocks += ended_text(result.basis)
    for hit in result.hits[:limit]:
        head = ink.bold(f"[{hit.entry.type}] {hit.entry.address}")
        lines = [f"{head}{_mark(hit)}", f"  {one_line(hit.entry.title)}"]
        if hit.heads and hit.entry.address not in hit.heads:
            lines.append(f"  replaced by {', '.join(hit.heads)}")
        lines += [f"  {note}" for note in replaced_notes(hit.via)]
        lines += [f"  {line}" for line in relations_text(hit)]
        lines += [f"  {hit.stance.note}"] if hit.stance is not None and hit.stance.note else []
        snippet = snippet_of(hit)
        blocks.append("\n".join([*lines, *([ink.dim(f"  {snippet}")] if snippet else [])]))
    if len(result.hits) > limit:
        blocks.append(ink.dim(f"{len(result.hits) - limit} more; {more}"))
    return "\n\n".join(blocks)


def search_markdown(result: SearchResult, *, limit: int, snippet_of: Callable[[Result], str]) -> str:
    """Return the best hits as a list."""
    lines = [text for block in problems_text(result.basis) for text in (block, "")]
    lines += [text for line in ended_text(result.basis) for text in (line, "")]
    for hit in result.hits[:limit]:
        rest = f" and {len(hit.via) - VIA_NAMED} more" if len(hit.via) > VIA_NAMED else ""
        via = f", in place of {', '.join(f'`{old}`' for old in hit.via[:VIA_NAMED])}{rest}" if hit.via else ""
        marks = "".join(f", {mark}" for mark in marked(hit.stance))
        lines.append(
            f"- `{hit.entry.address}` ({hit.entry.type}{via}{marks}): {one_line(hit.entry.title)}. {snippet_of(hit)}"
            + "".join(f"\n  {line}" for line in relations_text(hit))
        )
    return "\n".join(lines)


def _mark(hit: Result) -> str:
    status = [] if hit.status is Status.ACTIVE else [hit.status.value.replace("_", " ")]
    marks = [*status, *marked(hit.stance)]
    return f" ({', '.join(marks)})" if marks else ""


def entry_list(listed: Iterable[Entry], ink: Ink, marks: Mapping[str, str], *, columns: int | None = None) -> str:
    """Return one line an entry: type, status, address, title, and the mark of its address, if it has one.

    Where one is wider than the columns there are, the titles of all stand on lines of their own.
    """
    rows = [(one, f"  ({marks[one.address]})" if marks.get(one.address) else "") for one in listed]
    width = max((len(entry.address) for entry, _ in rows), default=0)
    widest = max((len(one_line(entry.title)) + len(mark) for entry, mark in rows), default=0)
    is_narrow = columns is not None and _BEFORE_ADDRESS + width + 2 + widest > columns
    return "\n".join(_row(entry, ink, mark, None if is_narrow else width) for entry, mark in rows)


_BEFORE_ADDRESS = 25


def _row(entry: Entry, ink: Ink, mark: str, width: int | None) -> str:
    gap = "\n  " if width is None else "  "
    head = f"{entry.type:<9}  {entry.status.replace('_', ' '):<12}  {ink.bold(f'{entry.address:<{width or 0}}')}"
    return f"{head}{gap}{one_line(entry.title)}{ink.dim(mark)}"


def titles_by_room(listed: Iterable[Entry], ink: Ink) -> str:
    """Return the id and the title of each entry, under a heading for each room, by address."""
    rooms: dict[str, list[str]] = {}
    for entry in sorted(listed, key=lambda one: one.address):
        room, _, entry_id = entry.address.rpartition("/")
        rooms.setdefault(room, []).append(f"{entry_id}  {one_line(entry.title)}")
    return "\n\n".join("\n".join([ink.bold(f"{room}/"), *lines]) for room, lines in rooms.items())


def nothing_listed(hidden: Mapping[str, int], *, is_filtered: bool) -> str:
    """Say that no entry is listed, and which option would show some."""
    return "; ".join(["no entry passes these filters" if is_filtered else "no entry is in force", *_hidden(hidden)])


def not_listed(hidden: Mapping[str, int]) -> str:
    """Say which entries are not listed beside those that are, and which option shows them; empty where all are."""
    return f"and {'; '.join(_hidden(hidden))}" if any(hidden.values()) else ""


def _hidden(hidden: Mapping[str, int]) -> list[str]:
    drafts, ended = count(hidden["draft"], "draft"), count(hidden["ended"], "ended entry", "ended entries")
    hints = [f"{drafts}, shown by --include-drafts"] if hidden["draft"] else []
    hints += [f"{ended}, shown by --include-deprecated"] if hidden["ended"] else []
    return hints


def entry_table(listed: Iterable[Entry], marks: Mapping[str, str]) -> str:
    """Return the entries as a Markdown table, each with the mark of its address, if it has one, behind its title."""
    rows = [
        f"| {one.type} | {one.status} | `{one.address}` | {_cell(one.title, marks.get(one.address, ''))} |"
        for one in listed
    ]
    return "\n".join(["| type | status | address | title |", "| --- | --- | --- | --- |", *rows])


def _cell(title: str, mark: str) -> str:
    text = f"{one_line(title)} ({mark})" if mark else one_line(title)
    return text.replace("|", chr(92) + "|")


def shown_text(shown: Iterable[ShownEntry], ink: Ink) -> str:
    """Return entries in full, each with how it stands."""
    return "\n\n".join(_shown(one, ink) for one in shown)


def _shown(one: ShownEntry, ink: Ink) -> str:
    entry = one.entry
    fields = [f"  {name}: {_value(value)}" for name, value in one.front_matter.items() if name not in ("type", "title")]
    head = ink.bold(f"[{entry.type}] {entry.address}")
    return "\n".join(
        [f"{head} ({standing(one)})", f"  {one_line(entry.title)}", *fields, "", indent(one.body.strip("\n"))]
    ).rstrip()


def shown_markdown(shown: Iterable[ShownEntry]) -> str:
    """Return entries as Markdown sections."""
    return "\n\n".join(_section(one) for one in shown)


def _section(one: ShownEntry) -> str:
    head = f"## {one_line(one.entry.title)}\n\n`{one.entry.address}`: {one.entry.type}, {standing(one)}"
    return f"{head}\n\n{one.body.strip()}"


def standing(one: ShownEntry) -> str:
    """Say whether an entry binds, and if not, what does; what bears on it; how it stands to the default branch."""
    bearing = ((verb, named) for verb, named in (("claimed", one.claimed_by), ("amended", one.amended_by)) if named)
    note = [f"{verb} by {', '.join(named)}" for verb, named in bearing]
    note += [one.stance.note] if one.stance is not None and one.stance.note else []
    return "; ".join([", ".join([_standing(one), *marked(one.stance)]), *note])


def _standing(one: ShownEntry) -> str:
    if one.current:
        return "current" if one.entry.status is Status.ACTIVE else one.entry.status.replace("_", " ")
    if one.entry.status is Status.DRAFT:
        return "draft" if one.stance is not None and one.stance.standing is Standing.MERGED else "draft, not binding"
    return f"replaced by {', '.join(one.heads)}" if one.heads else f"ended, {UNREPLACED}"


def _value(value: object) -> str:
    if isinstance(value, list):
        return one_line(", ".join(str(item) for item in value))
    return "" if value is None else one_line(str(value))


def excerpts_text(shown: Iterable[EntryExcerpt], ink: Ink) -> str:
    """Return each entry with its excerpt."""
    return "\n\n".join(
        f"{ink.bold(one.entry.address)}: {one_line(one.entry.title)}{_currency(one)}\n{indent(_excerpt(one))}"
        + "".join(f"\n  {ink.dim(mention_line(other))}" for other in one.mentions)
        for one in shown
    )


def excerpts_markdown(shown: Iterable[EntryExcerpt]) -> str:
    """Return each entry as a section, its excerpt as a quote."""
    return "\n\n".join(
        f"### {one_line(one.entry.title)}\n\n`{one.entry.address}`{_currency(one)}\n\n{quoted(_excerpt(one))}"
        + "".join(f"\n- {mention_line(other)}" for other in one.mentions)
        for one in shown
    )


def excerpts_json(shown: Iterable[EntryExcerpt]) -> dict[str, Any]:
    """Return the excerpt of each entry; `heads` are the current entries in its place."""
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


def _excerpt(one: EntryExcerpt) -> str:
    if one.is_title_alone:
        return f"has {TITLE_ALONE}"
    return one.content or "already shown"


def _currency(one: EntryExcerpt) -> str:
    if one.is_current:
        return ""
    return f" (replaced by {', '.join(one.heads)})" if one.heads else " (not current)"
