"""Test the tools: their descriptions and schemas for real clients, and how arguments are parsed."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import anyio
import pytest
from builders import memory
from clients import ERAS, server_over, text
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from mcp import Client
from pydantic import Field

from mdmem.errors import UsageError
from mdmem.mcp.answers import json_line
from mdmem.mcp.hub import HubAnswers
from mdmem.mcp.server import INSTRUCTIONS
from mdmem.mcp.tools import TOOLS, tools_of
from mdmem.mcp.tools.tool import AsText, Choice, Listed, Objects, Record, Texts, Tool
from mdmem.store.settings import Profile, parse_settings

_GRAPHBASE = {
    *("retrieve_context", "get_scope_state", "run_hygiene", "get_save_status", "memory_surface"),
    *("save_session", "store_session_with_learnings", "save_decision", "save_pattern", "save_context"),
    *("upsert_entity_with_deps", "request_global_write_approval"),
}
_ALL = TOOLS | {tool.name: tool for tool in HubAnswers.tools_of("test")}


@pytest.fixture(params=sorted(_ALL))
def tool(request: pytest.FixtureRequest) -> Tool:
    return _ALL[request.param]


def test_descriptions_are_short_and_every_parameter_has_one(tool: Tool) -> None:
    assert len(tool.about) <= 600
    properties = tool.input_schema["properties"]
    assert [name for name, one in properties.items() if not one["description"].endswith(".")] == []
    assert [name for name in properties if not re.fullmatch(r"[a-z_]{1,30}", name)] == []


def test_project_and_project_id_have_the_same_description() -> None:
    properties = [one for tool in TOOLS.values() for one in tool.input_schema["properties"].items()]
    said = {(name, one["description"]) for name, one in properties if name in ("project", "project_id")}
    same = "Its `project_id` or wing's name."
    assert {("project", same), ("project_id", same)} <= said
    assert {one for name, one in said if name == "project"} == {same}


@pytest.mark.parametrize(("profile", "tokens"), [("core", 3_800), ("sessions", 5_200), ("research", 2_200)])
def test_the_list_of_a_profile_is_short(profile: str, tokens: int) -> None:
    assert len(json_line([tool.listed() for tool in HubAnswers.tools_of(profile)]).encode()) // 4 <= tokens


def test_a_client_that_loads_tools_on_demand_has_retrieve_from_the_start() -> None:
    metas = {tool.name: tool.listed()["_meta"] for tool in TOOLS.values()}
    assert metas.pop("retrieve") == {"anthropic/alwaysLoad": True}
    assert all(meta["anthropic/searchHint"] for meta in metas.values())


def test_instructions_are_short_and_say_first_when_to_call() -> None:
    assert len(INSTRUCTIONS) <= 1_900
    assert INSTRUCTIONS.startswith("Before you change code or decide anything, call `retrieve`")


def test_input_schema_is_a_closed_object_without_unions_and_references(tool: Tool) -> None:
    schema = tool.input_schema
    Draft202012Validator.check_schema(schema)
    assert (schema["type"], schema["additionalProperties"]) == ("object", False)
    found = {key for inner in subschemas(schema) for key in inner}
    assert found.isdisjoint({"anyOf", "oneOf", "allOf", "not", "$ref", "$defs", "if"})
    assert [inner["type"] for inner in subschemas(schema) if not isinstance(inner.get("type", ""), str)] == []
    for one in schema["properties"].values():
        if "default" in one:
            Draft202012Validator(one).validate(one["default"])


def test_tool_without_a_contract_takes_a_format_and_a_writing_tool_no_cursor(tool: Tool) -> None:
    assert ("cursor" in tool.input_schema["properties"]) is not tool.writes
    schema = tool.output_schema
    Draft202012Validator.check_schema(schema or {})
    assert (schema is None) is ("format" in tool.input_schema["properties"])
    assert schema is None or (schema["type"] == "object" and {"anyOf", "oneOf", "allOf"}.isdisjoint(schema))


def test_graphbase_lists_the_tools_of_its_contract() -> None:
    assert {tool.name for tool in tools_of("graphbase")} == _GRAPHBASE


@pytest.mark.parametrize(("former", "now"), [("graphbase", "sessions"), ("sibyl", "research"), ("all", "test")])
def test_a_former_name_of_a_profile_means_the_same(former: str, now: str) -> None:
    assert parse_settings(f'[server]\nprofile = "{former}"\n'.encode()).profile is Profile(now)


@pytest.mark.parametrize("profile", ["core", "graphbase", "research", "all"])
def test_tool_mentions_only_tools_of_its_profile(profile: str) -> None:
    listed = tools_of(profile)
    properties = [one for tool in listed for one in tool.input_schema["properties"].values()]
    texts = [*(tool.about for tool in listed), *(one["description"] for one in properties)]
    named = {word for text in texts for word in re.findall(r"`([a-z_]+)`", text)}
    assert named & set(TOOLS) <= {tool.name for tool in listed}


def subschemas(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a schema and all schemas in it."""
    yield schema
    for inner in schema.get("properties", {}).values():
        yield from subschemas(inner)
    if "items" in schema:
        yield from subschemas(schema["items"])


_Depth = Annotated[Literal["deep_search", "wake"], Choice]


