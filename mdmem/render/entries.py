"""Render search results, lists of entries, entries in full, excerpts, and the fields of the front matter."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from mdmem.ask.answer import RELATIONS, Form, Item, SearchResult, replaced_notes
from mdmem.ask.search import ShownEntry
from mdmem.markdown.body import is_title_alone, quoted
from mdmem.model.entry import Entry, EntryType, Field, Kind, Status, WingKind
from mdmem.model.lineage import Standing, branch_state_json, standing_marks
from mdmem.record import record_json
from mdmem.render.answers import TITLE_ALONE, ended_text, mention_line, mentions_json, problems_text
from mdmem.render.text import UNREPLACED, Style, count, indent, one_line, repeats

_AFTER = {"claimed_by": ", in a one-sided supersession", "claims": ", which is current"}


def search_text(
    result: SearchResult, best: Sequence[tuple[Item, str]], style: Style, *, more: str = "--limit shows them"
) -> str:
    """Return the best results, each with a snippet; `more` tells the reader how to see the rest."""
    basis, blocks = result.basis, [*problems_text(result.basis, style)]
    blocks += [f"Degraded: {basis.why_degraded}; this answer was found without the index."] if basis.degraded else []
    blocks += ended_text(basis)
    for hit, snippet in best:
        entry = hit.entry
        status = [] if hit.status is Status.ACTIVE else [hit.status.value.replace("_", " ")]
        marks = ", ".join([*status, *standing_marks(hit.branch_state)])
        plain, marked = style.bold(f"[{entry.type}] {entry.address}"), f"- {entry.type} `{entry.address}`"
        head = marked if style.is_markdown else plain
        lines = [f"{head} ({marks})" if marks else head, one_line(entry.title)]
        if hit.heads and entry.address not in hit.heads:
            lines.append(f"replaced by {', '.join(hit.heads)}")
        lines += replaced_notes(hit.via)
        for name, titles in hit.relations.items():
            after = _AFTER.get(name, "")
            lines += (f"{RELATIONS[name]} {one} ({one_line(title)}){after}" for one, title in titles.items())
        lines += [hit.branch_state.note] if hit.branch_state is not None and hit.branch_state.note else []
        lines += [style.dim(snippet)] if snippet else []
        blocks.append("\n  ".join(lines))
    if left := len(result.hits) - len(best):
        blocks.append(style.foot(f"{left} more; {more}"))
    return "\n\n".join(blocks)


def entry_list(entries: Sequence[Entry], style: Style, marks: Mapping[str, str]) -> str:
    """Return a line for each entry; `marks` are short remarks by address, printed after the title."""
    width = max((len(entry.address) for entry in entries), default=0)
    lines = []
    for one in entries:
        title, mark = one_line(one.title), f" ({marks[one.address]})" if marks.get(one.address) else ""
        status = one.status.replace("_", " ")
        if style.is_markdown:
            lines.append(f"- {one.type}, {status}: `{one.address}`: {title}{mark}")
        else:
            address = style.bold(f"{one.address:<{width}}")
            lines.append(f"{one.type:<9}  {status:<12}  {address}  {title}{style.dim(mark)}")
    return "\n".join(lines)


def titles_by_room(listed: Iterable[Entry], style: Style) -> str:
    """Return the entry-ids below a heading for each room. A title follows unless it only repeats the entry-id."""
    rooms: dict[str, list[str]] = {}
    for entry in sorted(listed, key=lambda one: one.address):
        room, _, entry_id = entry.address.rpartition("/")
        title = "" if repeats(entry_id, entry.title) else f"  {one_line(entry.title)}"
        rooms.setdefault(room, []).append(f"{entry_id}{title}")
    return "\n\n".join("\n".join([style.bold(f"{room}/"), *lines]) for room, lines in rooms.items())


def hidden_text(hidden: Mapping[str, int]) -> Iterator[str]:
    """Yield how many drafts and other entries a list hides, and which options show them."""
    if hidden["draft"]:
        yield f"{count(hidden['draft'], 'draft')}, shown by --include-drafts"
    if hidden["ended"]:
        counted = count(hidden["ended"], "entry that is not current", "entries that are not current")
        yield f"{counted}, shown by --include-deprecated"


def shown_text(shown: Iterable[ShownEntry], style: Style) -> str:
    """Return entries in full, each with its state: current, draft, replaced, proposed, and so on.

    In Markdown, every line of a body is quoted, so that nobody takes it for a line of mdmem.
    """
    blocks = []
    for one in shown:
        entry, title, state = one.entry, one_line(one.entry.title), one_line(standing(one))
        left_out = ("type", "title", "status") if style.is_markdown else ("type", "title")
        stated = ((name, value) for name, value in one.front_matter.items() if name not in left_out)
        fields = [f"{name}: {one_line(_field_text(value))}" for name, value in stated]
        body = one.body.strip("\n")
        if style.is_markdown:
            head = [f"### {entry.type}: {title}", "", f"`{entry.address}` ({state})", *fields]
        else:
            head = [f"{style.bold(f'[{entry.type}] {entry.address}')} ({state})", *map(indent, (title, *fields))]
        blocks.append("\n".join([*head, "", quoted(body) if style.is_markdown else indent(body)]).rstrip())
    return "\n\n".join(blocks)


def _field_text(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_field_text, value))
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_field_text(inner)}" for name, inner in value.items())
    return "" if value is None else str(value)


def standing(one: ShownEntry) -> str:
    """Return the state of an entry as text: whether it is current and binding, and which entries amend it."""
    if one.current:
        state = "current" if one.entry.status is Status.ACTIVE else one.entry.status.replace("_", " ")
    elif one.entry.status is Status.DRAFT:
        is_merged = one.branch_state is not None and one.branch_state.standing is Standing.MERGED
        state = "draft" if is_merged else "draft, not binding"
    else:
        state = f"replaced by {', '.join(one.heads)}" if one.heads else f"not current, {UNREPLACED}"
    related = ((verb, named) for verb, named in (("claimed", one.claimed_by), ("amended", one.amended_by)) if named)
    notes = [f"{verb} by {', '.join(named)}" for verb, named in related]
    notes += [one.branch_state.note] if one.branch_state is not None and one.branch_state.note else []
    return "; ".join([", ".join([state, *standing_marks(one.branch_state)]), *notes])


def excerpts_text(shown: Iterable[Item], style: Style) -> str:
    """Return the excerpts of entries under their titles; in Markdown, excerpts are block quotes."""
    blocks = []
    for one in shown:
        title = one_line(one.entry.title)
        unbinding = "draft, not binding" if one.entry.status is Status.DRAFT else "not current"
        state = f"replaced by {', '.join(one.heads)}" if one.heads else unbinding
        state = "" if one.entry.address in one.heads else f" ({state})"
        state += " (shown before in part)" if one.is_continued and one.content else ""
        is_new = one.form is not Form.ALREADY_SHOWN and not one.is_continued
        content = f"has {TITLE_ALONE}" if is_new and is_title_alone(one.content) else one.content or "already shown"
        mentions = [mention_line(other, style) for other in one.mentions]
        if style.is_markdown:
            head = f"### {title}\n\n`{one.entry.address}`{state}\n\n{quoted(content)}"
            blocks.append("\n- ".join([head, *mentions]))
        else:
            head = f"{style.bold(one.entry.address)}: {title}{state}"
            blocks.append("\n".join([head, indent(content), *(f"  {style.dim(line)}" for line in mentions)]))
    return "\n\n".join(blocks)


def excerpts_json(shown: Iterable[Item]) -> dict[str, Any]:
    """Return the excerpts as JSON values; `heads` are the entry itself or its current successors."""
    return {
        "entries": [
            {
                "address": one.entry.address,
                "title": one.entry.title,
                "passages": one.content,
                **({"given_before": "all"} if one.form is Form.ALREADY_SHOWN else {}),
                **({"given_before": "in part"} if one.is_continued else {}),
                "heads": list(one.heads),
                **({"beneath": mentions_json(one.mentions)} if one.mentions else {}),
            }
            for one in shown
        ]
    }


_KINDS = {
    Kind.TYPE: ", ".join(EntryType),
    Kind.STATUS: ", ".join(Status),
    Kind.WING_KIND: ", ".join(WingKind),
    Kind.TEXT: "text",
    Kind.TEXTS: "list of text",
    Kind.WINGS: "list of wings",
    Kind.LINKS: "list of addresses",
    Kind.GLOBS: "list of globs",
    Kind.MOMENT: "date or date-time",
    Kind.VERSION: "whole number from 1",
    Kind.SHARE: "number from 0 to 1",
    Kind.PAIRS: "mapping of check code to reason",
    Kind.RELATIONS: "list of mappings with `type` and `to`",
}
_WRITER = re.compile(r"^its writer(, (and )?)?")


def fields_json(fields: Sequence[Field]) -> dict[str, Any]:
    """Return all facts about the fields as JSON values."""
    names = ("name", "meaning", "set_by", "searched", "example")
    rows = [
        {**record_json(one, *names, type="kind", needed="required"), "value": _KINDS[one.kind], "for": one.holder}
        for one in fields
    ]
    return {"fields": rows}


def fields_markdown(fields: Sequence[Field]) -> str:
    """Return the fields as a list. Each has its values or an example, unless its value is plain text."""
    lines = []
    for one in fields:
        commands = _WRITER.sub("", one.set_by)
        after = f"; set by {commands}" if commands else ""
        is_choice = one.kind in (Kind.TYPE, Kind.STATUS, Kind.WING_KIND)
        value = _KINDS[one.kind] if is_choice else f"`{one.example.removeprefix(f'{one.name}: ')}`"
        shown = "" if one.kind is Kind.TEXT else f" ({value})"
        lines.append(f"- `{one.name}`{' (required)' if one.required else ''}: {one.meaning}{shown}{after}")
    return "\n".join(lines)


def search_json(result: SearchResult, best: Sequence[tuple[Item, str]], *, named: int | None = None) -> dict[str, Any]:
    """Return the best results, each with a snippet, as JSON values; `named` limits `via` of each result."""
    basis = result.basis
    hits = [
        {
            **record_json(hit, "entry.address", "entry.type", "status", "entry.title", "entry.wing", "entry.room"),
            "score": round(hit.score, 4),
            "snippet": snippet,
            "heads": list(hit.heads),
            "via": list(hit.via[:named]),
            **{name: list(addresses) for name, addresses in hit.relations.items()},
            **branch_state_json(hit.branch_state, is_current=hit.entry.address in hit.heads),
        }
        for hit, snippet in best
    ]
    return {
        "query": result.query,
        "total": len(result.hits),
        "hits": hits,
        **(basis.as_json("ended") if basis.ended else {}),
        **basis.as_json("unmatched_terms", "problems", "degraded", "source"),
    }


def entries_json(shown: tuple[ShownEntry, ...]) -> dict[str, Any]:
    """Return entries as their files state them, as JSON values."""
    return {
        "entries": [
            {
                **record_json(one, "entry.address", "entry.path", "front_matter", "body", "current", "heads"),
                **({"claimed_by": one.claimed_by} if one.claimed_by else {}),
                **({"amended_by": one.amended_by} if one.amended_by else {}),
                **branch_state_json(one.branch_state, is_current=one.current),
            }
            for one in shown
        ]
    }
