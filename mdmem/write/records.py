"""What agents hand over to be saved: the records of the contracts, read from plain JSON values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date
from enum import StrEnum
from typing import Any, ClassVar

from msgspec import Struct

from mdmem.errors import UsageError
from mdmem.model.entry import EntryType
from mdmem.write.json_reader import JsonObject


class MemoryScope(StrEnum):
    """For whom a record is meant: everybody, one project, or one focus area of it."""

    GLOBAL = "global"
    PROJECT = "project"
    FOCUS = "focus"


class RelationType(StrEnum):
    """The relations that one entity may have to another."""

    BELONGS_TO = "BELONGS_TO"
    CONFLICTS_WITH = "CONFLICTS_WITH"
    PRODUCED = "PRODUCED"
    MERGES_INTO = "MERGES_INTO"
    PRODUCES = "PRODUCES"
    CONSUMES = "CONSUMES"
    READS = "READS"
    WRITES = "WRITES"
    INVOLVES = "INVOLVES"


class DecisionRecord(Struct, frozen=True, kw_only=True):
    """A decision as an agent states it; `supersedes` and `distinct_from` are what it typed for others."""

    kind: ClassVar[str] = "decision"
    type: ClassVar[EntryType] = EntryType.DECISION
    title: str
    rationale: str
    owner: str | None = None
    date: date | None = None
    scope: MemoryScope = MemoryScope.PROJECT
    supersedes: str | None = None
    distinct_from: tuple[str, ...] = ()
    confidence: float | None = None


class PatternRecord(Struct, frozen=True, kw_only=True):
    """A workflow that repeats: when, which steps, and when not."""

    kind: ClassVar[str] = "pattern"
    type: ClassVar[EntryType] = EntryType.PATTERN
    trigger: str
    repeatable_steps: tuple[str, ...]
    exclusions: tuple[str, ...] = ()
    scope: MemoryScope = MemoryScope.PROJECT
    last_validated_at: date | None = None

    @property
    def title(self) -> str:
        """Return what the pattern is called by."""
        return self.trigger


class ContextRecord(Struct, frozen=True, kw_only=True):
    """A piece of background with its topic."""

    kind: ClassVar[str] = "context"
    type: ClassVar[EntryType] = EntryType.NOTE
    content: str
    topic: str
    scope: MemoryScope = MemoryScope.PROJECT
    relevance_score: float | None = None

    @property
    def title(self) -> str:
        """Return what the piece is called by."""
        return self.topic


class SessionRecord(Struct, frozen=True, kw_only=True):
    """What a session of work was for, and what it came to."""

    kind: ClassVar[str] = "session"
    type: ClassVar[EntryType] = EntryType.NOTE
    objective: str
    actions_taken: tuple[str, ...] = ()
    decisions_made: tuple[str, ...] = ()
    open_items: tuple[str, ...] = ()
    next_actions: tuple[str, ...] = ()
    scope: MemoryScope = MemoryScope.PROJECT

    @property
    def title(self) -> str:
        """Return what the session is called by."""
        return self.objective


class RelatedEntity(Struct, frozen=True, kw_only=True):
    """One relation as an agent states it; `entity_id` is what it typed, `properties` a JSON object."""

    entity_id: str
    type: RelationType
    properties: Mapping[str, Any]


class EntityRecord(Struct, frozen=True, kw_only=True):
    """A named thing, the fact that is known of it, and what it has to do with others."""

    kind: ClassVar[str] = "entity"
    type: ClassVar[EntryType] = EntryType.NOTE
    entity_name: str
    fact: str
    scope: MemoryScope = MemoryScope.PROJECT
    related: tuple[RelatedEntity, ...] = ()

    @property
    def title(self) -> str:
        """Return what the thing is called by."""
        return self.entity_name


Record = DecisionRecord | PatternRecord | ContextRecord | SessionRecord | EntityRecord


def read_decision(given: object) -> DecisionRecord:
    """Return the decision that JSON values state; raises UsageError naming the field."""
    known = ("title", "rationale", "owner", "date", "scope", "supersedes", "distinct_from", "confidence")
    read = JsonObject("decision", given, known)
    return DecisionRecord(
        title=read.line("title"),
        rationale=read.text("rationale"),
        owner=read.optional_line("owner"),
        date=read.moment("date"),
        scope=read.choice("scope", MemoryScope, default=MemoryScope.PROJECT),
        supersedes=read.optional_line("supersedes"),
        distinct_from=read.texts("distinct_from"),
        confidence=read.share("confidence"),
    )


def read_pattern(given: object) -> PatternRecord:
    """Return the pattern that JSON values state; raises UsageError naming the field."""
    known = ("trigger", "repeatable_steps", "exclusions", "scope", "last_validated_at")
    read = JsonObject("pattern", given, known)
    return PatternRecord(
        trigger=read.line("trigger"),
        repeatable_steps=read.texts("repeatable_steps", is_required=True),
        exclusions=read.texts("exclusions"),
        scope=read.choice("scope", MemoryScope, default=MemoryScope.PROJECT),
        last_validated_at=read.moment("last_validated_at"),
    )


def read_context(given: object) -> ContextRecord:
    """Return the piece of context that JSON values state; raises UsageError naming the field."""
    read = JsonObject("context", given, ("content", "topic", "scope", "relevance_score"))
    return ContextRecord(
        content=read.text("content"),
        topic=read.line("topic"),
        scope=read.choice("scope", MemoryScope, default=MemoryScope.PROJECT),
        relevance_score=read.share("relevance_score"),
    )


def read_session(given: object) -> SessionRecord:
    """Return the session that JSON values state; raises UsageError naming the field."""
    lists = ("actions_taken", "decisions_made", "open_items", "next_actions")
    read = JsonObject("session", given, ("objective", *lists, "save_scope"))
    return SessionRecord(
        objective=read.text("objective"),
        scope=read.choice("save_scope", MemoryScope, default=MemoryScope.PROJECT),
        **{name: read.texts(name) for name in lists},
    )


def read_entity(given: object, related: object) -> EntityRecord:
    """Return the entity with its relations that JSON values state; raises UsageError naming the field."""
    read = JsonObject("entity", given, ("entity_name", "fact", "scope"))
    if related is not None and not isinstance(related, (list, tuple)):
        raise UsageError("`related_entities` must be a list of objects with `entity_id` and `relationship_type`")
    return EntityRecord(
        entity_name=read.line("entity_name"),
        fact=read.text("fact"),
        scope=read.choice("scope", MemoryScope, default=MemoryScope.PROJECT),
        related=tuple(_related(item, number) for number, item in enumerate(related or ())),
    )


def _related(given: object, number: int) -> RelatedEntity:
    read = JsonObject(f"related_entities[{number}]", given, ("entity_id", "relationship_type", "properties"))
    found = read.given.get("properties")
    properties: dict[str, Any] = found if found is not None else {}
    try:
        written = json.dumps(properties, allow_nan=False, ensure_ascii=False).encode()
        is_plain = isinstance(properties, dict) and json.loads(written) == properties
    except (TypeError, ValueError, RecursionError):
        is_plain = False
    if not is_plain:
        raise UsageError(f"`related_entities[{number}].properties` must be a JSON object; write `{{}}` for none")
    return RelatedEntity(
        entity_id=read.line("entity_id"),
        type=read.choice("relationship_type", RelationType),
        properties=properties,
    )
