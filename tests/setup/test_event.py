"""Test `mdmem hook-event` and `mdmem brief`: input of clients, answers for the model, repetition and time."""

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from builders import Run, commit_all, environment, make_repository, make_root, open_root, run_mdmem, write, write_entry

from mdmem.cli.programs import run_with_limit
from mdmem.setup.events import FORMS, EventKind, answer_event, read_event
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
    ("name", "trigger", "kind"),
    [
        ("SessionStart", "", EventKind.START),
        ("sessionStart", "", EventKind.START),
        ("AfterTool", "", EventKind.EDIT),
        ("PostCompact", "auto", EventKind.FORGET),
        ("PreCompress", "manual", EventKind.FORGET),
        # Gemini CLI says so before each turn.
        ("PreCompress", "auto", None),
    ],
)
def test_moments_have_many_names(name: str, trigger: str, kind: EventKind | None) -> None:
    event = read_event(json.dumps({"hook_event_name": name, "trigger": trigger}).encode())
    assert (event.kind if event else None) is kind


RULE, ALWAYS = "shop/contracts/amounts", "shop/contracts/always"


def with_rule(folder: Path) -> Path:
    """Return a repository whose memory has a rule on its code."""
    repository = make_repository(folder / "shop")
    write_entry(
        make_root(repository / "memory"), RULE, "Never.\n", type="invariant", title="No floats", applies_to=["src/**"]
    )
    write(repository, "src/pay.py", "")
    commit_all(repository)
    return repository


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """Return a repository whose memory has a rule for its code, and a rule that always applies."""
    top = with_rule(tmp_path)
    write(top, "memory/mdmem.toml", 'default_wing = "shop"\n')
    write_entry(top / "memory", ALWAYS, "Ask.\n", type="invariant", title="Nobody guesses")
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
    assert f"- invariant {RULE}: No floats. Never." in answer["additionalContext"]
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
    write(top, "memory/shop/rules/bad.md", "Bad.\n")
    said = told(top / "src", root="memory", path=str(top / "src/pay.py"))
    assert (RULE in said, "`mdmem --root ../memory check` shows why" in said) == (True, True)


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
    assert run_with_limit(["sh", "-c", "echo quiet; echo loud >&2; exit 3"], seconds=60) == "quiet\n"
    assert capfd.readouterr() == ("", "")


def test_what_was_printed_in_time_counts_and_every_process_of_the_command_is_ended(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    assert run_with_limit(["sh", "-c", f"sleep 60 > '{pipe}' & echo said; wait"], seconds=0.5) == "said\n"
    # A pipe ends when all have gone who could write into it.
    assert select.select([reading], [], [], 30)[0] == [reading]
    assert os.read(reading, 1) == b""
    os.close(reading)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return with_rule(tmp_path)


def test_a_rule_is_said_once_a_session_and_again_when_that_is_fresh(repository: Path, run: Run) -> None:
    def said(*more: str, cwd: Path = repository) -> str:
        ran = run("brief", "pay.py", *more, cwd=cwd)
        assert (ran.code, ran.err) == (0, "")
        return ran.out

    assert said() == ""
    assert said("--path", "src/more.py") == said("src/more.py") != ""
    src = repository / "src"
    assert "shop/contracts/amounts: No floats. Never." in said("--session", "s", cwd=src)
    assert said("--session", "s", cwd=src) == ""
    assert said("--session", "t", cwd=src) == said(cwd=src) == said("--session", "s", "--fresh", cwd=src) != ""
    assert said("--session", "s", cwd=src) == ""


def test_what_always_binds_is_counted_with_the_question_that_tells_it(repository: Path, run: Run) -> None:
    write(repository, "docs/pay.md", "")
    write_entry(repository / "memory", "shop/contracts/utc", "Only UTC.\n", type="invariant", title="Times are UTC")

    def remarked(*arguments: str) -> str:
        return run("brief", *arguments, cwd=repository / "src").err

    there = "invariants that always apply: 1 (`mdmem retrieve --path FILE` shows them)\n"
    assert remarked("../docs/pay.md") == f"no current rule has an `applies_to` that matches; {there}"
    assert remarked("pay.py") == there
    assert remarked("pay.py", "--session", "s") == remarked("/elsewhere/x.py") == ""


def test_a_file_that_cannot_be_read_is_one_line_and_no_memory_an_error(repository: Path, run: Run) -> None:
    write(repository, "memory/shop/contracts/amounts.md", b"\xff\xfe\x00")
    ran = run("brief", "docs/x.md", cwd=repository)
    assert (ran.code, len(ran.out.splitlines())) == (0, 1)
    assert "cannot be read" in ran.out
    nowhere = make_repository(repository.parent / "empty")
    ran = run("brief", "src/pay.py", cwd=nowhere)
    assert (ran.code, ran.out) == (2, "")
    assert "no memory here" in ran.err


# A machine may have much else to do.
PATIENT = "from mdmem.cli import programs\nprograms._SECONDS = 60\n"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    shop = with_rule(tmp_path_factory.mktemp("shop"))
    # Else the first that is timed waits for the process that all are forked from.
    run_mdmem("--version", cwd=shop)
    return shop


def event(shop: Path, **said: str) -> str:
    tool = {"tool_name": "Write", "tool_input": {"file_path": str(shop / "src/pay.py"), "content": "x" * 100_000}}
    return json.dumps({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": str(shop), **tool, **said})


def test_a_rule_comes_in_the_clients_form(shop: Path) -> None:
    ran = run_mdmem("hook-event", "claude-code", cwd=shop, text_in=event(shop), first=PATIENT)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "No floats" in json.loads(ran.stdout)["hookSpecificOutput"]["additionalContext"]


@pytest.mark.parametrize("case", ["no JSON", "no client", "no memory", "a broken one", "a bad day"])
def test_whatever_is_wrong_it_says_nothing_and_fails_nobody(case: str, shop: Path, tmp_path: Path) -> None:
    client, cwd, said, env = "codex", tmp_path, event(tmp_path), {}
    match case:
        case "no JSON":
            cwd, said = shop, "{"
        case "no client":
            client, cwd, said = "emacs", shop, event(shop)
        case "a broken one":
            cwd = make_repository(tmp_path / "broken")
            write(cwd, "memory/mdmem.toml", "")
            write(cwd, ".git/HEAD", b"\xff\x00")
            said = event(cwd)
        case "a bad day":
            cwd, said, env = shop, event(shop, session_id="t"), {"MDMEM_TODAY": "yesterday"}
    started = time.monotonic()
    ran = run_mdmem("hook-event", client, cwd=cwd, text_in=said, env=env)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    assert time.monotonic() - started < 2


def test_input_that_does_not_end_does_not_hold_up_the_client(shop: Path) -> None:
    started = time.monotonic()
    line = [sys.executable, "-m", "mdmem", "hook-event", "codex"]
    with subprocess.Popen(line, cwd=shop, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(event(shop).encode())
        process.stdin.flush()
        assert (process.stdout.read(), process.wait()) == (b"", 0)
    assert time.monotonic() - started < 10


def test_too_much_input_is_read_and_says_nothing(shop: Path) -> None:
    said = event(shop, session_id="much") + " " * 17_000_000
    ran = run_mdmem("hook-event", "codex", cwd=shop, text_in=said, first=PATIENT)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
