"""A lineage as a tree: above an entry what replaces or overrides it, below it what it replaces and overrides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from lsprotocol import types

from mdmem.lsp.buffer import Buffer
from mdmem.lsp.place import START, EditorPage, is_here
from mdmem.lsp.roots import Roots
from mdmem.lsp.session import EditorSession
from mdmem.lsp.symbols import KINDS, tags_of
from mdmem.lsp.texts import plain_line
from mdmem.model.entry import Status
from mdmem.render.lineage_graph import state_of


def prepare(
    session: EditorSession, buffer: Buffer, params: types.TypeHierarchyPrepareParams
) -> list[types.TypeHierarchyItem] | None:
    """Return the entry that is named at a place, or the one that the file is."""
    address = EditorPage(session, buffer).pointed(params.position)
    return [_item(session, address)] if address is not None and is_here(session, address) else None


def supertypes(roots: Roots, params: types.TypeHierarchySupertypesParams) -> list[types.TypeHierarchyItem]:
    """Return what replaces an entry, is said to or may do so, and what overrides it."""
    return list(_around(roots, params.item, _above))


def subtypes(roots: Roots, params: types.TypeHierarchySubtypesParams) -> list[types.TypeHierarchyItem]:
    """Return what an entry replaces, says to or may replace, and what it overrides."""
    return list(_around(roots, params.item, _below))


_Found = Callable[[EditorSession, str], Iterator[tuple[str, str]]]


def _around(roots: Roots, item: types.TypeHierarchyItem, found: _Found) -> Iterator[types.TypeHierarchyItem]:
    page = roots.page(item.uri)
    address = EditorPage(*page).address if page is not None else None
    if page is None or address is None:
        return
    session = page[0]
    said: dict[str, str] = {}
    for other, how in found(session, address):
        if is_here(session, other) and other != address:
            said.setdefault(other, how)
    yield from (_item(session, other, how) for other, how in said.items())


def _above(session: EditorSession, address: str) -> Iterator[tuple[str, str]]:
    lineage, entries = session.catalog.lineage, session.catalog.entries
    yield from _with(lineage.successors.get(address, ()), "replaced by")
    yield from _with(lineage.claimants_of(address), "claimed by")
    for other, name in session.fields_naming(address):
        if name == "supersedes" and entries[other].status is Status.DRAFT:
            yield other, "may be replaced by"
        elif name == "overrides":
            yield other, "overridden by"


def _below(session: EditorSession, address: str) -> Iterator[tuple[str, str]]:
    entry = session.catalog.entries.get(address)
    yield from _with(session.catalog.lineage.predecessors.get(address, ()), "replaces")
    if entry is not None:
        yield from _with(entry.supersedes, "may replace" if entry.status is Status.DRAFT else "claims to replace")
        yield from _with(entry.overrides, "overrides")


def _with(addresses: Iterable[str], how: str) -> Iterator[tuple[str, str]]:
    return ((address, how) for address in addresses)


def _item(session: EditorSession, address: str, how: str = "") -> types.TypeHierarchyItem:
    entry = session.catalog.entries[address]
    state = state_of(session.catalog, address, today=session.today()).value
    detail = ", ".join(filter(None, (how, state, address)))
    return types.TypeHierarchyItem(
        name=plain_line(entry.title),
        kind=KINDS[entry.type],
        uri=session.uri_of(entry.path),
        range=START,
        selection_range=START,
        tags=tags_of(session, address),
        detail=detail,
    )
