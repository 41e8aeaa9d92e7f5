"""Every place that names an entry, in all files and in the one at hand."""

from __future__ import annotations

from lsprotocol import types

from mdmem.lsp.buffer import Buffer
from mdmem.lsp.place import EditorPage, location_of
from mdmem.lsp.session import EditorSession
from mdmem.lsp.spots import SpotKind


def references(session: EditorSession, buffer: Buffer, params: types.ReferenceParams) -> list[types.Location]:
    """Return the places that name the entry at a place, or the one that the file is, by address and offset."""
    address = EditorPage(session, buffer).pointed(params.position)
    if address is None:
        return []
    own = [location_of(session, f"{address}.md")] if params.context.include_declaration else []
    return [*own, *places_of(session, address)]


def places_of(session: EditorSession, address: str) -> list[types.Location]:
    """Return the places in the memory that name an entry."""
    found = []
    for one in session.naming(address):
        buffer = session.buffer_of(f"{one}.md")
        page = EditorPage(session, buffer) if buffer is not None else None
        found += [types.Location(page.buffer.uri, where) for where in _in(page, address)] if page is not None else []
    return found


def highlights(
    session: EditorSession, buffer: Buffer, params: types.DocumentHighlightParams
) -> list[types.DocumentHighlight]:
    """Return every place of a file that names the entry that is named at one place of it."""
    page = EditorPage(session, buffer)
    spot = page.spot(params.position)
    if spot is None or spot.kind is not SpotKind.ADDRESS:
        return []
    address = page.meant(spot)
    ranges = _in(page, address) if address is not None else [page.range_of(spot)]
    return [types.DocumentHighlight(where, types.DocumentHighlightKind.Text) for where in ranges]


def _in(page: EditorPage, address: str) -> list[types.Range]:
    return [page.range_of(spot) for spot in page.parts.addresses if page.meant(spot) == address]
