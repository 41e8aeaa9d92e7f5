"""A record as the file of a new entry: which field holds what, and how it is written."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from mdmem.catalog import interpret
from mdmem.document.layout import is_typed, rank_of
from mdmem.document.parse import parse_document
from mdmem.document.rationale import rationale_of, with_rationale
from mdmem.document.relations import relation_item
from mdmem.document.scalars import restyled, scalar
from mdmem.entry.model import Entry, Relation, Status
from mdmem.errors import UsageError
from mdmem.saving.records import (
    ContextRecord,
    DecisionRecord,
    EntityRecord,
    MemoryScope,
    PatternRecord,
    Record,
    SessionRecord,
)

_TITLE_LENGTH = 100
PROPERTIES = "x-relation-properties"


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What a new entry says besides its record: where it stands, and who wrote it when."""

    address: str
    status: Status
    today: date
    focus: str | None = None
    agent: str | None = None
    supersedes: tuple[str, ...] = ()
    produced: tuple[str, ...] = ()
    relations: tuple[Relation, ...] = ()


@dataclass(frozen=True, slots=True)
class Composed:
    """A new entry's bytes, and what they are read as."""

    entry: Entry
    content: bytes
    body: str


def compose_record(record: Record, frame: Frame) -> Composed:
    """Return the file of a new entry; raises UsageError for a text that would not be read as one."""
    fields: dict[str, Any] = {
        "type": record.type.value,
        "status": frame.status.value,
        "created_at": frame.today.isoformat(),
        # A decision says its title nowhere else; the others hold theirs in a field or the body, too.
        "title": record.title if isinstance(record, DecisionRecord) else _cut(record.title),
        "focus": frame.focus if record.scope is not MemoryScope.GLOBAL else None,
        "agent": frame.agent,
        "supersedes": frame.supersedes,
        "produced": frame.produced,
    }
    stated, body = stated_by(record, frame.relations)
    content = entry_text(fields | stated, body).encode()
    path = f"{frame.address}.md"
    document = parse_document(path, content)
    loaded = interpret(document)
    if loaded.entry is None:
        raise UsageError(f"the entry could not be read back: {loaded.findings[0].message}")
    return Composed(loaded.entry, content, document.body)


def stated_by(record: Record, relations: Sequence[Relation] = ()) -> tuple[dict[str, Any], str]:
    """Return the fields that hold a record, and the body."""
    match record:
        case DecisionRecord():
            owner = {"owner": record.owner, "confidence": _number(record.confidence)}
            return owner | _created(record.date), _reasons(record.rationale)
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
            named = {"label": "entity", "entity": record.entity_name, "relations": tuple(relations)}
            return named, record.fact


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


def with_properties(composed: Composed, properties: str | None) -> Composed:
    """Return a new entry that keeps the properties of its relations, too."""
    if properties is None:
        return composed
    front, fence, body = composed.content.partition(b"\n---\n")
    return replace(composed, content=front + f"\n{PROPERTIES}: {scalar(properties)}".encode() + fence + body)


def _reasons(rationale: str) -> str:
    """Return the body that reads back as these reasons: below a mark, they would end at a heading of their own."""
    marked = with_rationale("", rationale)
    return marked if rationale_of(marked) == rationale else rationale


def _created(moment: date | None) -> dict[str, str]:
    return {"created_at": moment.isoformat()} if moment is not None else {}


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
