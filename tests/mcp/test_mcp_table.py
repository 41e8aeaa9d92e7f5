"""What real clients demand of every tool, held over the whole table."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from mdmem.mcp.answers import json_line
from mdmem.mcp.hub import HubAnswers
from mdmem.mcp.server import INSTRUCTIONS
from mdmem.mcp.tools.table import TOOLS, tools_of
from mdmem.mcp.tools.tool import Tool
from mdmem.store.settings import Profile, parse_settings

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


_ALL = TOOLS | {tool.name: tool for tool in HubAnswers.tools_of("test")}


@pytest.fixture(params=sorted(_ALL))
def tool(request: pytest.FixtureRequest) -> Tool:
    return _ALL[request.param]


def test_description_is_short(tool: Tool) -> None:
    assert len(tool.about) <= 600


@pytest.mark.parametrize(("profile", "tokens"), [("core", 3_800), ("sessions", 5_200), ("research", 2_200)])
def test_the_list_of_a_profile_is_short(profile: str, tokens: int) -> None:
    assert len(json_line([tool.listed() for tool in HubAnswers.tools_of(profile)]).encode()) // 4 <= tokens


def test_a_client_that_loads_tools_on_demand_has_retrieve_from_the_start() -> None:
    metas = {tool.name: tool.listed()["_meta"] for tool in TOOLS.values()}
    assert metas.pop("retrieve") == {"anthropic/alwaysLoad": True}
    assert all(meta["anthropic/searchHint"] for meta in metas.values())


def test_instructions_are_short_and_say_first_when_to_call() -> None:
    assert len(INSTRUCTIONS) <= 1_900
    assert INSTRUCTIONS.startswith("Call ")


def test_schemas_are_schemas_of_2020(tool: Tool) -> None:
    Draft202012Validator.check_schema(tool.input_schema)
    Draft202012Validator.check_schema(tool.output_schema or {})


def test_input_schema_is_a_closed_object_without_unions_and_references(tool: Tool) -> None:
    schema = tool.input_schema
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    found = {key for inner in subschemas(schema) for key in inner}
    assert found.isdisjoint({"anyOf", "oneOf", "allOf", "not", "$ref", "$defs", "if"})
    assert [inner["type"] for inner in subschemas(schema) if not isinstance(inner.get("type", ""), str)] == []


def test_a_tool_of_no_contract_has_no_output_schema_and_takes_a_format(tool: Tool) -> None:
    schema = tool.output_schema
    assert (schema is None) is ("format" in tool.input_schema["properties"])
    assert schema is None or (schema["type"] == "object" and {"anyOf", "oneOf", "allOf"}.isdisjoint(schema))


def test_every_parameter_says_what_it_is(tool: Tool) -> None:
    properties = tool.input_schema["properties"]
    assert [name for name, one in properties.items() if not one["description"].endswith(".")] == []
    assert [name for name in properties if not re.fullmatch(r"[a-z_]{1,30}", name)] == []


def test_defaults_fit_their_schema(tool: Tool) -> None:
    for one in tool.input_schema["properties"].values():
        if "default" in one:
            Draft202012Validator(one).validate(one["default"])


def test_who_writes_has_no_cursor_and_who_reads_has_one(tool: Tool) -> None:
    assert ("cursor" in tool.input_schema["properties"]) is not tool.writes


def test_graphbase_lists_the_tools_of_its_contract() -> None:
    assert {tool.name for tool in tools_of("graphbase")} == _GRAPHBASE


@pytest.mark.parametrize(("former", "now"), [("graphbase", "sessions"), ("sibyl", "research"), ("all", "test")])
def test_a_former_name_of_a_profile_means_the_same(former: str, now: str) -> None:
    assert parse_settings(f'[server]\nprofile = "{former}"\n'.encode()).profile is Profile(now)


@pytest.mark.parametrize("profile", ["core", "graphbase", "research", "all"])
def test_a_tool_points_to_those_that_its_profile_lists(profile: str) -> None:
    listed = tools_of(profile)
    properties = [one for tool in listed for one in tool.input_schema["properties"].values()]
    texts = [*(tool.about for tool in listed), *(one["description"] for one in properties)]
    named = {word for text in texts for word in re.findall(r"`([a-z_]+)`", text)}
    assert named & set(TOOLS) <= {tool.name for tool in listed}


def subschemas(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a schema and every one inside it."""
    yield schema
    for inner in schema.get("properties", {}).values():
        yield from subschemas(inner)
    if "items" in schema:
        yield from subschemas(schema["items"])
