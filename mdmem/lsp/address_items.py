"""The addresses that may be written at a place: in the wings that are read there; what ended comes last."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from mdmem.entry.model import Entry
from mdmem.lsp.place import EditorPage
from mdmem.lsp.spots import Spot
from mdmem.lsp.texts import plain_line
from mdmem.render.lineage_graph import BoxState, state_of
from mdmem.workspace.wings import shared_of

_MOST = 100
_RANKS = {BoxState.CURRENT: 0, BoxState.REVIEWED: 0, BoxState.DRAFT: 1, BoxState.ENDED: 2}


def address_items(page: EditorPage, slot: Spot) -> tuple[list[types.CompletionItem], bool]:
    """Return the addresses that hold what is typed, or whose titles do, and whether there are more."""
    typed = slot.text.casefold()
    catalog = page.session.catalog
    held = [entry for entry in _readable(page, slot) if _holds(entry, typed)]
    ranked = sorted(held, key=lambda entry: _rank(page, entry, typed))
    items = [_item(page, slot, entry, number) for number, entry in enumerate(ranked[:_MOST])]
    return items, len(ranked) > _MOST or len(catalog.entries) > _MOST


def _readable(page: EditorPage, slot: Spot) -> Iterator[Entry]:
    """Yield the entries of the wings that the file's reads, but itself and what its field names already."""
    catalog = page.session.catalog
    wings = {page.wing, *shared_of(catalog.wings, page.wing or "")}
    field = page.parts.field_at(slot.start) if slot.key else None
    named = {one.text for one in (field.items if field is not None else ()) if not one.start <= slot.start <= one.end}
    for address, entry in catalog.entries.items():
        if entry.wing in wings and address != page.address and address not in named:
            yield entry


def _holds(entry: Entry, typed: str) -> bool:
    return typed in entry.address or typed in entry.title.casefold()


def _rank(page: EditorPage, entry: Entry, typed: str) -> tuple[int, bool, bool, bool, str]:
    here = page.near.rpartition("/")[0]
    begins = entry.address.startswith(typed) or entry.address.rpartition("/")[2].startswith(typed)
    state = _RANKS[state_of(page.session.catalog, entry.address)]
    is_here = entry.address.startswith(f"{here}/")
    return state, not begins, entry.wing != page.wing, not is_here, entry.address


def _item(page: EditorPage, slot: Spot, entry: Entry, number: int) -> types.CompletionItem:
    catalog = page.session.catalog
    state = state_of(catalog, entry.address)
    is_ended = state is BoxState.ENDED
    heads = ", ".join(catalog.lineage.heads(entry.address))
    told = f"ended → {heads}" if is_ended and heads else "" if state is BoxState.CURRENT else state.value
    return types.CompletionItem(
        label=entry.address,
        kind=types.CompletionItemKind.Reference,
        detail=" · ".join(filter(None, (entry.type.value, plain_line(entry.title), told))),
        tags=[types.CompletionItemTag.Deprecated] if is_ended else None,
        sort_text=f"{number:04}",
        # What is typed may be of the title.
        filter_text=f"{slot.text} {entry.address}",
        text_edit=types.TextEdit(page.range_of(slot), entry.address),
        data={"uri": page.buffer.uri, "address": entry.address},
    )