def _probe(
    *,
    query: Annotated[str, Field(max_length=20, description="What is looked for. In plain words."), AsText],
    kind: Annotated[_Depth | None, Field(description="How deep to look.")] = None,
    limit: Annotated[int, Field(ge=1, le=50, description="Hits.")] = 10,
    deep: Annotated[bool, Field(description="Deep.")] = False,
    tags: Annotated[Texts | None, Field(description="Tags.")] = None,
    types: Annotated[
        tuple[Annotated[Literal["note", "decision"], Choice], ...] | None, Listed, Field(description="Types.")
    ] = None,
    record: Annotated[Record | None, Field(description="A record.")] = None,
    records: Annotated[list[Record] | None, Objects, Field(description="Records.")] = None,
) -> None: ...


_PROBE = Tool(name="probe", title="Probe", about="", call=_probe)


def read(**given: Any) -> dict[str, Any]:
    return _PROBE.parse({"query": "x", **given})


def refusal(**given: Any) -> str:
    with pytest.raises(UsageError) as refused:
        read(**given)
    return str(refused.value)


@pytest.mark.parametrize(
    ("name", "sent", "meant"),
    [
        *(("tags", one, ("a", "b")) for one in (["a", "b"], '["a", "b"]', "a,b", " a , b ,", ["a", "b", "a", ""])),
        ("limit", "5", 5),
        ("limit", 5.0, 5),
        ("deep", "true", True),
        ("deep", 0, False),
        ("query", 42, "42"),
        ("query", ["a b"], "a b"),
        ("kind", "Deep-Search", "deep_search"),
        ("types", "Note", ("note",)),
        ("record", '{"title": "x"}', {"title": "x"}),
        ("records", {"title": "x"}, [{"title": "x"}]),
        ("records", '[{"title": "x"}]', [{"title": "x"}]),
    ],
)
def test_value_is_accepted_in_harmless_other_forms(name: str, sent: object, meant: object) -> None:
    assert read(**{name: sent})[name] == meant


def test_null_counts_as_absent_and_unknown_and_missing_parameters_are_refused() -> None:
    assert read(limit=None, tags=None) == read()
    assert refusal(task="x").startswith('there is no parameter "task"; the tool takes `query`, `kind`, `limit`')
    with pytest.raises(UsageError, match=r"^`query` is missing: What is looked for\. In plain words$"):
        _PROBE.parse({})


@pytest.mark.parametrize(
    ("name", "sent", "said"),
    [
        ("limit", 0, "`limit`: Input should be greater than or equal to 1, found 0"),
        (
            "limit",
            "many",
            '`limit`: Input should be a valid integer, unable to parse string as an integer, found "many"',
        ),
        ("deep", "perhaps", '`deep`: Input should be a valid boolean, unable to interpret input, found "perhaps"'),
        ("query", True, "`query`: Input should be a valid string, found true"),
        ("query", "x" * 21, f'`query`: String should have at most 20 characters, found "{"x" * 21}"'),
        ("query", 10**5000, "a number has too many digits"),
        ("tags", {"a": 1}, '`tags`: Input should be a valid tuple, found {"a": 1}'),
        ("types", ["notes"], "`types`: Input should be 'note' or 'decision', found \"notes\""),
        ("record", "words", '`record`: Input should be a valid dictionary, found "words"'),
    ],
    ids=str.split("bound integer boolean string length digits list choice object"),
)
def test_a_value_of_the_wrong_kind_is_refused_in_a_sentence(name: str, sent: object, said: str) -> None:
    assert refusal(**{name: sent}) == said


_ODD = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
    | st.sampled_from(
        ["nav", "threads", "nav/rules/", "../..", "global", "*", "-1", "[", '{"a": [}', "\x00", "a" * 5_000]
    ),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
_FITTING = {
    "decision": st.fixed_dictionaries({"title": _ODD, "rationale": _ODD}, optional={"scope": _ODD, "supersedes": _ODD}),
    "project_id": st.sampled_from(["nav", "new", "", "../x", "con"]),
    "scope": st.sampled_from(["global", "project", "focus"]),
    "session": st.fixed_dictionaries({"objective": _ODD}),
    "title": st.text(max_size=20),
    "body": st.text(max_size=40),
    "content": st.text(max_size=40),
    "goal": st.text(max_size=40),
    "query": st.text(max_size=40),
    "address": st.just("threads") | _ODD,
}


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """Return a tool with arguments; about half of them are valid."""
    tool = TOOLS[draw(st.sampled_from(sorted(TOOLS)))]
    arguments = {}
    schema = tool.input_schema
    for name in schema["properties"]:
        if name in schema.get("required", ()) or draw(st.integers(0, 3)) == 0:
            arguments[name] = draw(_FITTING.get(name, _ODD) if draw(st.booleans()) else _ODD)
    if draw(st.integers(0, 9)) == 0:
        arguments[draw(st.text(max_size=10))] = draw(_ODD)
    return tool.name, arguments


@settings(max_examples=15)
@given(st.lists(calls(), min_size=8, max_size=8), st.sampled_from(ERAS))
def test_any_call_is_answered(tmp_path_factory: Any, asked: list[tuple[str, dict[str, Any]]], mode: str) -> None:
    folder: Path = memory(tmp_path_factory.mktemp("any") / "repo")
    server = server_over(folder / "memory")

    async def run() -> None:
        async with Client(server, mode=mode) as client:
            await client.list_tools()
            for tool, arguments in asked:
                answer = await client.call_tool(tool, arguments)
                said = text(answer)
                assert "Traceback" not in said
                assert "a fault of mdmem itself" not in said, (tool, arguments, said)
                assert len(said) + len(json.dumps(answer.structured_content or {}, ensure_ascii=False)) <= 40_000

    anyio.run(run)
