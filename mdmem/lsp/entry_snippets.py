"""Whole entries for a new file: what its room holds first, each with the places to be filled in."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from lsprotocol import types

from mdmem.lsp.place import EditorPage
from mdmem.markdown.fields import scalar
from mdmem.model.entry import BODIES, EntryType, title_of

_ACTING = re.compile(r"[\\$}]")
_PLACEHOLDER = re.compile(r"<([^<>]+)>")


def entry_snippets(page: EditorPage, offset: int) -> Iterator[types.CompletionItem]:
    """Yield an entry of each type in place of a line of an empty file; what the room holds most of is offered first."""
    number = page.buffer.position_at(offset).line
    line = types.Range(types.Position(number, 0), types.Position(number, len(page.buffer.line(number))))
    # The last line of many editors' texts ends already.
    has_end = number + 1 < page.buffer.line_count
    for rank, kind in enumerate(_by_room(page)):
        yield types.CompletionItem(
            label=kind.value,
            kind=types.CompletionItemKind.Snippet,
            detail=f"a new {kind.value}",
            preselect=rank == 0,
            sort_text=f"{rank}",
            filter_text=kind.value,
            insert_text_format=types.InsertTextFormat.Snippet,
            text_edit=types.TextEdit(line, snippet(kind, page).removesuffix("\n" if has_end else "")),
        )


def _by_room(page: EditorPage) -> list[EntryType]:
    """Return the types, what other entries of the room are before what the settings' rooms are for."""
    wing, room, _ = page.near.split("/", 2)
    entries = page.session.catalog.entries.values()
    held = Counter(entry.type for entry in entries if entry.wing == wing and entry.room == room)
    rooms = {name: kind for kind, name in page.session.settings.rooms.items()}
    return sorted(EntryType, key=lambda kind: (-held[kind], rooms.get(room) != kind.value, kind.rank))


def snippet(kind: EntryType, page: EditorPage) -> str:
    """Return an entry with its places to be filled in; the template's own words stand in them until then."""
    places = iter(range(1, 10))
    fields = (
        f"type: {kind.value}",
        f"status: ${{{next(places)}|draft,active|}}",
        f"created_at: {page.session.today().isoformat()}",
        f"title: ${{{next(places)}:{_plain(scalar(title_of(page.near)))}}}",
    )
    body = _PLACEHOLDER.sub(lambda found: f"${{{next(places)}:{_plain(found.group())}}}", BODIES[kind])
    return "\n".join(["---", *fields, "---", "", body])


def _plain(text: str) -> str:
    return _ACTING.sub(lambda found: f"\\{found.group()}", text)


_PLACE = re.compile(r"\$\{\d+\|(?P<choice>[^,|]*)[^}]*\}|\$\{\d+:(?P<text>(?:\\.|[^}\\])*)\}|\$\d+|\\(?P<sign>.)")


def without_places(item: types.CompletionItem) -> types.CompletionItem:
    """Return what is offered to an editor that knows no places to be filled in: their words stand there as they are."""
    if item.insert_text_format is types.InsertTextFormat.Snippet and isinstance(item.text_edit, types.TextEdit):
        item.insert_text_format = None
        item.text_edit.new_text = _PLACE.sub(_words, item.text_edit.new_text)
    return item


def _words(found: re.Match[str]) -> str:
    said = found["choice"] or found["text"] or found["sign"] or ""
    return re.sub(r"\\(.)", r"\1", said) if found["text"] else said
