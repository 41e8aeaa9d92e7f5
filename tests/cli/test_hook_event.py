"""`mdmem hook-event` as a client runs it: it answers, or says nothing, and never fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from builders import commit_all, environment, make_repository, make_root, run_mdmem, write, write_entry

# A machine may have much else to do.
PATIENT = "from mdmem.cli import programs\nprograms._SECONDS = 60\n"


@pytest.fixture(scope="module")
def top(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository whose memory has a rule on its code."""
    top = make_repository(tmp_path_factory.mktemp("shop") / "shop")
    root = make_root(top / "memory")
    write_entry(root, "shop/contracts/amounts", "Never.\n", type="invariant", title="No floats", applies_to=["src/**"])
    commit_all(top)
    # Else the first that is timed waits for the process that all are forked from.
    run_mdmem("--version", cwd=top)
    return top


def event(top: Path, **said: str) -> str:
    tool = {"tool_name": "Write", "tool_input": {"file_path": str(top / "src/pay.py"), "content": "x" * 100_000}}
    return json.dumps({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": str(top), **tool, **said})


def test_a_rule_comes_in_the_clients_form(top: Path) -> None:
    ran = run_mdmem("hook-event", "claude-code", cwd=top, text_in=event(top), first=PATIENT)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "No floats" in json.loads(ran.stdout)["hookSpecificOutput"]["additionalContext"]


@pytest.mark.parametrize("case", ["no JSON", "no client", "no memory", "a broken one", "a bad day"])
def test_whatever_is_wrong_it_says_nothing_and_fails_nobody(case: str, top: Path, tmp_path: Path) -> None:
    client, cwd, said, env = "codex", tmp_path, event(tmp_path), {}
    match case:
        case "no JSON":
            cwd, said = top, "{"
        case "no client":
            client, cwd, said = "emacs", top, event(top)
        case "a broken one":
            cwd = make_repository(tmp_path / "broken")
            write(cwd, "memory/mdmem.toml", "")
            write(cwd, ".git/HEAD", b"\xff\x00")
            said = event(cwd)
        case "a bad day":
            cwd, said, env = top, event(top, session_id="t"), {"MDMEM_TODAY": "yesterday"}
    started = time.monotonic()
    ran = run_mdmem("hook-event", client, cwd=cwd, text_in=said, env=env)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    assert time.monotonic() - started < 2


def test_a_memory_that_hangs_does_not_hold_up_the_client(top: Path, tmp_path: Path) -> None:
    git = write(tmp_path, "git", "#!/bin/sh\nsleep 60\n")
    git.chmod(0o755)
    started = time.monotonic()
    ran = run_mdmem(
        "hook-event", "codex", cwd=top, text_in=event(top), env={"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    assert time.monotonic() - started < 10


def test_input_that_does_not_end_does_not_hold_up_the_client(top: Path) -> None:
    started = time.monotonic()
    line = [sys.executable, "-m", "mdmem", "hook-event", "codex"]
    with subprocess.Popen(line, cwd=top, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(event(top).encode())
        process.stdin.flush()
        assert (process.stdout.read(), process.wait()) == (b"", 0)
    assert time.monotonic() - started < 10


def test_too_much_input_is_read_and_says_nothing(top: Path) -> None:
    said = event(top, session_id="much") + " " * 17_000_000
    ran = run_mdmem("hook-event", "codex", cwd=top, text_in=said, first=PATIENT)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
