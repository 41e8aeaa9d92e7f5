"""Where what is named stands: the entry, the head of its chain, a wing's manifest, a file of code."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from mdmem.lsp.buffer import Buffer
from mdmem.lsp.place import START, EditorPage, is_here, location_of
from mdmem.lsp.session import EditorSession
from mdmem.lsp.spots import Spot, SpotKind
from mdmem.store.settings.model import line_of
from mdmem.store.tree import SETTINGS_NAME


def definition(session: EditorSession, buffer: Buffer, params: types.DefinitionParams) -> list[types.Location]:
    """Return where the entry, the wing or the file of code stands that is named at a place."""
    page = EditorPage(session, buffer)
    spot = page.spot(params.position)
    return list(_places(page, spot)) if spot is not None else []


def implementation(session: EditorSession, buffer: Buffer, params: types.ImplementationParams) -> list[types.Location]:
    """Return the heads of the entry that is named at a place, else of the one that the file is."""
    address = EditorPage(session, buffer).pointed(params.position)
    heads = session.catalog.lineage.heads(address) if address is not None else ()
    return [location_of(session, f"{head}.md") for head in heads if is_here(session, head)]


def links(session: EditorSession, buffer: Buffer, _: types.DocumentLinkParams) -> list[types.DocumentLink]:
    """Return everything in a text that leads to a file."""
    page = EditorPage(session, buffer)
    found = ((spot, next(_places(page, spot), None)) for spot in page.parts.spots)
    return [types.DocumentLink(page.range_of(spot), place.uri) for spot, place in found if place is not None]


def _places(page: EditorPage, spot: Spot) -> Iterator[types.Location]:
    session = page.session
    if spot.kind is SpotKind.ADDRESS:
        address = page.meant(spot) or spot.text
        # One that cannot be read is there, too.
        if is_here(session, address) or f"{address}.md" in session.catalog.broken:
            yield location_of(session, f"{address}.md")
    elif spot.kind is SpotKind.WING:
        yield from _wing(session, spot.text)
    elif spot.kind is SpotKind.GLOB and spot.text in session.tracked_files:
        yield types.Location(session.uri_of_code(spot.text), START)


def _wing(session: EditorSession, name: str) -> Iterator[types.Location]:
    wing = session.catalog.wings.get(name)
    if wing is not None and wing.has_manifest:
        yield location_of(session, f"{name}/README.md")
    if name in session.settings.wings:
        line = line_of(f"wings.{name}", session.settings.source or b"", "") - 1
        at = types.Position(line, 0)
        yield types.Location(session.uri_of(SETTINGS_NAME), types.Range(at, at))
