"""What clients hand over at an event: which files it is about, and nothing that could be raised."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mdmem.setup.events import Moment, read_event

PATCH = "*** Begin Patch\n*** Update File: src/a b.py\n*** Move to: src/c.py\n+*** Add File: no\n*** Add File: d.py\n"


def paths(**said: Any) -> tuple[str, ...]:
    event = read_event(json.dumps({"hook_event_name": "PreToolUse", "session_id": "s", **said}).encode())
    assert event is not None
    return event.paths


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ({"tool_input": {"file_path": "src/a.py", "content": "x"}}, ("src/a.py",)),
        ({"tool_input": {"notebook_path": "a.ipynb"}}, ("a.ipynb",)),
        ({"tool_input": {"command": PATCH}}, ("src/a b.py", "src/c.py", "d.py")),
        ({"tool_input": {"command": "git commit -m '*** x'"}}, ()),
        ({"tool_input": PATCH}, ("src/a b.py", "src/c.py", "d.py")),
        ({"toolArgs": '{"path": "a.py"}'}, ("a.py",)),
        ({"args": {"filePath": "a.py", "files": ["a.py", "b.py"]}}, ("a.py", "b.py")),
        ({"tool_input": {"file_path": ["a.py", 3, None], "path": {"x": 1}}}, ("a.py",)),
        ({"tool_input": {"file_path": "", "path": "a\0b"}}, ()),
        ({"tool_input": {"path": "x" * 5000}}, ()),
        ({"tool_input": [1, 2]}, ()),
        ({"tool_input": None}, ()),
        ({}, ()),
    ],
)
def test_files_are_found_whatever_a_tool_calls_them(said: dict[str, Any], found: tuple[str, ...]) -> None:
    assert paths(**said) == found


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"3", b"\xff", b'{"hook_event_name": 3}', b'{"hook_event_name": "Stop"}', b"[" * 10**5],
)
def test_what_is_no_event_of_ours_is_none(content: bytes) -> None:
    assert read_event(content) is None


@pytest.mark.parametrize(
    ("name", "trigger", "moment"),
    [
        ("SessionStart", "", Moment.START),
        ("sessionStart", "", Moment.START),
        ("AfterTool", "", Moment.EDIT),
        ("PostCompact", "auto", Moment.FORGET),
        ("PreCompress", "manual", Moment.FORGET),
        # Gemini CLI says so before each turn.
        ("PreCompress", "auto", None),
    ],
)
def test_moments_have_many_names(name: str, trigger: str, moment: Moment | None) -> None:
    event = read_event(json.dumps({"hook_event_name": name, "trigger": trigger}).encode())
    assert (event.moment if event else None) is moment


def test_an_agent_of_its_own_and_a_session_that_goes_on_are_seen() -> None:
    said = {"hook_event_name": "SessionStart", "session_id": "s", "agent_id": "a", "source": "resume", "cwd": "/x"}
    event = read_event(json.dumps(said).encode())
    assert event is not None
    assert (event.session, event.agent, event.is_resumed, event.cwd) == ("s", "a", True, "/x")
