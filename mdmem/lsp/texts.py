"""What the editor shows of entries: data in one fence, that no client takes for markup, a command or a link."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from datetime import date

from lsprotocol import types

from mdmem.ask.quotation import plain
from mdmem.errors import MdmemError
from mdmem.lsp.options import EditorSkills
from mdmem.markdown.text import summary_of
from mdmem.model.entry import Entry
from mdmem.render.lineage_graph import BoxState, state_of
from mdmem.store.catalog import Catalog

# In characters: what stands between fences is not wrapped by the editor.
_WIDTH = 88
_LINE, _SAID = 200, 600
_SHOWN_CHAIN = 8


def shown(skills: EditorSkills, *blocks: Iterable[str]) -> types.MarkupContent:
    """Return blocks of lines to be shown as they are: each in a fence, which nothing that they hold closes."""
    texts = ["\n".join(map(plain_line, block)) for block in blocks]
    if not skills.markdown:
        return types.MarkupContent(types.MarkupKind.PlainText, "\n\n".join(texts))
    return types.MarkupContent(types.MarkupKind.Markdown, "\n\n".join(f"```text\n{text}\n```" for text in texts))


def plain_line(line: str) -> str:
    """Return a line that closes no fence and no tag and holds nothing that acts; the blanks before it stay."""
    indent = line[: len(line) - len(line.lstrip(" "))]
    return f"{indent}{plain(line, _LINE)}"


def title_line(entry: Entry) -> str:
    """Return an entry in one line: its type and its title."""
    return f"{entry.type}: {plain(entry.title, _LINE)}"


def entry_lines(catalog: Catalog, address: str, today: date) -> Iterator[str]:
    """Yield what an entry is in a few lines: how it stands, its title, its chain with reasons, what it says."""
    entry = catalog.entries[address]
    yield " · ".join(filter(None, (entry.type.value, standing(catalog, address, today), entry.owner)))
    yield entry.title
    yield address
    chain = tuple(_chain(catalog, address, today))
    yield from ("", *chain) if chain else ()
    said = _said(catalog, entry)
    yield from ("", *said) if said else ()


def standing(catalog: Catalog, address: str, today: date) -> str:
    """Return how an entry stands on a day, in words."""
    state = state_of(catalog, address, today=today)
    return "replaced" if state is BoxState.ENDED and catalog.lineage.heads(address) else state.value


def _chain(catalog: Catalog, address: str, today: date) -> Iterator[str]:
    """Yield the entries of a chain, the oldest first, each with why it took over, or why it ended."""
    members = catalog.lineage.chain(address)
    if len(members) < 2 and state_of(catalog, address, today=today) is not BoxState.ENDED:
        return
    hidden = len(members) - _SHOWN_CHAIN
    if hidden > 0:
        yield f"  {hidden} older"
    for one in members[max(0, hidden) :]:
        entry = catalog.entries[one]
        state = state_of(catalog, one, today=today)
        why = entry.reason if entry.supersedes else entry.why_ended if state is BoxState.ENDED else None
        yield f"{'>' if one == address else ' '} {one} ({state.value}){f': {plain(why, _LINE)}' if why else ''}"


def _said(catalog: Catalog, entry: Entry) -> Sequence[str]:
    try:
        body = catalog.body(entry.address)
    except MdmemError:
        # It went away since it was listed.
        return ()
    return textwrap.wrap(plain(summary_of(entry, body), _SAID), _WIDTH, break_on_hyphens=False)
