"""What may be written at a place: whole entries, keys, values, addresses, and paths of the code.

The paths of the code that a glob may name, one folder further than is typed, each with the number of its files.

The addresses that may be written at a place: in the wings that are read there; what ended comes last.

Whole entries for a new file: what its room holds first, each with the places to be filled in.

The values that a field may have, the likeliest first: closed sets, days, and what others of the wing state.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import timedelta
from functools import lru_cache
from heapq import nsmallest

from lsprotocol import types
from msgspec import Struct

from mdmem.checks.engine import first_sentences
from mdmem.lsp.buffer import Buffer
from mdmem.lsp.globs import files_met
from mdmem.lsp.place import EditorPage
from mdmem.lsp.roots import Roots
from mdmem.lsp.session import EditorSession
from mdmem.lsp.spots import Spot, SpotKind
from mdmem.lsp.texts import entry_lines, plain_line, shown
from mdmem.markdown.fields import scalar
from mdmem.model.entry import Entry, EntryType, Status, WingKind, title_of
from mdmem.model.fields import FIELDS, KNOWN_FIELDS, WING_FIELDS
from mdmem.model.kinds import Field, Holder, Kind
from mdmem.model.templates import BODIES
from mdmem.render.lineage_graph import BoxState, state_of
from mdmem.store.catalog.addresses import is_entry_place
from mdmem.store.workspace.scope import shared_of

_MEANINGS = {
    EntryType.INVARIANT: "holds always, whatever is asked",
    EntryType.DECISION: "was decided, and binds until it is superseded",
    EntryType.PATTERN: "how something is done here",
    EntryType.NOTE: "a fact, and where it was learned",
    Status.DRAFT: "binds nobody yet",
    Status.ACTIVE: "in force",
    Status.UNDER_REVIEW: "in force, and in doubt",
    Status.DEPRECATED: "has ended",
}
# What lies ahead in the one field that names a day to come.
_AHEAD = (90, 180, 365)
_MOST_VALUES = 100
_SETS = {Kind.TYPE: EntryType, Kind.STATUS: Status, Kind.WING_KIND: WingKind}
# The fields whose values others share; prose is each entry's own.
_SHARED = frozenset({"label", "owner", "topic", "focus", "agent", "approved_by", "tags"})


def values_of(page: EditorPage, name: str) -> Iterator[tuple[str, str]]:
    """Yield the values that a field may have, as they are written, each with what it means."""
    kind = next((field.kind for field in FIELDS if field.name == name), None)
    if kind in _SETS:
        yield from ((member.value, _MEANINGS.get(member, "")) for member in _SETS[kind])
    elif kind is Kind.MOMENT:
        yield from _days(page, name)
    elif kind is Kind.NAMES:
        wings = page.session.catalog.wings.values()
        yield from ((wing.name, "shared wing") for wing in wings if wing.is_shared and wing.name != page.wing)
    elif kind is Kind.PAIRS:
        yield from ((f"{code}: ", told) for code, told in first_sentences().items())
    elif name == "owners":
        yield from _stated(page, "owner")
    elif name in _SHARED:
        yield from _stated(page, name)


def _days(page: EditorPage, name: str) -> Iterator[tuple[str, str]]:
    today = page.session.today()
    if name == "expires_at":
        yield from (((today + timedelta(days)).isoformat(), f"in {days} days") for days in _AHEAD)
    else:
        yield today.isoformat(), "today"


def _stated(page: EditorPage, name: str) -> Iterator[tuple[str, str]]:
    """Yield what the entries of the wing state, the most frequent first, then what those of other wings do."""
    catalog, wing_path, itself = page.session.catalog, f"{page.wing}/", page.address
    others = {address: getattr(entry, name) for address, entry in catalog.entries.items() if address != itself}
    here = Counter(_texts(value for address, value in others.items() if address.startswith(wing_path)))
    everywhere = Counter(_texts(others.values()))
    wing = catalog.wings.get(page.wing or "")
    owners = wing.owners if wing is not None and name == "owner" else ()
    known = dict.fromkeys((*owners, *_by_number(here), *_by_number(everywhere)))
    for text in list(known)[:_MOST_VALUES]:
        if text.isprintable():
            yield scalar(text), "owner of the wing" if text in owners else ""


def _by_number(counted: Counter[str]) -> list[str]:
    return sorted(counted, key=lambda text: (-counted[text], text))


def _texts(values: Iterable[str | tuple[str, ...] | None]) -> Iterator[str]:
    for value in values:
        if isinstance(value, str):
            yield value
        elif value:
            yield from value


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


_MOST_ADDRESS_ITEMS = 100


def address_items(page: EditorPage, slot: Spot) -> list[types.CompletionItem]:
    """Return the addresses that hold what is typed, or whose titles do; with the next letter others may."""
    typed, entries = slot.text.casefold(), page.session.catalog.entries
    held = [
        address for address in _readable(page, slot) if typed in address or typed in entries[address].title.casefold()
    ]
    ranked = nsmallest(_MOST_ADDRESS_ITEMS, held, key=_order(page, typed))
    return [_item_address_items(page, slot, entries[address], number) for number, address in enumerate(ranked)]


def _readable(page: EditorPage, slot: Spot) -> Iterator[str]:
    """Yield the entries of the wings that the file's reads, but itself and what its field names already."""
    catalog = page.session.catalog
    wings = tuple(f"{name}/" for name in (page.wing, *shared_of(catalog.wings, page.wing or "")))
    field = page.parts.field_at(slot.start) if slot.key else None
    items = field.items if field is not None else ()
    named = {page.address, *(one.text for one in items if not one.start <= slot.start <= one.end)}
    return (address for address in catalog.entries if address.startswith(wings) and address not in named)


