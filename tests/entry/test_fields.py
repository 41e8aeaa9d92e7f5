"""The fields of entries and wings: each example parses, and the JSON Schema agrees with the parser."""

from __future__ import annotations

from typing import Any

import pytest
from builders import entry_text
from msgspec.structs import replace

from mdmem.markdown.parse import parse_document
from mdmem.model.entry import Entry, Field, Holder, Kind, Wing
from mdmem.model.fields import FIELDS, KNOWN_FIELDS, WING_FIELDS, front_matter_schema, version_of
from mdmem.model.schema import read_entry, read_wing


def test_every_attribute_is_a_field() -> None:
    assert set(Entry.__struct_fields__) - {"address", "unread"} == KNOWN_FIELDS
    assert set(Wing.__struct_fields__) - {"name", "has_manifest"} == WING_FIELDS


@pytest.mark.parametrize("field", FIELDS, ids=[field.name for field in FIELDS])
def test_example_is_read_without_a_flaw(field: Field) -> None:
    front = {"created_at": "2026-01-01", "status": "active", "type": field.holder.type, "label": field.holder.value}
    if field.holder in (Holder.ENTRY, Holder.WING):
        front |= {"type": "note"}
    stated = "" if field.holder is Holder.WING else "".join(f"{k}: {v}\n" for k, v in front.items() if k != field.name)
    document = parse_document("a/b/c.md", f"---\n{stated}{field.example}\n---\n\nText.\n".encode())
    assert document.fields is not None
    assert field.name in document.fields
    if field.is_of_wings:
        assert read_wing("a", {field.name: document.fields[field.name]})[1] == ()
    if field.holder is not Holder.WING:
        assert read_entry("a/b/c", dict(document.fields), None)[1] == ()


def test_version_follows_parsing_and_not_prose() -> None:
    first, *rest = FIELDS
    assert version_of([replace(first, meaning="other", example="other"), *rest]) == version_of(FIELDS)
    assert version_of([replace(first, kind=Kind.TEXT), *rest]) != version_of(FIELDS)
    assert version_of([replace(first, searched=None), *rest]) != version_of(FIELDS)


def test_json_schema_has_every_field() -> None:
    schema = front_matter_schema()
    assert set(schema["properties"]) == KNOWN_FIELDS
    assert set(schema["$defs"]["wing"]["properties"]) == WING_FIELDS
    assert schema["required"] == ["type", "status", "created_at"]


@pytest.mark.parametrize(
    ("fields", "fits"),
    [
        ({}, True),
        ({"tags": "[a, b]", "applies_to": "src/**", "x-ours": "[1]", "see": "[a/b/c]"}, True),
        ({"created_at": "2026-03-05T10:00:00Z"}, True),
        ({"created_at": "yesterday"}, False),
        ({"type": "rule"}, False),
        ({"unknown": "x"}, False),
        ({"applies_to": "[':(glob)x']"}, False),
        ({"trigger": "always"}, False),
        ({"objective": "docking"}, False),
        ({"type": "pattern", "trigger": "always"}, True),
        ({"type": "note", "label": "session", "objective": "docking"}, True),
        ({"status": None}, False),
    ],
)
def test_json_schema_agrees_with_the_parser(fields: dict[str, Any], fits: bool) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    document = parse_document("nav/rules/x.md", entry_text(**fields).encode())
    assert document.fields is not None
    validator = jsonschema.Draft202012Validator(front_matter_schema())
    assert validator.is_valid(dict(document.fields)) == fits
    assert (read_entry("nav/rules/x", document.fields, None)[1] == ()) == fits
