"""Navigation in the editor: definitions, implementations, links, references and symbols."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from lsprotocol import types

from mdmem.lsp.memory import START, Document, Memories, OpenMemory
from mdmem.lsp.show import is_ended, plain_line
from mdmem.lsp.tokens import Token, TokenKind
from mdmem.markdown.parse import without_fenced
from mdmem.model.entry import EntryType

_SYMBOLS: Mapping[EntryType, types.SymbolKind] = {
    EntryType.INVARIANT: types.SymbolKind.Constant,
    EntryType.DECISION: types.SymbolKind.Interface,
    EntryType.PATTERN: types.SymbolKind.Method,
    EntryType.NOTE: types.SymbolKind.String,
}
_MOST_SYMBOLS = 200
_HEADING = re.compile(r"^#{1,6}[ \t]+([^\r\n]*\S)", re.MULTILINE)


def definition(document: Document, params: types.DefinitionParams) -> list[types.Location]:
    """Return the file of the entry, wing or code whose name is at a position."""
    token = document.token_at(params.position)
    return [*_targets(document, token)] if token is not None else []


def implementation(document: Document, params: types.ImplementationParams) -> list[types.Location]:
    """Return the current end of the chain of the entry at a position; several ends if the chain was split."""
    memory, address = document.memory, document.address_at(params.position)
    heads = memory.catalog.lineage.heads(address) if address is not None else ()
    return [memory.location_of(head) for head in heads if memory.has_file(head)]


def links(document: Document, _: types.DocumentLinkParams) -> list[types.DocumentLink]:
    """Return the links in a document that lead to existing files."""
    found = ((token, next(_targets(document, token), None)) for token in document.parsed.tokens)
    return [
        types.DocumentLink(document.range_of_token(token), target=where.uri)
        for token, where in found
        if where is not None
    ]


def _targets(document: Document, token: Token) -> Iterator[types.Location]:
    memory = document.memory
    if token.kind is TokenKind.ADDRESS:
        address = document.resolve(token) or token.text
        if memory.has_file(address) or f"{address}.md" in memory.catalog.broken:
            yield memory.location_of(address)
    elif token.kind is TokenKind.WING:
        wing = memory.catalog.wings.get(token.text)
        if wing is not None and wing.has_manifest:
            yield types.Location(memory.uri_of(f"{wing.name}/README.md"), START)
    elif token.kind is TokenKind.GLOB and token.text in memory.tracked_files:
        yield types.Location(memory.uri_of_code(token.text), START)


def references(document: Document, params: types.ReferenceParams) -> list[types.Location]:
    """Return every place in the memory that mentions the entry at a position."""
    memory, address = document.memory, document.address_at(params.position)
    if address is None:
        return []
    found = [memory.location_of(address)] if params.context.include_declaration else []
    for one in memory.linked_from(address):
        other = memory.document(f"{one}.md")
        tokens = other.parsed.addresses if other is not None else ()
        found += [
            types.Location(other.uri, other.range_of_token(token))
            for token in tokens
            if other is not None and other.resolve(token) == address
        ]
    return found


def document_symbols(document: Document, _: types.DocumentSymbolParams) -> list[types.DocumentSymbol] | None:
    """Return the outline of an entry: its fields with their values, and its headings."""
    if document.is_code:
        return None
    parts = [*_field_symbols(document), *_heading_symbols(document)]
    entry = document.entry
    if entry is None:
        return parts
    whole = document.range_of(0, len(document.text))
    name, tags = plain_line(entry.title), _tags(document.memory, entry.address)
    first = types.Range(whole.start, whole.start)
    return [types.DocumentSymbol(name, _SYMBOLS[entry.type], whole, first, entry.type.value, tags, children=parts)]


def _field_symbols(document: Document) -> Iterator[types.DocumentSymbol]:
    for field in document.parsed.fields:
        end = field.start + len(document.text[field.start : field.end].rstrip())
        where = document.range_of(field.start, end)
        values = plain_line(", ".join(item.text for item in field.items))
        name = document.range_of_token(field.key)
        yield types.DocumentSymbol(field.key.text, types.SymbolKind.Field, where, name, values)


def _heading_symbols(document: Document) -> Iterator[types.DocumentSymbol]:
    body = document.parsed.body
    for heading in _HEADING.finditer(without_fenced(document.text[body:])):
        line = document.range_of(body + heading.start(), body + heading.end())
        yield types.DocumentSymbol(plain_line(heading[1].rstrip("#").strip()), types.SymbolKind.String, line, line)


def workspace_symbols(memories: Memories, params: types.WorkspaceSymbolParams) -> list[types.WorkspaceSymbol]:
    """Return the entries whose title or address contains every word, superseded and deprecated ones last."""
    words = params.query.casefold().split()
    found: list[types.WorkspaceSymbol] = []
    ended: list[types.WorkspaceSymbol] = []
    for memory in memories.all_known():
        for address, entry in memory.catalog.entries.items():
            searched = f"{address} {entry.title}".casefold()
            if all(word in searched for word in words) and memory.has_file(address):
                tags = _tags(memory, address)
                symbol = types.WorkspaceSymbol(
                    location=memory.location_of(address),
                    name=plain_line(entry.title),
                    kind=_SYMBOLS[entry.type],
                    tags=tags,
                    container_name=address,
                )
                (ended if tags else found).append(symbol)
                if len(found) == _MOST_SYMBOLS:
                    return found
    return [*found, *ended][:_MOST_SYMBOLS]


def _tags(memory: OpenMemory, address: str) -> list[types.SymbolTag] | None:
    # Editors show a deprecated symbol struck through.
    return [types.SymbolTag.Deprecated] if is_ended(memory, address) else None
