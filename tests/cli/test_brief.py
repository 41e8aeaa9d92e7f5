"""`mdmem brief` and `mdmem hook-event`: the rules for a file, once a session, and no failure for a client."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from builders import Run, commit_all, environment, make_repository, make_root, run_mdmem, write, write_entry


def with_rule(folder: Path) -> Path:
    """Return a repository whose memory has a rule on its code."""
    top = make_repository(folder / "shop")
    root = make_root(top / "memory")
    write_entry(root, "shop/contracts/amounts", "Never.\n", type="invariant", title="No floats", applies_to=["src/**"])
    write(top, "src/pay.py", "")
    commit_all(top)
    return top


@pytest.fixture
def top(tmp_path: Path) -> Path:
    return with_rule(tmp_path)


def test_a_rule_is_said_once_a_session_and_again_when_that_is_fresh(top: Path, run: Run) -> None:
    def said(*more: str, cwd: Path = top) -> str:
        ran = run("brief", "pay.py", *more, cwd=cwd)
        assert (ran.code, ran.err) == (0, "")
        return ran.out

    assert said() == ""
    assert said("--path", "src/more.py") == said("src/more.py") != ""
    src = top / "src"
    assert "shop/contracts/amounts: No floats. Never." in said("--session", "s", cwd=src)
    assert said("--session", "s", cwd=src) == ""
    assert said("--session", "t", cwd=src) == said(cwd=src) == said("--session", "s", "--fresh", cwd=src) != ""
    assert said("--session", "s", cwd=src) == ""


def test_what_always_binds_is_counted_with_the_question_that_tells_it(top: Path, run: Run) -> None:
    write(top, "docs/pay.md", "")
    write_entry(top / "memory", "shop/contracts/utc", "Only UTC.\n", type="invariant", title="Times are UTC")

    def remarked(*arguments: str) -> str:
        return run("brief", *arguments, cwd=top / "src").err

    there = "1 invariant always applies: `mdmem retrieve --path docs/pay.md` shows it\n"
    assert remarked("../docs/pay.md") == f"no current rule has an `applies_to` that matches; {there}"
    assert remarked("pay.py") == there.replace("docs/pay.md", "src/pay.py")
    assert remarked("pay.py", "--session", "s") == remarked("/elsewhere/x.py") == ""


def test_a_file_that_cannot_be_read_is_one_line_and_no_memory_an_error(top: Path, run: Run) -> None:
    write(top, "memory/shop/contracts/amounts.md", b"\xff\xfe\x00")
    ran = run("brief", "docs/x.md", cwd=top)
    assert (ran.code, len(ran.out.splitlines())) == (0, 1)
    assert "cannot be read" in ran.out
    nowhere = make_repository(top.parent / "empty")
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
