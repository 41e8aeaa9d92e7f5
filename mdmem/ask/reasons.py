"""Give the items of a selection their relations to other entries, and the reasons that brought them in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from mdmem.ask.answer import RELATIONS, Item, replaced_notes
from mdmem.ask.code_paths import few_of
from mdmem.ask.relate import doubts_of, relations_of
from mdmem.ask.select import Selection
from mdmem.model.entry import Status
from mdmem.model.globs import all_matches
from mdmem.store.workspace.proposals import effects_of


def related(selection: Selection, item: Item) -> Item:
    """Return an item with its relations to other entries and the reasons that brought it in."""
    found = relations_of(selection.catalog, item.entry, selection.scope)
    heads = selection.catalog.lineage.heads(item.address)
    return replace(item, heads=heads, reasons=tuple(_reasons(selection, item, found)), **found)


def _reasons(selection: Selection, item: Item, relations: dict[str, Any]) -> Iterator[str]:
    found = [*_matches(selection, item), *replaced_notes(item.via), *selection.overrides.notes_on(item.entry)]
    found += [f"overridden here by {by}" for by in item.overridden_by]
    if not found and not selection.question.is_open:
        named = [name for name in ("claims", "amends") if relations[name]]
        found = [f"{RELATIONS[name]} {', '.join(relations[name])}" for name in named]
    yield from (*found, *_doubts(selection, item))


def _matches(selection: Selection, item: Item) -> Iterator[str]:
    """Yield the words and paths of the question that an item matches."""
    entry, paths = item.entry, selection.question.paths
    if item.unconditional:
        yield "invariant of the scope"
    match = selection.matches.get(entry.address)
    if match is not None and selection.answer is not None:
        typed = selection.typed(term for term in selection.answer.terms if term in match.terms)
        yield f"holds {', '.join(typed)}" if typed else "matches the query"
    met = list(all_matches(entry.applies_to, paths)) if entry.applies_to else []
    named = selection.naming.get(entry.address, ())
    if met:
        yield f"applies to {few_of(met, paths)}"
    elif named:
        yield f"names {few_of(named, paths)}"


def _doubts(selection: Selection, item: Item) -> Iterator[str]:
    catalog, entry = selection.catalog, item.entry
    yield from doubts_of(catalog, entry, item.status)
    note = item.stance.note if item.stance is not None else ""
    if entry.status is Status.DRAFT:
        yield "a draft: merged, not approved" if catalog.is_merged(entry.address) else "a draft: proposed, not binding"
        note = note or "; ".join(effects_of(entry))
    is_replaced = entry.is_in_force and not catalog.lineage.is_current(entry.address)
    if is_replaced or entry.status is Status.DEPRECATED:
        heads = catalog.lineage.heads(entry.address)
        why = f"ended: {entry.why_ended}" if entry.why_ended else "ended, no reason given"
        yield f"ended: replaced by {', '.join(heads)}" if heads else why
    if note:
        yield note
