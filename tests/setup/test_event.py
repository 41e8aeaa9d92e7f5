"""What clients hand over at an event, what their model is told and how often, and the limit of time."""

from __future__ import annotations

import json
import os
import select
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from builders import commit_all, make_repository, make_root, open_root, write, write_entry

from mdmem.cli.programs import limited
from mdmem.setup.events import FORMS, Moment, answer_event, read_event
from mdmem.store.workspace.workspace import tally_of

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


RULE, ALWAYS = "shop/contracts/amounts", "shop/contracts/always"


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """Return a repository whose memory has a rule on its code, and one that always holds."""
    top = make_repository(tmp_path / "shop")
    root = make_root(top / "memory", 'default_wing = "shop"\n')
    write(root, "shop/README.md", "---\nkind: project\n---\n")
    write_entry(root, RULE, "Never a float.\n", type="invariant", title="Amounts", applies_to=["src/**"])
    write_entry(root, ALWAYS, "Ask.\n", type="invariant", title="Nobody guesses")
    commit_all(top)
    return top


def told(top: Path, client: str = "claude-code", root: str | None = None, **said: Any) -> str:
    event = {"hook_event_name": "PreToolUse", "session_id": "s", "cwd": str(top), **said}
    if "path" in event:
        event["tool_input"] = {"file_path": event.pop("path")}
    sent: list[str] = []
    environment: Mapping[str, str] = {**os.environ}
    answer_event(
        client, json.dumps(event).encode(), sent.append, environment=environment, root=root, today=date(2026, 11, 22)
    )
    return "".join(sent)


def test_a_rule_is_told_when_its_file_is_edited_and_once(top: Path) -> None:
    answer = json.loads(told(top, path=str(top / "src/pay.py")))["hookSpecificOutput"]
    assert answer["hookEventName"] == "PreToolUse"
    assert f"- invariant {RULE}: Amounts. Never a float." in answer["additionalContext"]
    assert told(top, path="src/other.py") == told(top, path="docs/x.md") == told(top) == ""
    assert RULE in told(top, path="src/pay.py", session_id="t")
    assert RULE in told(top, path="src/pay.py", agent_id="sub")
    assert RULE in told(top, path="src/pay.py", session_id="") == told(top, path="src/pay.py", session_id="")


@pytest.mark.parametrize(
    "after", [{"hook_event_name": "SessionStart", "source": "compact"}, {"hook_event_name": "PostCompact"}]
)
def test_it_is_told_again_when_the_context_was_compacted(top: Path, after: dict[str, str]) -> None:
    told(top, path="src/pay.py")
    told(top, hook_event_name="SessionStart", source="resume")
    assert told(top, path="src/pay.py") == ""
    told(top, **after)
    assert RULE in told(top, path="src/pay.py")


def test_a_session_starts_with_what_always_holds(top: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    own = make_root(tmp_path / "data/mdmem/private/own")
    write_entry(own, "private/notes/mine", "Mine alone.\n", type="invariant", title="Mine alone")
    said = told(top, hook_event_name="SessionStart", source="startup")
    assert f"- invariant {ALWAYS}: Nobody guesses. Ask." in said
    assert "Mine alone" not in said
    assert RULE not in said
    assert "follow when you edit" in said


@pytest.mark.parametrize("client", FORMS)
def test_each_client_reads_the_text_where_it_looks_for_it(client: str, top: Path) -> None:
    said = told(top, client, path="src/pay.py")
    if client == "opencode":
        assert said.startswith("mdmem: ")
    else:
        answer = json.loads(said)
        held = answer.get("hookSpecificOutput", answer)
        assert RULE in held["additional_context" if client == "cursor" else "additionalContext"]
        assert "permissionDecision" not in said


def test_the_memory_is_named_from_the_top_wherever_the_client_stands(top: Path) -> None:
    other = make_root(top / "other")
    write_entry(other, "x/y/z", title="Another")
    commit_all(top)
    (top / "src").mkdir()
    assert RULE in told(top / "src", root="memory", path=str(top / "src/pay.py"))


def test_what_was_told_is_counted_unless_a_setting_forbids_it(top: Path) -> None:
    told(top, path="src/pay.py")
    told(top, path="src/pay.py", session_id="t")
    tally = tally_of(open_root(top / "memory"))
    assert (tally.times, tally.ways) == ({RULE: 2}, {"hook claude-code": 2})
    write(top, "memory/mdmem.toml", 'default_wing = "shop"\nconsultations = false\n')
    told(top, path="src/pay.py", session_id="u")
    assert tally_of(open_root(top / "memory")).times == {}
    write(top, "memory/mdmem.toml", "")
    assert tally_of(open_root(top / "memory")).times == {RULE: 2}


def test_what_a_command_prints_comes_back_and_its_errors_do_not(capfd: pytest.CaptureFixture[str]) -> None:
    assert limited(["sh", "-c", "echo quiet; echo loud >&2; exit 3"], seconds=60) == "quiet\n"
    assert capfd.readouterr() == ("", "")


def test_what_was_printed_in_time_counts_and_every_process_of_the_command_is_ended(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    assert limited(["sh", "-c", f"sleep 60 > '{pipe}' & echo said; wait"], seconds=0.5) == "said\n"
    # A pipe ends when all have gone who could write into it.
    assert select.select([reading], [], [], 30)[0] == [reading]
    assert os.read(reading, 1) == b""
    os.close(reading)
