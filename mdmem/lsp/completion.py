"""Completions at a position: templates, keys, values, addresses, and paths of code."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import timedelta
from heapq import nsmallest
from itertools import count as count_from
from typing import Any

from lsprotocol import types

from mdmem.checks.check import get_checks
from mdmem.lsp.memory import Document
from mdmem.lsp.show import plain_line, state_in
from mdmem.lsp.tokens import Token, TokenKind
from mdmem.markdown.front_matter import scalar
from mdmem.model.entry import EntryType, Holder, Kind, Status, WingKind, title_of
from mdmem.model.fields import BODIES, FIELDS, KNOWN_FIELDS, WING_FIELDS
from mdmem.store.catalog.addresses import is_entry_place
from mdmem.store.workspace.scope import shared_of

_KINDS = {field.name: field.kind for field in FIELDS}
_ENUMS = {Kind.TYPE: EntryType, Kind.STATUS: Status, Kind.WING_KIND: WingKind}
# The fields whose values are often the same in several entries, so that used values are offered.
_SHARED_FIELDS = frozenset({"label", "owner", "topic", "focus", "agent", "approved_by", "tags"})
_MAX_ITEMS = 100
# An entry expires some time ahead; every other date is usually today's.
_DAYS_TO_EXPIRY = 90
# The number of characters before the cursor that are searched, since a line may have a megabyte.
_LONGEST_WORD = 500
_EMPTY = re.compile(r"\s*\w*\s*")
_WORD = re.compile(r"(?:(?<!\S)-\Z)?(?P<begun>[^\s,\[\]{}\"':]*)\Z")
_REST_OF_WORD = re.compile(r"[\w./-]*")
# The beginning of an address, in brackets that are not closed yet.
_REFERENCE = re.compile(r"\[(?:see:[ \t]*(?:[^\[\]\n]*,[ \t]*)?|\[)(?P<begun>[^\[\]\s,|#]*)\Z", re.IGNORECASE)
_SNIPPET_SIGNS = re.compile(r"[\\$}]")
_BLANK = re.compile(r"<([^<>]+)>")


def complete(document: Document, params: types.CompletionParams) -> types.CompletionList | None:
    """Return the completions at a position, best first; None in code and in plain prose."""
    items = [] if document.is_code else [*_offers(document, document.offset_at(params.position))]
    for rank, item in enumerate(items):
        item.sort_text = f"{rank:04}"
    # Of addresses only the best are offered, so the editor asks again when more is typed.
    is_incomplete = any(item.kind is types.CompletionItemKind.Reference for item in items)
    return types.CompletionList(is_incomplete, items) if items else None


def _item(
    where: types.Range, label: str, new: str, kind: types.CompletionItemKind, **more: Any
) -> types.CompletionItem:
    """Return a completion that writes `new` at a range. Editors compare typed text with the filter, or the label."""
    return types.CompletionItem(
        label, kind=kind, text_edit=types.TextEdit(where, new), **{"filter_text": label, **more}
    )


def _offers(document: Document, offset: int) -> Iterable[types.CompletionItem]:
    text = document.text
    if document.address is not None and len(text) < _LONGEST_WORD and _EMPTY.fullmatch(text):
        return _new_entries(document, offset)
    line_start = text.rfind("\n", 0, offset) + 1
    front = document.parsed.front
    if front is None or not front[0] <= offset <= front[1]:
        found = _REFERENCE.search(text, max(line_start, offset - _LONGEST_WORD), offset)
        return _addresses(document, _word_around(document, found.start("begun"), offset)) if found else ()
    field, token = document.parsed.field_at(offset), document.parsed.token_at(offset)
    is_key = token is not None and token.kind is TokenKind.KEY
    if field is None or is_key or re.fullmatch(r"[\w-]*", text[line_start:offset]):
        return _keys(document, offset)
    # Replace the item of the field at the position, up to the end of the line, or the word there.
    key, line_end = field.key.text, text.find("\n", offset)
    if token is not None and token.key == key and token.start >= line_start:
        end = min(token.end, line_end) if line_end >= 0 else token.end
        slot = Token(TokenKind.VALUE, token.start, end, text[token.start : offset], key)
    else:
        word = _WORD.search(text, max(line_start, offset - _LONGEST_WORD), offset)
        slot = _word_around(document, word.start("begun") if word else offset, offset, key)
    kind = _KINDS.get(key)
    if kind is Kind.LINKS or kind is Kind.RELATIONS:
        return _addresses(document, slot)
    # YAML requires a space after a colon or a hyphen.
    blank = " " if text[slot.start - 1 : slot.start] in (":", "-") else ""
    where, value_kind = document.range_of_token(slot), types.CompletionItemKind.Value
    written = (f"{blank}{value}" for value in _values(document, key))
    return (_item(where, one.strip(), one, value_kind, filter_text=one) for one in written)


def _word_around(document: Document, start: int, offset: int, key: str = "") -> Token:
    """Return the word that a completion replaces; `text` of the token is only the part before the cursor."""
    rest = _REST_OF_WORD.match(document.text, offset)
    return Token(TokenKind.VALUE, start, rest.end() if rest else offset, document.text[start:offset], key)


def _new_entries(document: Document, offset: int) -> Iterator[types.CompletionItem]:
    """Yield a template for each type, for an empty file; first the type for which the settings have this room."""
    memory = document.memory
    usual = {name: kind for kind, name in memory.settings.rooms.items()}.get(document.source.split("/")[1])
    number = document.position_at(offset).line
    line = types.Range(types.Position(number, 0), types.Position(number, len(document.line(number))))
    end = "\n" if "\n" in document.text[offset:] else ""
    snippets = memory.capabilities.snippets

    def blank(word: str) -> str:
        escaped = _SNIPPET_SIGNS.sub(r"\\\g<0>", word)
        return f"${{{next(numbers)}:{escaped}}}" if snippets else word

    for kind in sorted(EntryType, key=lambda kind: (kind.value != usual, kind.rank)):
        numbers = count_from(1)
        fields = (
            f"type: {kind.value}",
            f"status: {blank('draft')}",
            f"created_at: {memory.today().isoformat()}",
            f"title: {blank(scalar(title_of(document.source)))}",
        )
        # Each placeholder shows an explanation from the template.
        body = _BLANK.sub(lambda found: blank(found[0]), BODIES[kind])
        text = "\n".join(["---", *fields, "---", "", body]).removesuffix(end)
        form = types.InsertTextFormat.Snippet if snippets else types.InsertTextFormat.PlainText
        shown, detail = types.CompletionItemKind.Snippet, f"a new {kind}"
        yield _item(line, kind.value, text, shown, detail=detail, insert_text_format=form)


def _keys(document: Document, offset: int) -> Iterator[types.CompletionItem]:
    """Yield the keys that the file lacks: first required keys, then those of the entry's type, then the rest."""
    text, token = document.text, document.parsed.token_at(offset)
    start = text.rfind("\n", 0, offset) + 1
    start += len(text[start:offset]) - len(text[start:offset].lstrip())
    replaced = token if token is not None and token.kind is TokenKind.KEY else None
    where = document.range_of_token(replaced or _word_around(document, start, offset))
    present = {field.key.text: "".join(item.text for item in field.items) for field in document.parsed.fields}
    is_entry = is_entry_place(document.path or "")
    type_, holders = present.get("type", ""), (present.get("type", ""), present.get("label", ""))
    possible = KNOWN_FIELDS if is_entry else WING_FIELDS
    missing = [field for field in FIELDS if field.name in possible and field.name not in present]
    if is_entry and type_ in list(EntryType):
        missing = [one for one in missing if one.holder is Holder.ENTRY or one.holder.value in holders]
    for field in sorted(missing, key=lambda one: (not one.required, one.holder.value not in holders)):
        new = field.name if replaced else f"{field.name}: "
        yield _item(where, field.name, new, types.CompletionItemKind.Field, detail=field.meaning)


