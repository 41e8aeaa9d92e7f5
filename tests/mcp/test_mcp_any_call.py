"""No call, however odd its arguments, gives a traceback, breaks a promise about size, or ends the server."""

import json
from pathlib import Path
from typing import Any

import anyio
from builders import memory
from clients import ERAS, server_over, text
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp import Client

from mdmem.mcp.tools.table import TOOLS

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
    """Return a tool with arguments, of which about half fit."""
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
