"""The addresses that may be written at a place: in the wings that are read there; what ended comes last."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import nsmallest

from lsprotocol import types

from mdmem.lsp.place import EditorPage
from mdmem.lsp.spots import Spot
from mdmem.lsp.texts import plain_line
from mdmem.model.entry import Entry, Status
from mdmem.render.lineage_graph import BoxState, state_of
from mdmem.store.workspace.scope import shared_of

_MOST = 100


def address_items(page: EditorPage, slot: Spot) -> list[types.CompletionItem]:
    """Return the addresses that hold what is typed, or whose titles do; with the next letter others may."""
    typed, entries = slot.text.casefold(), page.session.catalog.entries
    held = [
        address for address in _readable(page, slot) if typed in address or typed in entries[address].title.casefold()
    ]
    ranked = nsmallest(_MOST, held, key=_order(page, typed))
    return [_item(page, slot, entries[address], number) for number, address in enumerate(ranked)]


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


def _item(page: EditorPage, slot: Spot, entry: Entry, number: int) -> types.CompletionItem:
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
