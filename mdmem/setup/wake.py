"""What an agent is told when its session, or its context, begins: what always holds, and what is going on."""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.ask.brief import Brief
from mdmem.ask.context.compile import compile_context
from mdmem.ask.context.pack import ContextPack, Item
from mdmem.ask.context.request import ContextRequest, Layer
from mdmem.ask.quotation import Quoted, fenced_lines
from mdmem.store.catalog import Catalog
from mdmem.store.workspace.proposals import view_of
from mdmem.store.workspace.workspace import Workspace

# In characters; clients cut what is longer than some 10,000.
LIMIT = 4000
_HEAD = "mdmem: what this repository's memory holds at the start of a session"
_LATER = "Rules on single files come when you edit one."


def wake(workspace: Workspace) -> Brief:
    """Return the pack for the start of a session, without the caller's own memory, a line an entry.

    Rules that hold for some files alone come with an edit of these. Raises what reading the memory raises.
    """
    pack = compile_context(workspace, ContextRequest(goal="", layer=Layer.WAKE, include_related=False), own=False)
    catalog = view_of(workspace).effective.catalog
    items = [item for item in _items(pack) if not _waits(catalog, item)]
    has_more = any(one.applies_to and one.type.is_rule for one in catalog.entries.values())
    notes = [*([_problems(pack)] if pack.basis.problems else []), *([_LATER] if has_more else [])]
    if not items and not pack.basis.problems:
        return Brief()
    text, shown = fenced_lines(_HEAD, [_quoted(one) for one in items], notes, limit=LIMIT, rest="mdmem context GOAL")
    return Brief(text, {one.id: catalog.digests.get(one.id, "") for one in items[:shown]})


def _items(pack: ContextPack) -> Iterator[Item]:
    return (item for section in pack.sections for item in section.items)


def _waits(catalog: Catalog, item: Item) -> bool:
    entry = catalog.entries.get(item.id)
    return entry is not None and entry.type.is_rule and bool(entry.applies_to)


def _problems(pack: ContextPack) -> str:
    number = len(pack.basis.problems)
    said = "1 file" if number == 1 else f"{number} files"
    return f"{said} of the memory cannot be read in full and may hold rules; `mdmem check` tells why."


def _quoted(item: Item) -> Quoted:
    mark = item.stance.mark if item.stance is not None else ""
    return Quoted(item.type, item.id, item.name, lambda: item.content, (mark,) if mark else ())
