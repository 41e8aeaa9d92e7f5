"""Entries and their parts as symbols: the outline of a file, and every entry of the memories by title or address."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from lsprotocol import types

from mdmem.lsp.buffer import Buffer
from mdmem.lsp.place import EditorPage, is_here, location_of
from mdmem.lsp.roots import Roots
from mdmem.lsp.session import EditorSession
from mdmem.lsp.texts import plain_line
from mdmem.markdown.parse import without_fenced
from mdmem.model.entry import EntryType
from mdmem.render.lineage_graph import BoxState, state_of

KINDS: Mapping[EntryType, types.SymbolKind] = {
    EntryType.INVARIANT: types.SymbolKind.Constant,
    EntryType.DECISION: types.SymbolKind.Interface,
    EntryType.PATTERN: types.SymbolKind.Method,
    EntryType.NOTE: types.SymbolKind.String,
}
_MOST = 200
_HEADING = re.compile(r"^(#{1,6})[ \t]+([^\r\n]*\S)", re.MULTILINE)


def tags_of(session: EditorSession, address: str) -> list[types.SymbolTag] | None:
    """Return the mark of what has ended, for the editor to strike it through."""
    return [types.SymbolTag.Deprecated] if _has_ended(session, address) else None


def _has_ended(session: EditorSession, address: str) -> bool:
    return state_of(session.catalog, address, today=session.today()) is BoxState.ENDED


def document_symbols(
    session: EditorSession, buffer: Buffer, _: types.DocumentSymbolParams
) -> list[types.DocumentSymbol] | None:
    """Return the outline of an entry: its fields with their values, and its headings."""
    page = EditorPage(session, buffer)
    if page.is_code:
        return None
    parts = [*_fields(page), *_headings(page)]
    entry = page.entry
    if entry is None:
        return parts
    whole = buffer.range_of(0, len(buffer.text))
    tags = tags_of(session, entry.address)
    first = types.Range(whole.start, whole.start)
    name = plain_line(entry.title)
    return [types.DocumentSymbol(name, KINDS[entry.type], whole, first, entry.type.value, tags, children=parts)]


def _fields(page: EditorPage) -> Iterator[types.DocumentSymbol]:
    text = page.buffer.text
    for field in page.parts.fields:
        where = page.buffer.range_of(field.start, field.start + len(text[field.start : field.end].rstrip()))
        said = plain_line(", ".join(item.text for item in field.items))
        yield types.DocumentSymbol(field.key.text, types.SymbolKind.Field, where, page.range_of(field.key), said)


def _headings(page: EditorPage) -> Iterator[types.DocumentSymbol]:
    for start, end, title in sections_in(page):
        line = types.Range(page.buffer.position_at(start), page.buffer.position_at(start))
        yield types.DocumentSymbol(plain_line(title), types.SymbolKind.String, page.buffer.range_of(start, end), line)


def sections_in(page: EditorPage) -> Iterator[tuple[int, int, str]]:
    """Yield where each section of the body starts and ends, and its heading; one ends where its like begins."""
    text, body = page.buffer.text, page.parts.body
    found, next_of, ends = list(_HEADING.finditer(without_fenced(text[body:]))), [len(text) - body] * 7, []
    for heading in reversed(found):
        level = len(heading[1])
        ends.append(min(next_of[: level + 1]))
        next_of[level] = heading.start()
    for heading, after in zip(found, reversed(ends), strict=True):
        start, end = body + heading.start(), body + after
        yield start, start + len(text[start:end].rstrip()), heading[2].rstrip("#").strip()


def workspace_symbols(roots: Roots, params: types.WorkspaceSymbolParams) -> list[types.WorkspaceSymbol]:
    """Return the entries whose title or address holds every word that is asked for, those in force first."""
    words = params.query.casefold().split()
    found: list[types.WorkspaceSymbol] = []
    ended: list[tuple[EditorSession, str]] = []
    for session in roots.all_known():
        for address in _holding(session, words):
            if len(found) == _MOST:
                return found
            if _has_ended(session, address):
                ended.append((session, address))
            else:
                found.append(_symbol(session, address))
    return [*found, *(_symbol(*one) for one in ended[: _MOST - len(found)])]


def _holding(session: EditorSession, words: list[str]) -> Iterator[str]:
    for address, entry in session.catalog.entries.items():
        said = f"{address} {entry.title}".casefold()
        if all(word in said for word in words) and is_here(session, address):
            yield address


def _symbol(session: EditorSession, address: str) -> types.WorkspaceSymbol:
    entry = session.catalog.entries[address]
    return types.WorkspaceSymbol(
        location=location_of(session, entry.path),
        name=plain_line(entry.title),
        kind=KINDS[entry.type],
        tags=tags_of(session, address),
        container_name=address,
    )
