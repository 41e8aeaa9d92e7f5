"""A record as the file of a new entry: which field holds what, and how it is written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from msgspec import Struct

from mdmem.errors import UsageError
from mdmem.markdown.fields import restyled, scalar
from mdmem.markdown.layout import is_typed, rank_of
from mdmem.markdown.parse import parse_document, rationale_of, with_rationale
from mdmem.markdown.patch import relation_item
from mdmem.model.entry import Entry, day_of, instant_of, parse_moment
from mdmem.store.catalog import interpret
from mdmem.write.records import ContextRecord, DecisionRecord, EntityRecord, PatternRecord, Record, SessionRecord

_TITLE_LENGTH = 100
PROPERTIES = "x-relation-properties"


class ComposedEntry(Struct, frozen=True):
    """A new entry's bytes, and what they are read as."""

    entry: Entry
    content: bytes
    body: str


def compose_record(record: Record, address: str, given: Mapping[str, Any]) -> ComposedEntry:
    """Return the file of a new entry; `given` are the fields that it has besides those of its record.

    Raises UsageError for a text that would not be read as an entry.
    """
    # A decision says its title nowhere else; the others hold theirs in a field or the body, too.
    title = record.title if isinstance(record, DecisionRecord) else _cut(record.title)
    stated, body = stated_by(record)
    if isinstance(record, PatternRecord) and _is_older(record.last_validated_at, given["created_at"]):
        # What was tried before it was written down is no younger than its trial.
        stated["created_at"] = stated["verified_at"]
    said = {name: value for name, value in stated.items() if value}
    fields = {"type": record.type.value, "title": title, **given, **said}
    return read_back(address, entry_text(fields, body).encode(), "entry")


def _is_older(validated: date | None, written: str) -> bool:
    created = parse_moment(written)
    if validated is None or (not isinstance(validated, datetime) and validated == day_of(created)):
        return False
    return instant_of(validated) < instant_of(created)


def read_back(address: str, content: bytes, called: str) -> ComposedEntry:
    """Return the bytes of a new entry with what they are read as; raises UsageError where that is no entry."""
    document = parse_document(f"{address}.md", content)
    loaded = interpret(document)
    if loaded.entry is None:
        raise UsageError(f"the {called} could not be read back: {loaded.findings[0].message}")
    return ComposedEntry(loaded.entry, content, document.body)


def stated_by(record: Record) -> tuple[dict[str, Any], str]:
    """Return the fields that hold a record, and the body."""
    match record:
        case DecisionRecord():
            owner = {"owner": record.owner, "confidence": _number(record.confidence)}
            created = {"created_at": record.date.isoformat()} if record.date is not None else {}
            return owner | created, _reasons(record.rationale)
        case PatternRecord():
            verified = {"verified_at": record.last_validated_at.isoformat() if record.last_validated_at else None}
            lists = {"repeatable_steps": record.repeatable_steps, "exclusions": record.exclusions}
            return verified | lists | {"trigger": record.trigger}, ""
        case ContextRecord():
            score = _number(record.relevance_score)
            return {"label": "context", "topic": record.topic, "relevance_score": score}, record.content
        case SessionRecord():
            lists = {name: getattr(record, name) for name in _SESSION_LISTS}
            return {"label": "session", "objective": record.objective, **lists}, ""
        case EntityRecord():
            return {"label": "entity", "entity": record.entity_name}, record.fact


_SESSION_LISTS = ("actions_taken", "decisions_made", "open_items", "next_actions")


def relation_properties(known: object, related: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Return the properties of relations as the JSON text that a file holds them in, with those it held before.

    `related` are the properties by relation, written as its type and address; those without any are left out.
    """
    try:
        stated = json.loads(known) if isinstance(known, str) else {}
    except (ValueError, RecursionError):
        stated = {}
    held = {**(stated if isinstance(stated, dict) else {}), **{name: dict(one) for name, one in related.items() if one}}
    return json.dumps(held, ensure_ascii=False, sort_keys=True) if held else None


def _reasons(rationale: str) -> str:
    """Return the body that reads back as these reasons: below a mark, they would end at a heading of their own."""
    marked = with_rationale("", rationale)
    return marked if rationale_of(marked) == rationale else rationale


def _number(value: float | None) -> str | None:
    return repr(value) if value is not None else None


def _cut(title: str) -> str:
    line = " ".join(title.split())
    return line if len(line) <= _TITLE_LENGTH else line[: _TITLE_LENGTH - 1].rstrip() + "…"


def entry_text(fields: Mapping[str, Any], body: str) -> str:
    """Return the text of an entry with those of its fields that say something, in the order of every new file."""
    stated = sorted(((name, value) for name, value in fields.items() if value), key=lambda pair: rank_of(pair[0]))
    front = ["---", *(f"{name}:{_written(name, value)}" for name, value in stated), "---", ""]
    text = body.strip("\n")
    return "\n".join([*front, text, ""] if text else front)


def _written(name: str, value: Any) -> str:
    if isinstance(value, str):
        return f" {restyled(value, None, is_typed=True) if is_typed(name) else scalar(value)}"
    if name == "relations":
        return "".join(f"\n  - {relation_item(one)}" for one in value)
    return "".join(f"\n  - {scalar(item)}" for item in value)