def _order(page: EditorPage, typed: str) -> Callable[[str], tuple[int, bool, bool, bool, str]]:
    """Return what orders addresses: what is in force, drafts, what ended; what begins as is typed; what is near."""
    entries, is_current = page.session.catalog.entries, page.session.catalog.lineage.is_current
    room, wing = f"{page.near.rpartition('/')[0]}/", f"{page.wing}/"

    def rank(address: str) -> tuple[int, bool, bool, bool, str]:
        begins = address.startswith(typed) or address.rpartition("/")[2].startswith(typed)
        state = 1 if entries[address].status is Status.DRAFT else 0 if is_current(address) else 2
        return state, not begins, not address.startswith(wing), not address.startswith(room), address

    return rank


def _item_address_items(page: EditorPage, slot: Spot, entry: Entry, number: int) -> types.CompletionItem:
    catalog = page.session.catalog
    state = state_of(catalog, entry.address, today=page.session.today())
    is_ended = state is BoxState.ENDED
    heads = ", ".join(catalog.lineage.heads(entry.address))
    told = f"ended → {heads}" if is_ended and heads else "" if state is BoxState.CURRENT else state.value
    return types.CompletionItem(
        label=entry.address,
        kind=types.CompletionItemKind.Reference,
        detail=" · ".join(filter(None, (entry.type.value, plain_line(entry.title), told))),
        tags=[types.CompletionItemTag.Deprecated] if is_ended else None,
        sort_text=f"{number:04}",
        filter_text=_from(slot.text.casefold(), entry),
        text_edit=types.TextEdit(page.range_of(slot), entry.address),
        data={"uri": page.buffer.uri, "address": entry.address},
    )


def _from(typed: str, entry: Entry) -> str:
    """Return an address or a title from where it says what is typed: editors filter by how a text begins."""
    said = entry.address if typed in entry.address else entry.title.casefold()
    return said[said.find(typed) :]


_MOST = 200


def code_path_items(page: EditorPage, slot: Spot) -> tuple[list[types.CompletionItem], bool]:
    """Return the folders, as globs, and the files that begin with what is typed; more come with the next slash."""
    typed = slot.text
    above = typed.rpartition("/")[0]
    found = [
        (f"{path}/**" if count else path, count or 1)
        for path, count in _below(page.session.tracked_files, f"{above}/" if above else "")
        if path.startswith(typed) or path.rpartition("/")[2].startswith(typed.rpartition("/")[2])
    ]
    if any(sign in typed for sign in "*?["):
        found.insert(0, (typed, len(files_met(page.session, typed))))
    return [_item(page, slot, glob, count, number) for number, (glob, count) in enumerate(found[:_MOST])], True


# The set keeps its hash, and another look at the disk makes another set.
@lru_cache(maxsize=64)
def _below(tracked: frozenset[str], prefix: str) -> tuple[tuple[str, int], ...]:
    """Return what lies directly below a folder: folders with the number of their files, then files with none."""
    folders: Counter[str] = Counter()
    files = []
    for path in tracked:
        if path.startswith(prefix):
            first, slash, _ = path[len(prefix) :].partition("/")
            if slash:
                folders[prefix + first] += 1
            else:
                files.append(path)
    return (*sorted(folders.items()), *((path, 0) for path in sorted(files)))


def _item(page: EditorPage, slot: Spot, glob: str, count: int, number: int) -> types.CompletionItem:
    # A glob that begins with a star is an alias to YAML unless it stands in quotes.
    text = page.buffer.text
    is_quoted = text[slot.start - 1 : slot.start] in ('"', "'")
    is_folder = glob.endswith("/**")
    return types.CompletionItem(
        label=glob,
        kind=types.CompletionItemKind.Folder if is_folder else types.CompletionItemKind.File,
        detail="1 file" if count == 1 else f"{count} files",
        sort_text=f"{number:04}",
        filter_text=glob,
        text_edit=types.TextEdit(page.range_of(slot), glob if is_quoted else f'"{glob}"'),
    )


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
