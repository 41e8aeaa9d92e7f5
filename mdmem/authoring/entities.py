"""Entities: named things, one entry each within a scope, with typed relations to what is there."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from mdmem.authoring.compose_record import (
    PROPERTIES,
    Frame,
    compose_record,
    relation_lines,
    relation_properties,
    with_properties,
)
from mdmem.authoring.intent import Intent
from mdmem.authoring.message import Deed, Verb
from mdmem.authoring.model import SaveResult, SaveStatus
from mdmem.authoring.placing import free_address, room_for
from mdmem.authoring.plan import Change, Plan
from mdmem.authoring.records import EntityRecord, MemoryScope, RelatedEntity
from mdmem.authoring.saving import CLAIM_NOTHING, Planned, Saving, Stopped
from mdmem.catalog import Catalog, full_address
from mdmem.dedup import Outcome
from mdmem.document.edits import UnpatchableError, apply_edits, replace_in_body, replace_span
from mdmem.document.layout import layout_of
from mdmem.document.parse import Document, parse_document
from mdmem.document.patch import set_fields, verify
from mdmem.entry.model import Entry, EntryType, Relation, Status
from mdmem.errors import NotFoundError

LABEL = "entity"


def plan_entity(saving: Saving, record: EntityRecord) -> Planned | Stopped:
    """Return what makes an entity, or brings the one of its name within the scope up to date.

    Raises NotFoundError for a relation to what is not there, naming the nearest.
    """
    known = _of_name(saving, record)
    related = [(one, _target(saving, record, one)) for one in record.related]
    properties = {f"{one.type} {to}": one.properties for one, to in related}
    relations = tuple(dict.fromkeys(Relation(one.type.value, to) for one, to in related))
    if known is None:
        return _new(saving, record, relations, properties)
    return _update(saving, record, known, relations, properties)


def _of_name(saving: Saving, record: EntityRecord) -> Entry | None:
    """Return the entity of a name in a wing and focus; of several the one in force, then the first by address."""
    focus = saving.focus if record.scope is not MemoryScope.GLOBAL else None
    found = [
        entry
        for entry in _entities(saving.catalog)
        if entry.wing == saving.target.wing and entry.focus == focus and _same_name(_name(entry), record.entity_name)
    ]
    return min(found, key=lambda entry: (not entry.is_in_force, entry.address), default=None)


def _entities(catalog: Catalog) -> Iterator[Entry]:
    for entry in catalog.entries.values():
        if entry.type is EntryType.NOTE and entry.label == LABEL and entry.status is not Status.DEPRECATED:
            yield entry


def _name(entry: Entry) -> str:
    return entry.entity or entry.title


def _same_name(one: str, other: str) -> bool:
    folded = (" ".join(unicodedata.normalize("NFKC", name).casefold().split()) for name in (one, other))
    return next(folded) == next(folded)


def _target(saving: Saving, record: EntityRecord, related: RelatedEntity) -> str:
    """Return the address that a relation leads to: an entry's address, full or short, or the name of an entity."""
    catalog, wing = saving.catalog, saving.target.wing
    near = f"{wing}/{room_for(saving.settings, record.kind, saving.room)}/-"
    address = full_address(related.entity_id, near, catalog.addresses)
    if address is not None and address in catalog.entries:
        return address
    named = [entry.address for entry in _entities(catalog) if _same_name(_name(entry), related.entity_id)]
    named.sort(key=lambda one: (not one.startswith(f"{wing}/"), one))
    if named:
        return named[0]
    known = {_name(entry): entry.address for entry in _entities(catalog)} | {one: one for one in catalog.entries}
    close = difflib.get_close_matches(related.entity_id, known, n=1, cutoff=0.4)
    hint = f"did you mean `{known[close[0]]}`?" if close else "save that one first"
    raise NotFoundError(f"there is no entity `{related.entity_id}` to relate to; {hint}")


def _new(
    saving: Saving, record: EntityRecord, relations: tuple[Relation, ...], properties: Mapping[str, Mapping[str, Any]]
) -> Planned:
    room = room_for(saving.settings, record.kind, saving.room)
    wing = saving.target.wing
    address = free_address(saving.catalog, wing, room, kind=record.kind, title=record.title, is_taken=saving.is_taken)
    frame = Frame(
        address=address,
        status=saving.status,
        today=saving.today,
        focus=saving.focus,
        agent=saving.agent,
        relations=relations,
    )
    new = with_properties(compose_record(record, frame), relation_properties(None, properties))
    path = f"{address}.md"
    plan = Plan((*saving.target.manifests, Change(path, path, None, new.content)))
    is_draft = saving.status is Status.DRAFT
    result = SaveResult(
        status=SaveStatus.SAVED,
        artifact_id=address,
        dedup_outcome=Outcome.NEW,
        message=f"{address} is saved as a draft: {CLAIM_NOTHING}" if is_draft else f"{address} is saved",
    )
    return Planned(intent=Intent(plan=plan, deeds=(Deed(Verb.ADD, address),), agent=saving.agent), result=result)


def _update(
    saving: Saving,
    record: EntityRecord,
    known: Entry,
    relations: tuple[Relation, ...],
    properties: Mapping[str, Mapping[str, Any]],
) -> Planned | Stopped:
    document = saving.catalog.document(known.path)
    after = _with_fact(document, record.fact)
    merged = tuple(dict.fromkeys((*known.relations, *relations)))
    if merged != known.relations:
        after = _with_relations(parse_document(known.path, after), merged)
    fields: Mapping[str, Any] = document.fields or {}
    held = relation_properties(fields.get(PROPERTIES), properties)
    if held is not None:
        last = parse_document(known.path, after)
        after = apply_edits(last.data, set_fields(last, {PROPERTIES: held}))
    result = SaveResult(
        status=SaveStatus.SAVED, artifact_id=known.address, message=f"{known.address} is brought up to date"
    )
    if after == document.data:
        return Stopped(result=replace(result, message=f"{known.address} says so already; nothing was written"))
    plan = Plan((Change(known.path, known.path, document.data, after),))
    deed = Deed(Verb.UPDATE, known.address)
    return Planned(intent=Intent(plan=plan, deeds=(deed,), agent=saving.agent), result=result)


def _with_fact(document: Document, fact: str) -> bytes:
    """Return the file with another body; where it says that already, not a byte is changed."""
    if document.body.strip() == fact.strip():
        return document.data
    body = document.body
    start = len(body) - len(body.lstrip())
    end = len(body.rstrip())
    if not body.strip():
        line_break = b"" if document.data.endswith(b"\n") else b"\n"
        return document.data + line_break + fact.strip().encode() + b"\n"
    return apply_edits(document.data, replace_in_body(document, start, end - start, fact.strip()))


def _with_relations(document: Document, relations: Sequence[Relation]) -> bytes:
    """Return the file with other relations, and nothing else changed; raises UnpatchableError where that fails."""
    layout = layout_of(document)
    written = f"{layout.indent()}relations:{relation_lines(relations)}\n"
    start, end = layout.lines("relations") if "relations" in layout.fields else (layout.gap("relations"),) * 2
    edits = replace_span(document, layout.offset + start, layout.offset + end, written)
    after = apply_edits(document.data, edits)
    meant: list[Any] = [{"type": one.type, "to": one.to} for one in relations]
    if not verify(document, parse_document(document.path, after), {"relations": meant}):
        raise UnpatchableError(f"{document.path} could not be given other relations; write them by hand")
    return after