def _values(document: Document, name: str) -> Iterable[str]:
    """Return the possible values of a field, as they are written in YAML."""
    kind, memory = _KINDS.get(name), document.memory
    if kind in _ENUMS:
        return [member.value for member in _ENUMS[kind]]
    if kind is Kind.MOMENT:
        return [(memory.today() + timedelta(_DAYS_TO_EXPIRY if name == "expires_at" else 0)).isoformat()]
    if kind is Kind.WINGS:
        return [one.name for one in memory.catalog.wings.values() if one.is_shared and one.name != document.wing]
    if kind is Kind.PAIRS:
        return [f"{check.code}: " for check in get_checks().values() if check.is_excusable]
    name = "owner" if name == "owners" else name
    if name not in _SHARED_FIELDS:
        return ()
    # First the owners of the wing, then the values in other entries, frequent ones first.
    counted = Counter[str]()
    for address, entry in memory.catalog.entries.items():
        value = getattr(entry, name) if address != document.address else None
        counted.update((value,) if isinstance(value, str) else value or ())
    wing = memory.catalog.wings.get(document.wing or "")
    owners = wing.owners if wing is not None and name == "owner" else ()
    used = sorted(counted, key=lambda text: (-counted[text], text))
    return [scalar(text) for text in dict.fromkeys((*owners, *used)) if text.isprintable()][:_MAX_ITEMS]


def _addresses(document: Document, slot: Token) -> Iterator[types.CompletionItem]:
    """Yield the addresses whose address or title contains the typed text, from the wings that the file's wing reads.

    Current entries come first, then drafts, then others. Within each group, addresses that begin with the typed text
    come first, then those in the same wing and room.
    """
    typed, memory = slot.text.casefold(), document.memory
    entries, lineage = memory.catalog.entries, memory.catalog.lineage
    wings = tuple(f"{name}/" for name in (document.wing, *shared_of(memory.catalog.wings, document.wing or "")))
    room = f"{document.source.rpartition('/')[0]}/"
    field = document.parsed.field_at(slot.start) if slot.key else None
    items = field.items if field is not None else ()
    named = {document.address, *(one.text for one in items if not one.start <= slot.start <= one.end)}

    def rank(address: str) -> tuple[object, ...]:
        begins = address.startswith(typed) or address.rpartition("/")[2].startswith(typed)
        order = (not lineage.is_current(address), entries[address].status is not Status.DRAFT, not begins)
        return *order, not address.startswith(wings[0]), not address.startswith(room), address

    matching = [
        one
        for one in entries
        if one.startswith(wings) and one not in named and (typed in one or typed in entries[one].title.casefold())
    ]
    where, kind = document.range_of_token(slot), types.CompletionItemKind.Reference
    for one in nsmallest(_MAX_ITEMS, matching, key=rank):
        state, entry = state_in(memory, one), entries[one]
        # Editors compare the beginning of the filter text, so start it where the typed text was found.
        searched = one if typed in one else entry.title.casefold()
        begun = searched[searched.find(typed) :]
        detail = " · ".join((entry.type.value, plain_line(entry.title), *(() if state == "current" else (state,))))
        tags = [types.CompletionItemTag.Deprecated] if state.is_ended else None
        yield _item(where, one, one, kind, detail=detail, filter_text=begun, tags=tags)
