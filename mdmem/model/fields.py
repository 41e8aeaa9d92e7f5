"""The table of fields, derived from `Entry` and `Wing`, its JSON Schema, and the first text of a new entry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, get_type_hints
from zlib import crc32

from msgspec.structs import replace

from mdmem.model.entry import Entry, EntryType, Field, Holder, Kind, Searched, Status, Wing, WingKind


def _fields() -> Iterator[Field]:
    """Yield the fields of entries in order, then the fields that only a wing's manifest has."""
    shared = Entry.__annotations__.keys() & Wing.__annotations__.keys()
    for owner in (Entry, Wing):
        for name, hint in get_type_hints(owner, include_extras=True).items():
            marks = getattr(hint, "__metadata__", ())
            field = next((mark for mark in marks if isinstance(mark, Field)), None)
            if field is not None:
                kind = next(mark for mark in marks if isinstance(mark, Kind))
                example = f"{name}: {field.example}"
                yield replace(field, name=name, kind=kind, example=example, in_manifest=name in shared)


FIELDS = tuple(_fields())


def names_of(*kinds: Kind) -> tuple[str, ...]:
    """Return the names of the fields that have one of the given kinds, in order."""
    return tuple(field.name for field in FIELDS if field.kind in kinds)


def searched_as(*ways: Searched) -> tuple[str, ...]:
    """Return the names of the fields that full-text search reads in one of the given ways, in order."""
    return tuple(field.name for field in FIELDS if field.searched in ways)


WING_FIELDS = frozenset(field.name for field in FIELDS if field.is_of_wings)
KNOWN_FIELDS = frozenset(field.name for field in FIELDS if field.holder is not Holder.WING)
REQUIRED = tuple(field.name for field in FIELDS if field.required)
LISTS = frozenset(field.name for field in FIELDS if field.is_list)
LINK_FIELDS = names_of(Kind.LINKS)
DATE_FIELDS = tuple(name for name in names_of(Kind.MOMENT) if name in KNOWN_FIELDS)
# A successor without one of these fields gets the value of the entry that it supersedes.
INHERITED = ("label", "owner", "topic", "focus", "tags", "applies_to")
# The fields of each type of entry. The key None has the fields of a wing's manifest.
FIELDS_OF: Mapping[EntryType | None, Mapping[str, Kind]] = {
    **{kind: {one.name: one.kind for one in FIELDS if one.holder.type in ("entry", kind)} for kind in EntryType},
    None: {one.name: one.kind for one in FIELDS if one.is_of_wings},
}


def version_of(fields: Iterable[Field]) -> str:
    """Return a checksum of how fields are parsed and searched. Descriptions of fields do not change it."""
    rows = [(one.name, one.kind, one.holder, one.searched, one.required, one.in_manifest) for one in fields]
    return f"{crc32(repr(rows).encode()):08x}"


# Caches of parsed entries store this version. If the table changes, they are read again.
VERSION = version_of(FIELDS)

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
    """Return the JSON Schema of an entry's front matter. Its `$defs` has the schema of a wing's manifest as `wing`."""
    rules = []
    for kind in EntryType:
        # The fields of one type are forbidden in entries of another type.
        if own := sorted(field.name for field in FIELDS if field.holder.type == kind.value):
            other = {"properties": {"type": {"not": {"const": kind.value}}}}
            rules.append({"if": other, "then": {"properties": dict.fromkeys(own, False)}})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "front matter of an entry",
        "description": "an address is `wing/room/entry-id`; a list of one value may be written as the value",
        **_object((field for field in FIELDS if field.holder is not Holder.WING), REQUIRED),
        "allOf": rules,
        "$defs": {"wing": _object((field for field in FIELDS if field.is_of_wings), ())},
    }


def _object(fields: Iterable[Field], required: tuple[str, ...]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {field.name: {**_FORMS[field.kind], "description": field.meaning} for field in fields},
        "required": list(required),
        "patternProperties": {"^x-": {"description": "anything: kept, never interpreted"}},
        "additionalProperties": False,
    }


# The initial body of a new entry of each type.
BODIES: Mapping[EntryType, str] = {
    EntryType.INVARIANT: """\
<State the rule in one sentence with must or must not.>

Rationale: <say what breaks when it is violated.>
""",
    EntryType.DECISION: """\
<State what was decided in one sentence.>

Rationale: <say why, and what was turned down.>
""",
    EntryType.PATTERN: """\
<Say which problem this solves, then how.>

1. <First step.>
2. <Second step.>
""",
    EntryType.NOTE: """\
<State the fact, and where it was learned.>
""",
}
# The editor shows these comments. Unchanged comments are removed when the entry is saved.
HINTS = """\
# applies_to: ["src/**"]
# owner: a team or a person
# tags: [a, b]
# supersedes: [wing/room/entry-id]
# reason: why it supersedes; `mdmem guide fields` explains every key
"""


def with_hints(text: str) -> str:
    """Return the text of a new entry with the optional keys as comments."""
    front, fence, body = text.partition("\n---\n")
    return f"{front}\n{HINTS.rstrip()}{fence}{body}"


def without_hints(text: str) -> str:
    """Return a text without the comments of `with_hints` that nobody changed."""
    hints = HINTS.splitlines()
    return "".join(line for line in text.splitlines(keepends=True) if line.rstrip("\r\n") not in hints)


# The placeholder that a person has to replace with a reason.
REASON = "<say why>"
PLACEHOLDERS: frozenset[str] = frozenset(
    part.split(">")[0] for text in (*BODIES.values(), REASON) for part in text.split("<")[1:]
)
