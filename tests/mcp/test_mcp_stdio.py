"""The server as a process over pipes: both eras, an orderly end, and nothing but the protocol on standard output."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from builders import commit_all, environment, make_repository, make_root, memory, snapshot, write, write_entry
from clients import ERAS, call, error, facts, process, text, with_client
from mcp import Client

_HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "tests", "version": "1"},
}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return memory(tmp_path / "repo")


@contextmanager
def running(
    cwd: Path, *arguments: str, program: str = "", interpreter: str | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Start the server, or a program that starts it, and see that it is gone at the end."""
    command = [interpreter or sys.executable, *(["-c", program] if program else ["-m", "mdmem", "mcp", *arguments])]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=cwd, env=environment(), stdin=pipe, stdout=pipe, stderr=pipe) as started:
        try:
            yield started
        finally:
            started.kill()


def line(method: str, number: int | None = 1, **parameters: Any) -> bytes:
    """Return one message of the protocol as a line."""
    message = {"jsonrpc": "2.0", "method": method, "params": parameters}
    return json.dumps(message | ({"id": number} if number is not None else {})).encode() + b"\n"


def hello(server: subprocess.Popen[bytes]) -> dict[str, Any]:
    """Shake hands and return the server's answer."""
    send(server, line("initialize", **_HELLO))
    answer: dict[str, Any] = json.loads(received(server))
    send(server, line("notifications/initialized", None))
    return answer


def send(server: subprocess.Popen[bytes], data: bytes) -> None:
    assert server.stdin is not None
    server.stdin.write(data)
    server.stdin.flush()


def received(server: subprocess.Popen[bytes]) -> bytes:
    assert server.stdout is not None
    return server.stdout.readline()


@pytest.mark.parametrize("mode", ERAS)
def test_a_client_lists_tools_and_is_given_an_entry_whole_once(repository: Path, mode: str) -> None:
    async def work(client: Client) -> tuple[set[str], list[str]]:
        names = {tool.name for tool in (await client.list_tools()).tools}
        return names, [text(await client.call_tool("retrieve", {"query": "threads"})) for _ in range(2)]

    names, (first, second) = with_client(process(repository), work, mode=mode)
    assert {"retrieve", "search", "propose"} <= names
    assert "\n> Navigation uses two threads." in first
    assert "\nAlready shown: [invariant] callbacks; [decision] threads\n" in second
    assert "> Navigation" not in second


def test_instructions_of_the_default_server_name_the_call_that_lists_the_contracts_tools(repository: Path) -> None:
    async def said(client: Client) -> tuple[str, set[str]]:
        return client.instructions or "", {tool.name for tool in (await client.list_tools()).tools}

    instructions, listed = with_client(process(repository), said)
    assert "`mdmem mcp --profile test` lists every tool" in instructions
    _, everything = with_client(process(repository, "--profile", "test"), said)
    assert everything >= {
        *("retrieve_context", "get_scope_state", "context", "remember", "synthesis_plan"),
        *("save_session", "save_decision", "save_pattern", "save_context", "store_session_with_learnings"),
    }
    assert "retrieve_context" not in listed


@pytest.mark.long
def test_time_limit_is_kept_on_a_cold_memory(tmp_path: Path) -> None:
    root = make_root(make_repository(tmp_path / "repo") / "memory", "[server]\ntimeout_seconds = 1\n")
    words = [f"word{number}" for number in range(80)]
    for number in range(9_000):
        text = " ".join(words[number % 70 :])
        write_entry(root, f"nav/room-{number % 30}/entry-{number}", f"{text}.\n", type="note")
    commit_all(root)

    async def work(client: Client) -> float:
        await client.list_tools()
        began = time.monotonic()
        facts(await client.call_tool("retrieve_context", {"project_id": "nav", "topic": "word75"}))
        return time.monotonic() - began

    # Half of it for the index, two attempts, one for lines from outside the memory, and a second for all else.
    assert with_client(process(root.parent, "--profile", "test"), work) < 0.5 + 2 * 1 + 1 + 1


def test_a_wing_limits_what_is_seen(repository: Path) -> None:
    said = error(call(process(repository, "--wing", "arm"), "why", address="nav/rules/callbacks"))
    assert "there is no entry `nav/rules/callbacks`" in said


def test_reading_changes_no_file(repository: Path) -> None:
    before = snapshot(repository)
    facts(call(process(repository), "retrieve", format="json", query="threads"))
    assert snapshot(repository) == before


