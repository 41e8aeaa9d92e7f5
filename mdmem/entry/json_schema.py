"""The front matter as a JSON Schema, made from the models that read it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_type_hints

from mdmem.entry.fields import MODELS, REQUIRED, EntryFields, WingFields
from mdmem.entry.model import EntryType, Status, WingKind
from mdmem.entry.values import Globs, Links, Moment, Names, Pairs, Relations, Share, Text, Texts, Version

_DAY = r"^\d{4}-\d{2}-\d{2}([Tt ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?([Zz]|[+-]\d{2}:?\d{2})?)?$"
_LIST: Mapping[str, Any] = {"type": ["array", "string"], "items": {"type": "string"}}
_RELATION = {
    "type": "object",
    "properties": {"type": {"type": "string"}, "to": {"type": "string"}},
    "required": ["type", "to"],
    "additionalProperties": False,
}
_FORMS: Mapping[Any, Mapping[str, Any]] = {
    Text: {"type": "string"},
    Texts: _LIST,
    Names: _LIST,
    Links: _LIST,
    Globs: {"type": ["array", "string"], "items": {"type": "string", "pattern": "^[^:]"}},
    Moment: {"type": "string", "pattern": _DAY},
    Version: {"type": "integer", "minimum": 1},
    Share: {"type": "number", "minimum": 0, "maximum": 1},
    Pairs: {"type": "object", "additionalProperties": {"type": "string"}},
    Relations: {"type": "array", "items": _RELATION},
    Status: {"enum": [one.value for one in Status]},
    WingKind: {"enum": [one.value for one in WingKind]},
}
_ABOUT: Mapping[str, str] = {
    "type": "what it is, in the order of authority",
    "status": "where it stands; a draft binds nobody",
    "created_at": "when it was written, a date or a date-time with its offset",
    "title": "one line; without it the first heading, else the entry-id in words",
    "verified_at": "when somebody last found it right",
    "deprecated_at": "when it ended",
    "expires_at": "from the day after on it counts as under review",
    "editorial_at": "when the body was corrected without a change of the rule",
    "version": "a number from 1",
    "label": "what kind of note it is, such as session or entity",
    "owner": "who answers for it",
    "topic": "what it is about",
    "focus": "the focus area that it is for",
    "agent": "the agent that wrote it",
    "approved_by": "who made it active, as name and email",
    "reason": "why it supersedes, overrides or contradicts another entry",
    "deprecated_reason": "why it ended",
    "confidence": "how sure the writer is",
    "relevance_score": "how much it matters",
    "tags": "words to find it by",
    "applies_to": "globs of the code that it is about, from the repository's top",
    "supersedes": "the addresses of the entries that it replaces",
    "superseded_by": "the addresses of the entries that replace it",
    "overrides": "the addresses of the shared rules that it replaces here",
    "conflicts_with": "the addresses of the entries that it contradicts",
    "see": "the addresses of related entries",
    "produced": "the addresses of the entries that came out of it",
    "ignore": "check codes that do not count here, each with its reason",
    "trigger": "when the pattern applies",
    "repeatable_steps": "what to do, step by step",
    "exclusions": "when the pattern does not apply",
    "objective": "what the session was for",
    "actions_taken": "what was done",
    "decisions_made": "what was decided",
    "open_items": "what is left open",
    "next_actions": "what comes next",
    "entity": "the name of the thing that the note is about",
    "relations": "how the thing relates to others",
    "kind": "a project's own wing, or one that projects share",
    "project_id": "the id by which clients know the project",
    "owners": "who answers for the wing",
    "shared_wings": "the shared wings that the project reads, in their order; without it every one",
    "description": "what the wing is for",
    "last_hygiene_at": "when the wing was last tended",
}


def front_matter_schema() -> dict[str, Any]:
    """Return the schema of an entry's front matter; that of a wing's manifest is `wing` in its `$defs`."""
    fields = {name for model in MODELS.values() for name in model.model_fields}
    order = [name for name in _ABOUT if name in fields]
    hints = {
        name: hint for model in MODELS.values() for name, hint in get_type_hints(model, include_extras=True).items()
    }
    properties = {name: _property(name, hints[name]) for name in order if name != "type"}
    kinds = {"enum": [kind.value for kind in EntryType], "description": _ABOUT["type"]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "front matter of an entry",
        "description": "an address is `wing/room/entry-id`; a list of one value may be written as the value",
        **_object({"type": kinds, **properties}, REQUIRED),
        "allOf": [_only_for(kind) for kind in MODELS if MODELS[kind].model_fields.keys() - _shared()],
        "$defs": {"wing": wing_schema()},
    }


def wing_schema() -> dict[str, Any]:
    """Return the schema of the front matter of a wing's README.md."""
    hints = get_type_hints(WingFields, include_extras=True)
    return _object({name: _property(name, hints[name]) for name in WingFields.model_fields}, ())


def _object(properties: Mapping[str, Any], required: tuple[str, ...]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "patternProperties": {"^x-": {"description": "anything: kept, never interpreted"}},
        "additionalProperties": False,
    }


def _property(name: str, hint: Any) -> dict[str, Any]:
    return {**_FORMS[hint], "description": _ABOUT[name]}


def _shared() -> set[str]:
    return {*EntryFields.model_fields, "type"}


def _only_for(kind: EntryType) -> dict[str, Any]:
    """Return that the fields of one type stand in no entry of another."""
    own = sorted(MODELS[kind].model_fields.keys() - _shared())
    other = {"properties": {"type": {"not": {"const": kind.value}}}}
    return {"if": other, "then": {"properties": dict.fromkeys(own, False)}}
