"""The fields of the front matter: a model a type of entry, and one for a wing's manifest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter

from mdmem.entry.model import EntryType, Status, WingKind
from mdmem.entry.values import Globs, Links, Moment, Names, Pairs, Relations, Share, Text, Texts, Version

REQUIRED = ("type", "status", "created_at")
SESSION_FIELDS = ("objective", "actions_taken", "decisions_made", "open_items", "next_actions")
ENTITY_FIELDS = ("entity", "relations")


class _Fields(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class EntryFields(_Fields):
    """The fields that every type of entry has."""

    status: Status
    created_at: Moment = None
    title: Text = None
    verified_at: Moment = None
    deprecated_at: Moment = None
    expires_at: Moment = None
    editorial_at: Moment = None
    version: Version = None
    label: Text = None
    owner: Text = None
    topic: Text = None
    focus: Text = None
    agent: Text = None
    approved_by: Text = None
    reason: Text = None
    deprecated_reason: Text = None
    confidence: Share = None
    relevance_score: Share = None
    tags: Texts = ()
    applies_to: Globs = ()
    supersedes: Links = ()
    superseded_by: Links = ()
    overrides: Links = ()
    conflicts_with: Links = ()
    see: Links = ()
    produced: Links = ()
    ignore: Pairs = ()


class InvariantFields(EntryFields):
    """What must not be violated."""

    type: Literal[EntryType.INVARIANT]


class DecisionFields(EntryFields):
    """Which direction is currently authoritative."""

    type: Literal[EntryType.DECISION]


class PatternFields(EntryFields):
    """How similar problems are usually solved."""

    type: Literal[EntryType.PATTERN]
    trigger: Text = None
    repeatable_steps: Texts = ()
    exclusions: Texts = ()


class NoteFields(EntryFields):
    """What extra context may help; sessions and entities are notes with a label."""

    type: Literal[EntryType.NOTE]
    objective: Text = None
    actions_taken: Texts = ()
    decisions_made: Texts = ()
    open_items: Texts = ()
    next_actions: Texts = ()
    entity: Text = None
    relations: Relations = ()


class WingFields(_Fields):
    """The fields of a wing's manifest."""

    kind: WingKind = WingKind.PROJECT
    project_id: Text = None
    owners: Texts = ()
    shared_wings: Names = None
    description: Text = None
    last_hygiene_at: Moment = None


# One row a type: the model that reads its front matter.
MODELS: Mapping[EntryType, type[EntryFields]] = {
    EntryType.INVARIANT: InvariantFields,
    EntryType.DECISION: DecisionFields,
    EntryType.PATTERN: PatternFields,
    EntryType.NOTE: NoteFields,
}
ADAPTERS = {kind: TypeAdapter(model) for kind, model in MODELS.items()}
WING_ADAPTER = TypeAdapter(WingFields)
KNOWN_FIELDS = frozenset(name for model in MODELS.values() for name in model.model_fields)
WING_FIELDS = frozenset(WingFields.model_fields)
