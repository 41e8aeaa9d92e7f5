"""The JSON Schema of the front matter: every field there is, and the same verdict as the models."""

from __future__ import annotations

from typing import Any

import pytest
from builders import entry_text

from mdmem.markdown.parse import parse_document
from mdmem.model.entry import EntryType
from mdmem.model.fields import KNOWN_FIELDS, REQUIRED, WING_FIELDS
from mdmem.model.front_matter import MODELS
from mdmem.model.json_schema import front_matter_schema, wing_schema


def test_every_field_is_there_with_what_it_is() -> None:
    schema = front_matter_schema()
    assert set(schema["properties"]) == KNOWN_FIELDS
    assert set(wing_schema()["properties"]) == WING_FIELDS
    assert schema["required"] == list(REQUIRED)
    properties = {**schema["properties"], **wing_schema()["properties"]}
    assert [name for name, one in properties.items() if not one["description"]] == []


def test_fields_of_one_type_are_refused_in_the_others() -> None:
    rules = {rule["if"]["properties"]["type"]["not"]["const"]: rule["then"] for rule in front_matter_schema()["allOf"]}
    assert set(rules["pattern"]["properties"]) == {"trigger", "repeatable_steps", "exclusions"}
    assert set(rules) == {"pattern", "note"}
    assert "objective" in MODELS[EntryType.NOTE].model_fields
    assert rules["note"]["properties"]["objective"] is False


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
        ({"type": "pattern", "trigger": "always"}, True),
        ({"status": None}, False),
    ],
)
def test_schema_and_models_agree(fields: dict[str, Any], fits: bool) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    document = parse_document("nav/rules/x.md", entry_text(**fields).encode())
    validator = jsonschema.Draft202012Validator(front_matter_schema())
    assert validator.is_valid(dict(document.fields or {})) == fits
