"""Words behind what a text names: where a link to what ended leads now, what is a draft, what a glob meets."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from mdmem.lsp.buffer import Buffer
from mdmem.lsp.globs import files_met
from mdmem.lsp.place import EditorPage
from mdmem.lsp.session import EditorSession
from mdmem.lsp.spots import Spot, SpotKind
from mdmem.render.lineage_graph import BoxState, state_of


def hints(session: EditorSession, buffer: Buffer, params: types.InlayHintParams) -> list[types.InlayHint]:
    """Return the words behind the links and globs of a part of a text."""
    page = EditorPage(session, buffer)
    first, last = buffer.offset_at(params.range.start), buffer.offset_at(params.range.end)
    spots = (spot for spot in page.parts.spots if first <= spot.end <= last)
    said = ((spot, word) for spot in spots for word in _words(page, spot))
    return [_hint(page, spot, word) for spot, word in said]


def _hint(page: EditorPage, spot: Spot, word: str) -> types.InlayHint:
    # Behind the quote that closes what is quoted.
    end = spot.end + (page.buffer.text[spot.end : spot.end + 1] in ("'", '"'))
    return types.InlayHint(page.buffer.position_at(end), word, padding_left=True)


def _words(page: EditorPage, spot: Spot) -> Iterator[str]:
    if spot.kind is SpotKind.GLOB:
        count = len(files_met(page.session, spot.text))
        yield "1 file" if count == 1 else f"{count} files"
    address = page.meant(spot)
    if address is None or spot.key == "supersedes":
        return
    catalog = page.session.catalog
    state = state_of(catalog, address, today=page.session.today())
    if state is BoxState.ENDED:
        heads = [head.removeprefix(f"{page.wing}/") for head in catalog.lineage.heads(address)]
        yield f"→ {', '.join(heads)}" if heads else "ended"
    elif state is BoxState.DRAFT:
        yield "draft"
