"""Answers that only show: hover texts, code lenses, definitions and references.

An editor that shows Markdown gets texts from entries in a fenced code block, so that it treats nothing in them as
markup or a command.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice

from lsprotocol import types

from mdmem.ask.brief import plain, rules_for
from mdmem.ask.excerpt import summary_of
from mdmem.ask.retrieve import reading_of
from mdmem.checks.check import get_check
from mdmem.errors import MdmemError
from mdmem.lsp.memory import START, Document, OpenMemory
from mdmem.lsp.tokens import TokenKind
from mdmem.model.entry import Entry
from mdmem.model.fields import FIELDS
from mdmem.model.globs import all_matches
from mdmem.render.findings import explanation
from mdmem.render.lineage import BoxState, state_of
from mdmem.render.text import count, entries
from mdmem.store.workspace.workspace import Workspace

SHOW = "mdmem.show"
# The width of hover texts in characters, since editors do not wrap fenced text.
_WIDTH = 88
_LINE, _SUMMARY = 200, 600
_MAX_TARGETS = 20
_FIELDS = {field.name: field for field in FIELDS}


def plain_line(line: str) -> str:
    """Return a line that is safe in a fenced code block, without control characters; its indentation stays."""
    indent = line[: len(line) - len(line.lstrip(" "))]
    return f"{indent}{plain(line, _LINE)}"


def title_line(entry: Entry) -> str:
    """Return the type and title of an entry."""
    return f"{entry.type}: {plain(entry.title, _LINE)}"


def state_in(memory: OpenMemory, address: str) -> BoxState:
    """Return the state of an entry today."""
    return state_of(memory.catalog, address, today=memory.today())


def entry_lines(memory: OpenMemory, address: str) -> Iterator[str]:
    """Yield the hover text of an entry: type and state, title, address, chain with reasons, and summary."""
    entry = memory.catalog.entries[address]
    yield " · ".join(filter(None, (entry.type.value, state_in(memory, address), entry.owner)))
    yield entry.title
    yield address
    chain = memory.catalog.lineage.chain(address)
    if len(chain) > 1 or state_in(memory, address).is_ended:
        yield ""
        for one in chain:
            member, state = memory.catalog.entries[one], state_in(memory, one)
            end = member.why_ended if state.is_ended else None
            reason = member.reason if member.supersedes else end
            why = f": {plain(reason, _LINE)}" if reason else ""
            yield f"{'>' if one == address else ' '} {one} ({state}){why}"
    try:
        summary = plain(summary_of(entry, memory.catalog.body(address)), _SUMMARY)
    except MdmemError:
        # The file was deleted since the memory was loaded.
        return
    if summary:
        yield from ("", *textwrap.wrap(summary, _WIDTH, break_on_hyphens=False))


def rules_for_code(document: Document) -> tuple[Sequence[Entry], str]:
    """Return the rules for a saved code file, and a text with the number of rules that apply to all files, or ""."""
    if document.code_path is not None:
        with suppress(MdmemError):
            found = rules_for(reading_of(document.memory.disk), (document.code_path,))
            always = len(found.always) if found.rules else 0
            more = f"+{always} that {'apply' if always > 1 else 'applies'} everywhere" if always else ""
            return found.rules, more
    return (), ""


def hover(document: Document, params: types.HoverParams) -> types.Hover | None:
    """Return the hover text for the token at a position, or on line 1 of code for the rules of the file; else None."""
    memory, token, lines = document.memory, document.token_at(params.position), list[str]()
    where = document.range_of_token(token) if token is not None else None
    if token is None:
        rules, more = rules_for_code(document) if document.is_code and params.position.line == 0 else ((), "")
        lines = [*map(title_line, rules), *filter(None, [more])]
    elif token.kind is TokenKind.KEY and token.text in _FIELDS:
        field = _FIELDS[token.text]
        source = f"of {field.holder.words}; set by {field.set_by.replace('`', '')}"
        lines = [f"{field.name}: {field.meaning}", source, field.example]
    elif token.kind is TokenKind.CODE:
        # A code may be unknown.
        with suppress(MdmemError):
            lines = explanation(token.text, get_check(token.text)).splitlines()
    elif token.kind is TokenKind.ADDRESS:
        address, broken = document.resolve(token), memory.catalog.broken.get(f"{token.text}.md")
        if address is not None:
            lines = [*entry_lines(memory, address)]
        elif broken is not None:
            fault = broken.findings[0]
            lines = [f"{token.text} cannot be parsed", f"line {fault.place.line}: {fault.message}"]
    text = "\n".join(map(plain_line, lines))
    shown = types.MarkupContent(types.MarkupKind.PlainText, text)
    if memory.capabilities.markdown:
        shown = types.MarkupContent(types.MarkupKind.Markdown, f"```text\n{text}\n```")
    return types.Hover(shown, where) if text else None


def lenses(document: Document, _: types.CodeLensParams) -> list[types.CodeLens]:
    """Return the code lenses at the top of an entry, and at the top of code to which rules apply."""
    memory, entry, found = document.memory, document.entry, list[types.CodeLens]()

    def add(title: str, targets: Iterable[tuple[str, str]]) -> None:
        listed = [{"title": text, "uri": uri} for text, uri in islice(targets, _MAX_TARGETS)]
        found.append(types.CodeLens(START, types.Command(title, SHOW, arguments=[title, listed])))

    def files_of(addresses: Iterable[str]) -> Iterator[tuple[str, str]]:
        here = (address for address in addresses if memory.has_file(address))
        return ((title_line(memory.catalog.entries[one]), memory.uri_of(f"{one}.md")) for one in here)

    rules, more = rules_for_code(document) if document.is_code else ((), "")
    if rules:
        counts = Counter(rule.type.value for rule in rules)
        listed = ", ".join(count(number, kind) for kind, number in counts.items())
        applies = f"{listed} {'apply' if len(rules) > 1 else 'applies'} to this file"
        add(", ".join(filter(None, (applies, more))), files_of(rule.address for rule in rules))
    if document.is_code or entry is None:
        return found
    lineage, address = memory.catalog.lineage, entry.address
    heads = tuple(head for head in lineage.heads(address) if head != address)
    for story, others in (("superseded", heads), ("one-sided supersession", lineage.claimed_by(address))):
        if others:
            more = f" and {len(others) - 1} more" if len(others) > 1 else ""
            add(f"{story} by {others[0].removeprefix(f'{document.wing}/')}{more}", files_of(others))
    linking = memory.linked_from(entry.address)
    if linking:
        verb = "mentions" if len(linking) == 1 else "mention"
        add(f"{entries(len(linking))} {verb} this", files_of(linking))
    if entry.is_in_force and entry.applies_to:
        files = sorted(all_matches(entry.applies_to, memory.disk.once(Workspace.tracked_files)))
        base = memory.location.base
        add(f"applies to {count(len(files), 'file')}", ((path, (base / path).as_uri()) for path in files))
    return found


def definition(document: Document, params: types.DefinitionParams) -> types.Location | None:
    """Return the file of the entry that is mentioned at a position, or None."""
    memory, token = document.memory, document.token_at(params.position)
    if token is not None and token.kind is TokenKind.ADDRESS:
        address = document.resolve(token) or token.text
        if memory.has_file(address) or f"{address}.md" in memory.catalog.broken:
            return memory.location_of(address)
    return None


def implementation(document: Document, params: types.ImplementationParams) -> list[types.Location]:
    """Return the files of the current entries that end the chain of the entry at a position; empty if there is none."""
    memory, address = document.memory, document.address_at(params.position)
    heads = memory.catalog.lineage.heads(address) if address is not None else ()
    return [memory.location_of(head) for head in heads if memory.has_file(head)]


def references(document: Document, params: types.ReferenceParams) -> list[types.Location]:
    """Return every place in the memory that mentions the entry at a position."""
    memory, address = document.memory, document.address_at(params.position)
    if address is None:
        return []
    found = [memory.location_of(address)] if params.context.include_declaration else []
    for one in memory.linked_from(address):
        other = memory.document(f"{one}.md")
        if other is not None:
            tokens = (token for token in other.parsed.tokens if other.resolve(token) == address)
            found += [types.Location(other.uri, other.range_of_token(token)) for token in tokens]
    return found
