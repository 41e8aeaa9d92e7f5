"""Entities: named things, one entry each within a scope, with typed relations to what is there."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from mdmem.errors import NotFoundError
from mdmem.markdown.layout import apply_edits, replace_in_body
from mdmem.markdown.parse import Document, parse_document
from mdmem.markdown.patch import add_relations, set_fields
from mdmem.markdown.similarity import DedupOutcome, DedupVerdict
from mdmem.model.entry import Entry, EntryType, Relation, Status
from mdmem.store.catalog import Catalog, full_address
from mdmem.write.change_set import Change, ChangeSet
from mdmem.write.compose import PROPERTIES, relation_properties
from mdmem.write.message import Verb, WriteAction
from mdmem.write.plan import PlannedSave, SaveContext, composed_for, planned_new
from mdmem.write.records import EntityRecord, MemoryScope, RelatedEntity
from mdmem.write.results import SaveResult, SaveStatus

LABEL = "entity"


def plan_entity(saving: SaveContext, record: EntityRecord) -> PlannedSave:
    """Return what makes an entity, or brings the one of its name within the scope up to date.

    Raises NotFoundError for a relation to what is not there, naming the nearest.
    """
    known = _of_name(saving, record)
    related = [(one, _target(saving, one)) for one in record.related]
    properties = {f"{one.type} {to}": one.properties for one, to in related}
    relations = tuple(dict.fromkeys(Relation(one.type.value, to) for one, to in related))
    if known is None:
        more = {"relations": relations, PROPERTIES: relation_properties(None, properties)}
        return planned_new(saving, composed_for(saving, record, **more), DedupVerdict(DedupOutcome.NEW))
    return _update(saving, record, known, relations, properties)


def _of_name(saving: SaveContext, record: EntityRecord) -> Entry | None:
    """Return the entity of a name in a wing and focus; of several the one in force, then the first by address."""
    focus = saving.request.text("focus") if record.scope is not MemoryScope.GLOBAL else None
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


def _target(saving: SaveContext, related: RelatedEntity) -> str:
    """Return the address that a relation leads to: an entry's address, full or short, or the name of an entity."""
    catalog, wing = saving.catalog, saving.target.wing
    near = f"{wing}/{saving.room}/-"
    address = full_address(related.entity_id, near, catalog.addresses)
    if address is not None and address in catalog.entries:
        return address
    # A name means what is near: those of other projects have to be written as addresses.
    wings = {wing, *(one.name for one in catalog.wings.values() if one.is_shared)}
    near_ones = [one for one in _entities(catalog) if one.wing in wings]
    named = [entry.address for entry in near_ones if _same_name(_name(entry), related.entity_id)]
    if named:
        return min(named, key=lambda one: (not one.startswith(f"{wing}/"), one))
    known = {_name(entry): entry.address for entry in near_ones} | {one: one for one in catalog.entries}
    close = difflib.get_close_matches(related.entity_id, known, n=1, cutoff=0.4)
    hint = f"did you mean `{known[close[0]]}`?" if close else "save that one first"
    raise NotFoundError(f"there is no entity `{related.entity_id}` to relate to; {hint}")


def _update(
    saving: SaveContext,
    record: EntityRecord,
    known: Entry,
    relations: tuple[Relation, ...],
    properties: Mapping[str, Mapping[str, Any]],
) -> PlannedSave:
    document = saving.catalog.document(known.path)
    after = _with_fact(document, record.fact)
    new = [one for one in relations if one not in known.relations]
    if new:
        patched = parse_document(known.path, after)
        after = apply_edits(patched.data, add_relations(patched, new))
    fields: Mapping[str, Any] = document.fields or {}
    held = relation_properties(fields.get(PROPERTIES), properties)
    if held is not None:
        last = parse_document(known.path, after)
        after = apply_edits(last.data, set_fields(last, {PROPERTIES: held}))
    result = SaveResult(
        status=SaveStatus.SAVED, artifact_id=known.address, message=f"{known.address} is brought up to date"
    )
    if after == document.data:
        return PlannedSave(replace(result, message=f"{known.address} says so already; nothing was written"))
    change, action = Change(known.path, known.path, document.data, after), WriteAction(Verb.UPDATE, known.address)
    return PlannedSave(result, ChangeSet((change,), actions=(action,), agent=saving.request.text("agent")))


def _with_fact(document: Document, fact: str) -> bytes:
    """Return the file with another body; where it says that already, not a byte is changed."""
    if document.body.strip() == fact.strip():
        return document.data
    body = document.body
    start, end, text = len(body) - len(body.lstrip()), len(body.rstrip()), fact.strip()
    if not body.strip():
        closed = "" if document.data.endswith(b"\n") else "\n"
        start, end, text = 0, len(body), f"{closed}\n{text}\n"
    return apply_edits(document.data, replace_in_body(document, start, end - start, text))
