"""What may be written at a place: whole entries, keys, values, addresses, and paths of the code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lsprotocol import types
from msgspec import Struct

from mdmem.lsp.address_items import address_items
from mdmem.lsp.buffer import Buffer
from mdmem.lsp.code_path_items import code_path_items
from mdmem.lsp.entry_snippets import entry_snippets, without_places
from mdmem.lsp.place import EditorPage
from mdmem.lsp.roots import Roots
from mdmem.lsp.session import EditorSession
from mdmem.lsp.spots import Spot, SpotKind
from mdmem.lsp.texts import entry_lines, shown
from mdmem.lsp.values import values_of
from mdmem.model.entry import EntryType
from mdmem.model.fields import FIELDS, KNOWN_FIELDS, WING_FIELDS, Field, Holder, Kind
from mdmem.store.catalog.addresses import is_entry_place

_WORD = re.compile(r"(?:(?<!\S)-\Z)?(?P<begun>[^\s,\[\]{}\"':]*)\Z")
# An address that is begun, in brackets that nobody closed yet.
_REFERENCE = re.compile(r"\[(?:see:[ \t]*(?:[^\[\]\n]*,[ \t]*)?|\[)(?P<begun>[^\[\]\s,|#]*)\Z", re.IGNORECASE)
# A file in which nothing but a word is begun.
_EMPTY = re.compile(r"\s*\w*\s*")
# No word that is completed is longer, and a line may be a megabyte.
_LONGEST = 500
_REST = re.compile(r"[\w./-]*")
_LIST_KINDS = frozenset({Kind.LINKS, Kind.GLOBS, Kind.NAMES, Kind.TEXTS})


def completion(session: EditorSession, buffer: Buffer, params: types.CompletionParams) -> types.CompletionList | None:
    """Return what may stand at a place; nothing in code and in prose."""
    page = EditorPage(session, buffer)
    if page.is_code:
        return None
    offset = buffer.offset_at(params.position)
    items, is_cut = _items(page, offset)
    if not session.skills.snippets:
        items = [without_places(item) for item in items]
    return types.CompletionList(is_incomplete=is_cut, items=items)


def resolve(roots: Roots, params: types.CompletionItem) -> types.CompletionItem:
    """Return an address that is offered, with what its entry says."""
    data = params.data if isinstance(params.data, dict) else {}
    found = roots.page(str(data.get("uri", "")))
    address = str(data.get("address", ""))
    if found is not None and address in found[0].catalog.entries:
        session = found[0]
        params.documentation = shown(session.skills, entry_lines(session.catalog, address, session.today()))
    return params


_Items = tuple[list[types.CompletionItem], bool]


def _items(page: EditorPage, offset: int) -> _Items:
    text = page.buffer.text
    if page.address is not None and len(text) < _LONGEST and _EMPTY.fullmatch(text):
        return list(entry_snippets(page, offset)), False
    if not page.parts.is_in_front(offset):
        found = _REFERENCE.search(text, max(text.rfind("\n", 0, offset) + 1, offset - _LONGEST), offset)
        if found is None:
            return [], False
        return address_items(page, _slot(page, found.start("begun"), offset, "")), True
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    field = page.parts.field_at(offset)
    if field is None or _is_key(page, line, offset):
        return list(_keys(page, offset)), False
    return _in_field(page, field.key.text, offset)


def _is_key(page: EditorPage, line: str, offset: int) -> bool:
    """Say whether a place is where a key stands or may begin: in the first word of a line that is no further in."""
    spot = page.parts.at(offset)
    if spot is not None and spot.kind is SpotKind.KEY:
        return True
    return bool(re.fullmatch(r"[\w-]*", line))


def _slot(page: EditorPage, start: int, offset: int, key: str) -> Spot:
    """Return what an offer takes the place of: the word around a place, of which `text` stands before it."""
    rest = _REST.match(page.buffer.text, offset)
    end = rest.end() if rest else offset
    return Spot(SpotKind.VALUE, start, end, page.buffer.text[start:offset], key)


def _value_slot(page: EditorPage, key: str, offset: int) -> Spot:
    """Return what a value takes the place of: the item at a place, as far as it stands on that line, or a word."""
    text, spot = page.buffer.text, page.parts.at(offset)
    line, end = text.rfind("\n", 0, offset) + 1, text.find("\n", offset)
    if spot is not None and spot.key == key and spot.kind is not SpotKind.KEY and spot.start >= line:
        return Spot(
            SpotKind.VALUE, spot.start, min(spot.end, end) if end >= 0 else spot.end, text[spot.start : offset], key
        )
    word = _WORD.search(text, max(line, offset - _LONGEST), offset)
    return _slot(page, word.start("begun") if word else offset, offset, key)


def _in_field(page: EditorPage, key: str, offset: int) -> _Items:
    slot = _value_slot(page, key, offset)
    kind = next((field.kind for field in FIELDS if field.name == key), None)
    if kind is Kind.LINKS or kind is Kind.RELATIONS:
        return address_items(page, slot), True
    if kind is Kind.GLOBS:
        return code_path_items(page, slot)
    return [_value(page, slot, value, number) for number, value in enumerate(values_of(page, key))], False


def _value(page: EditorPage, slot: Spot, value: tuple[str, str], number: int) -> types.CompletionItem:
    written, told = value
    text = page.buffer.text
    # Right behind the colon or the dash YAML wants a blank.
    blank = " " if text[slot.start - 1 : slot.start] in (":", "-") else ""
    return types.CompletionItem(
        label=written,
        kind=types.CompletionItemKind.Value,
        detail=told or None,
        sort_text=f"{number:04}",
        filter_text=f"{blank}{written}",
        text_edit=types.TextEdit(page.range_of(slot), f"{blank}{written}"),
    )


class _Wanted(Struct, frozen=True):
    """A field that a file may have and has not, and whether its type asks for it."""

    field: Field
    is_own: bool


def _keys(page: EditorPage, offset: int) -> Iterator[types.CompletionItem]:
    """Yield the keys that are missing, what every file needs first, then those of its type, then the others."""
    text = page.buffer.text
    spot = page.parts.at(offset)
    is_there = spot is not None and spot.kind is SpotKind.KEY
    start = text.rfind("\n", 0, offset) + 1
    start += len(text[start:offset]) - len(text[start:offset].lstrip())
    slot = spot if is_there and spot is not None else _slot(page, start, offset, "")
    wanted = sorted(_missing(page), key=lambda one: (not one.field.required, not one.is_own))
    for number, one in enumerate(wanted):
        name = one.field.name
        yield types.CompletionItem(
            label=name,
            kind=types.CompletionItemKind.Field,
            detail=one.field.meaning,
            documentation=shown(page.session.skills, [one.field.example]),
            sort_text=f"{number:04}",
            insert_text_format=types.InsertTextFormat.Snippet,
            text_edit=types.TextEdit(page.range_of(slot), name if is_there else f"{name}: {_opening(page, one.field)}"),
        )


def _opening(page: EditorPage, field: Field) -> str:
    """Return what follows a new key, as a snippet: the brackets of a list, a choice, a day."""
    if field.kind in _LIST_KINDS:
        return "[$1]"
    values = [value for value, _ in values_of(page, field.name)]
    if field.kind in (Kind.TYPE, Kind.STATUS, Kind.WING_KIND):
        return f"${{1|{','.join(values)}|}}"
    return f"${{1:{values[0]}}}" if field.kind is Kind.MOMENT else ""


def _missing(page: EditorPage) -> Iterator[_Wanted]:
    there = {field.key.text: "".join(item.text for item in field.items) for field in page.parts.fields}
    is_entry = is_entry_place(page.buffer.path or "")
    kind, label = there.get("type", ""), there.get("label", "")
    for field in FIELDS:
        if field.name in there or field.name not in (KNOWN_FIELDS if is_entry else WING_FIELDS):
            continue
        is_of_type = field.holder.value in (kind, label)
        if not is_entry or field.holder is Holder.ENTRY or is_of_type or kind not in _TYPES:
            yield _Wanted(field, is_own=is_of_type)


_TYPES: Sequence[str] = tuple(kind.value for kind in EntryType)
