"""The front matter as a JSON Schema, made from the table of fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mdmem.model.entry import EntryType, Status, WingKind
from mdmem.model.fields import FIELDS, REQUIRED, Field, Holder, Kind

_DAY = r"^\d{4}-\d{2}-\d{2}([Tt ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?([Zz]|[+-]\d{2}:?\d{2})?)?$"
_LIST: Mapping[str, Any] = {"type": ["array", "string"], "items": {"type": "string"}}
_RELATION = {
    "type": "object",
    "properties": {"type": {"type": "string"}, "to": {"type": "string"}},
    "required": ["type", "to"],
    "additionalProperties": False,
}
_FORMS: Mapping[Kind, Mapping[str, Any]] = {
    Kind.TYPE: {"enum": [one.value for one in EntryType]},
    Kind.STATUS: {"enum": [one.value for one in Status]},
    Kind.WING_KIND: {"enum": [one.value for one in WingKind]},
    Kind.TEXT: {"type": "string"},
    Kind.TEXTS: _LIST,
    Kind.NAMES: _LIST,
    Kind.LINKS: _LIST,
    Kind.GLOBS: {"type": ["array", "string"], "items": {"type": "string", "pattern": "^[^:]"}},
    Kind.MOMENT: {"type": "string", "pattern": _DAY},
    Kind.VERSION: {"type": "integer", "minimum": 1},
    Kind.SHARE: {"type": "number", "minimum": 0, "maximum": 1},
    Kind.PAIRS: {"type": "object", "additionalProperties": {"type": "string"}},
    Kind.RELATIONS: {"type": "array", "items": _RELATION},
}


def front_matter_schema() -> dict[str, Any]:
    """Return the schema of an entry's front matter; that of a wing's manifest is `wing` in its `$defs`."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "front matter of an entry",
        "description": "an address is `wing/room/entry-id`; a list of one value may be written as the value",
        **_object((field for field in FIELDS if field.holder is not Holder.WING), REQUIRED),
        "allOf": [_only_for(kind, own) for kind in EntryType if (own := _own_fields(kind))],
        "$defs": {"wing": wing_schema()},
    }


def wing_schema() -> dict[str, Any]:
    """Return the schema of the front matter of a wing's README.md."""
    return _object((field for field in FIELDS if field.is_of_wings), ())


def _object(fields: Iterable[Field], required: tuple[str, ...]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {field.name: {**_FORMS[field.kind], "description": field.meaning} for field in fields},
        "required": list(required),
        "patternProperties": {"^x-": {"description": "anything: kept, never interpreted"}},
        "additionalProperties": False,
    }


def _own_fields(kind: EntryType) -> list[str]:
    return sorted(field.name for field in FIELDS if field.holder.type == kind.value)


def _only_for(kind: EntryType, own: list[str]) -> dict[str, Any]:
    """Return that the fields of one type stand in no entry of another."""
    other = {"properties": {"type": {"not": {"const": kind.value}}}}
    return {"if": other, "then": {"properties": dict.fromkeys(own, False)}}