def test_what_was_asked_before_the_end_of_input_is_answered(repository: Path) -> None:
    with running(repository) as server:
        hello(server)
        send(server, line("tools/call", 2, name="search", arguments={"query": "threads"}))
        received(server)
        asked = line("tools/call", 3, name="search", arguments={"query": "threads"})
        out, _ = server.communicate(asked, timeout=10)
    assert "nav/architecture/threads" in json.loads(out)["result"]["content"][0]["text"]


def test_the_process_ends_though_a_call_goes_on_and_on(repository: Path) -> None:
    program = (
        "import sys, time\n"
        "from mdmem.mcp.tools import core as tools\n"
        "def why(workspace, name):\n"
        "    print('here', file=sys.stderr, flush=True)\n"
        "    time.sleep(60)\n"
        "tools.why = why\n"
        "from mdmem.cli.main import run\n"
        "run(['mcp'])\n"
    )
    with running(repository, program=program) as server:
        hello(server)
        send(server, line("tools/call", 2, name="why", arguments={"address": "threads"}))
        assert server.stderr.readline() == b"here\n"
        server.stdin.close()
        assert server.wait(5) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_process_without_a_traceback(repository: Path, number: signal.Signals) -> None:
    with running(repository) as server:
        hello(server)
        server.send_signal(number)
        assert server.wait(5) == -number
        assert b"Traceback" not in server.stderr.read()


def test_no_child_is_left(repository: Path) -> None:
    with running(repository, interpreter=sys.executable) as server:
        hello(server)
        send(server, line("tools/call", 2, name="why", arguments={"address": "threads"}))
        received(server)
        server.stdin.close()
        server.wait(5)
        listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(server.pid)], capture_output=True, check=False)
        assert listed.stdout.strip() == b""


def test_what_a_handler_prints_is_not_on_standard_output(repository: Path) -> None:
    program = (
        "import os, subprocess, sys\n"
        "from mdmem.mcp.tools import core as tools\n"
        "why = tools.why\n"
        "def printing(workspace, name):\n"
        "    print('printed')\n"
        "    sys.stdout.write('without an end')\n"
        "    os.write(1, b'by the system')\n"
        "    subprocess.run([sys.executable, '-c', 'print(\"by a child\")'])\n"
        "    return why(workspace, name)\n"
        "tools.why = printing\n"
        "print('before', file=sys.stderr)\n"
        "from mdmem.cli.main import run\n"
        "run(['mcp'])\n"
    )
    asked = line("tools/call", 2, name="why", arguments={"address": "threads"})
    with running(repository, program=program) as server:
        hello(server)
        send(server, asked)
        first = received(server)
        out, err = server.communicate(timeout=10)
    assert json.loads(first)["id"] == 2
    assert out == b""
    assert all(text in err for text in (b"printed", b"without an end", b"by the system", b"by a child"))


def test_lines_that_are_no_messages_do_not_end_the_process(repository: Path) -> None:
    with running(repository) as server:
        hello(server)
        send(server, b"\xff\xfe no json\n\n[]\n{}\n" + b"x" * 200_000 + b"\n")
        send(server, line("tools/list", 7))
        assert json.loads(received(server))["id"] == 7


def test_a_corrupt_index_does_not_stop_the_server(repository: Path) -> None:
    facts(call(process(repository), "search", format="json", query="threads"))
    index = repository / ".git/mdmem/cache"
    damaged = [path for path in index.rglob("*") if path.is_file()]
    assert damaged
    for path in damaged:
        path.write_bytes(b"\x80torn")
    assert facts(call(process(repository), "search", format="json", query="threads"))["total"] == 1


def test_settings_that_cannot_be_read_do_not_stop_the_server(repository: Path) -> None:
    write(repository, "memory/mdmem.toml", "profile = [\n")
    answer = facts(call(process(repository), "retrieve", format="json", query="threads"))
    assert answer["problems"][0]["code"] == "settings-invalid"
    assert len(answer["items"]) == 2


def test_the_client_that_goes_before_its_answer_ends_the_process_quietly(repository: Path) -> None:
    with running(repository) as server:
        hello(server)
        server.stdout.close()
        send(server, line("tools/list", 2))
        server.stdin.close()
        assert server.wait(5) == 0
        assert b"Traceback" not in server.stderr.read()


def test_without_the_extra_the_command_says_what_to_type(repository: Path) -> None:
    program = "import sys\nsys.modules['mcp'] = None\nfrom mdmem.cli.main import run\nsys.exit(run(['mcp']))\n"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=repository, env=environment(), capture_output=True, check=False, stdin=-3)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"pip install" in done.stderr
    assert b"[mcp]" in done.stderr
