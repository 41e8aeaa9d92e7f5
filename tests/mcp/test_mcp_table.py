"""What real clients demand of every tool, held over the whole table."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from mdmem.mcp.server import INSTRUCTIONS
from mdmem.mcp.tools.shape import Tool
from mdmem.mcp.tools.table import PROFILES, TOOLS, tools_of
from mdmem.settings import Profile

_CALL = re.compile(r"Call this\b")
_GRAPHBASE = {
    "retrieve_context",
    "get_scope_state",
    "save_session",
    "store_session_with_learnings",
    "save_decision",
    "save_pattern",
    "save_context",
    "upsert_entity_with_deps",
    "run_hygiene",
    "get_save_status",
    "request_global_write_approval",
    "memory_surface",
}


@pytest.fixture(params=sorted(TOOLS))
def tool(request: pytest.FixtureRequest) -> Tool:
    return TOOLS[request.param]


def test_name_is_short_and_plain(tool: Tool) -> None:
    assert re.fullmatch(r"[a-z_]{1,30}", tool.name)


def test_description_is_short_and_says_first_when_to_call(tool: Tool) -> None:
    assert len(tool.about) <= 1_900
    assert _CALL.match(tool.about)


def test_instructions_are_short_and_say_first_when_to_call() -> None:
    assert len(INSTRUCTIONS) <= 1_900
    assert INSTRUCTIONS.startswith("Call ")


def test_title_is_not_the_name(tool: Tool) -> None:
    assert tool.title
    assert tool.title != tool.name


def test_schemas_are_schemas_of_2020(tool: Tool) -> None:
    Draft202012Validator.check_schema(tool.input_schema())
    Draft202012Validator.check_schema(tool.output_schema())


def test_input_schema_is_a_closed_object_without_unions_and_references(tool: Tool) -> None:
    schema = tool.input_schema()
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    found = {key for inner in subschemas(schema) for key in inner}
    assert found.isdisjoint({"anyOf", "oneOf", "allOf", "not", "$ref", "$defs", "if"})
    assert [inner["type"] for inner in subschemas(schema) if not isinstance(inner.get("type", ""), str)] == []


def test_output_schema_is_an_object_without_unions_at_its_root(tool: Tool) -> None:
    schema = tool.output_schema()
    assert schema["type"] == "object"
    assert {"anyOf", "oneOf", "allOf"}.isdisjoint(schema)


def test_every_parameter_says_what_it_is(tool: Tool) -> None:
    properties = tool.input_schema()["properties"]
    assert [name for name, one in properties.items() if not one["description"].endswith(".")] == []
    assert [name for name in properties if not re.fullmatch(r"[a-z_]{1,30}", name)] == []


def test_defaults_fit_their_schema(tool: Tool) -> None:
    for one in tool.takes:
        if one.default is not None:
            Draft202012Validator(one.schema()).validate(one.default)


def test_who_writes_has_no_cursor_and_who_reads_has_one(tool: Tool) -> None:
    assert ("cursor" in tool.input_schema()["properties"]) is not tool.writes


def test_only_who_writes_may_be_no_repetition(tool: Tool) -> None:
    assert tool.repeats or tool.writes


def test_every_profile_of_the_settings_is_there() -> None:
    assert set(PROFILES) == {profile.value for profile in Profile}


def test_core_lists_about_eight_tools() -> None:
    assert 7 <= len(tools_of("core")) <= 9


def test_graphbase_lists_the_tools_of_its_contract() -> None:
    assert {tool.name for tool in tools_of("graphbase")} == _GRAPHBASE


def test_all_lists_every_tool() -> None:
    assert {tool.name for tool in tools_of("all")} == set(TOOLS)


def test_a_profile_names_only_tools_that_exist() -> None:
    assert [name for names in PROFILES.values() for name in names if name not in TOOLS] == []


@pytest.mark.parametrize("profile", ["core", "graphbase", "all"])
def test_a_tool_points_to_those_that_its_profile_lists(profile: str) -> None:
    listed = tools_of(profile)
    texts = [text for tool in listed for text in (tool.about, *(one.about for one in tool.parameters))]
    named = {word for text in texts for word in re.findall(r"`([a-z_]+)`", text)}
    assert named & set(TOOLS) <= {tool.name for tool in listed}


def subschemas(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a schema and every one inside it."""
    yield schema
    for inner in schema.get("properties", {}).values():
        yield from subschemas(inner)
    if "items" in schema:
        yield from subschemas(schema["items"])
