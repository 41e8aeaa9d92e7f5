"""Test the server as a process over pipes: its output, its end, and clients that die or never read an answer."""

import http.client
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
from served import HEADERS, serving
from write.agents import context, entries, project

_CLIENT = {"name": "tests", "version": "1"}
_HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": _CLIENT}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return memory(tmp_path / "repo")


@contextmanager
def running(cwd: Path, program: str = "") -> Iterator[subprocess.Popen[bytes]]:
    """Start the server, or a program that starts it, and kill it at the end."""
    command = [sys.executable, *(["-c", program] if program else ["-m", "mdmem", "mcp"])]
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
    send(server, line("initialize", **_HELLO))
    answer = received(server)
    send(server, line("notifications/initialized", None))
    return answer


@pytest.fixture
def server(repository: Path) -> Iterator[subprocess.Popen[bytes]]:
    with running(repository) as started:
        hello(started)
        yield started


def send(server: subprocess.Popen[bytes], data: bytes) -> None:
    assert server.stdin is not None
    server.stdin.write(data)
    server.stdin.flush()


def received(server: subprocess.Popen[bytes]) -> dict[str, Any]:
    assert server.stdout is not None
    answer: dict[str, Any] = json.loads(server.stdout.readline())
    return answer


def asking(number: int, tool: str, **arguments: Any) -> bytes:
    return line("tools/call", number, name=tool, arguments=arguments)


@pytest.mark.parametrize("mode", ERAS)
def test_client_gets_each_entry_in_full_only_once(repository: Path, mode: str) -> None:
    async def work(client: Client) -> tuple[set[str], list[str]]:
        names = {tool.name for tool in (await client.list_tools()).tools}
        return names, [text(await client.call_tool("retrieve", {"query": "threads"})) for _ in range(2)]

    before = snapshot(repository)
    names, (first, second) = with_client(process(repository), work, mode=mode)
    assert snapshot(repository) == before, "reading changes no file"
    assert {"retrieve", "search", "propose"} <= names
    assert "\n> Navigation uses two threads." in first
    assert "\nAlready shown: nav/rules/callbacks, nav/architecture/threads\n" in second
    assert "> Navigation" not in second


def test_instructions_say_how_to_list_every_tool(repository: Path) -> None:
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

    # Half the limit for the index, two attempts, one for lines from outside the memory, and a second for the rest.
    assert with_client(process(root.parent, "--profile", "test"), work) < 0.5 + 2 * 1 + 1 + 1


def test_a_wing_limits_what_is_seen(repository: Path) -> None:
    said = error(call(process(repository, "--wing", "arm"), "why", address="nav/rules/callbacks"))
    assert "there is no entry `nav/rules/callbacks`" in said


def test_message_that_cannot_be_parsed_is_answered(server: Any) -> None:
    # A text has half of a surrogate pair, or quotes the key of an ID.
    for sent, code, request in (
        (asking(7, "search", query="\ud800", error="x"), -32700, 7),
        (asking(7, "search", query='"id": 8,\ud800'), -32700, 7),
        (asking(7, "search", query=["\0"]).replace(b"\\u0000", b"\0"), -32700, 7),
        (asking(7, "search", query="N").replace(b'"N"', b"9" * 5000), -32700, 7),
        (asking(7, "search", query="N").replace(b'"N"', b"[" * 5000 + b"]" * 5000), -32700, 7),
        (b'{"id": "\xff", "method": "ping", "params": []}\n', -32600, "\ufffd"),
        (b'{"id": 1, "method": "x", "params": {"id": 2}}\n', -32600, None),
        (b"\n[1]\n", -32600, None),
        # The ID itself is not JSON: a number that begins with 0, other digits, and a control character.
        *((f'{{"id": {one}, "method": "x"}}\n'.encode(), -32700, None) for one in ("07", "٧", '"\x1b"')),
        (b'{"jsonrpc": "2.0", "error": 1}\nno JSON\n', -32700, None),
    ):
        send(server, sent)
        answer = received(server)
        assert (answer["error"]["code"], answer["id"]) == (code, request)
    assert server.communicate(timeout=10)[0] == b""


def test_request_before_the_end_of_input_is_answered(server: Any) -> None:
    send(server, asking(2, "search", query="threads"))
    received(server)
    out, _ = server.communicate(asking(3, "search", query="threads"), timeout=10)
    assert "nav/architecture/threads" in json.loads(out)["result"]["content"][0]["text"]


def with_why(*lines: str) -> str:
    """Return a program that starts the server with these lines as the body of the function `why`."""
    body = "".join(f"    {line}\n" for line in lines)
    return (
        "import os, subprocess, sys, time\n"
        "from mdmem.mcp.tools import core as tools\n"
        f"why = tools.why\ndef other(workspace, name):\n{body}tools.why = other\n"
        "from mdmem.cli.main import run\nrun(['mcp'])\n"
    )


def test_process_ends_during_an_endless_call(repository: Path) -> None:
    program = with_why("print('here', file=sys.stderr, flush=True)", "time.sleep(60)")
    with running(repository, program=program) as server:
        hello(server)
        send(server, asking(2, "why", address="threads"))
        assert server.stderr.readline() == b"here\n"
        server.stdin.close()
        assert server.wait(5) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_process_without_a_traceback(server: Any, number: signal.Signals) -> None:
    server.send_signal(number)
    assert server.wait(5) == -number
    assert b"Traceback" not in server.stderr.read()


def test_output_of_a_tool_is_not_on_standard_output(repository: Path) -> None:
    program = with_why(
        "print('printed')",
        "sys.stdout.write('without an end')",
        "os.write(1, b'by the system')",
        "subprocess.run([sys.executable, '-c', 'print(\"by a child\")'])",
        "return why(workspace, name)",
    )
    with running(repository, program=program) as server:
        hello(server)
        send(server, asking(2, "why", address="threads"))
        first = received(server)
        out, err = server.communicate(timeout=10)
    assert first["id"] == 2
    assert out == b""
    assert all(text in err for text in (b"printed", b"without an end", b"by the system", b"by a child"))


@pytest.mark.long
def test_cancelled_call_does_not_stop_the_next(server: Any) -> None:
    cancelled = line("notifications/cancelled", None, requestId=2)
    send(server, asking(2, "check") + cancelled + line("ping", 3))
    assert received(server)["id"] in (2, 3)
    server.stdin.close()
    assert server.wait(10) == 0


@pytest.mark.long
def test_unread_output_does_not_delay_the_end(server: Any) -> None:
    send(server, b"".join(line("tools/list", number) for number in range(10, 60)))
    time.sleep(0.5)
    began = time.monotonic()
    server.stdin.close()
    assert (server.wait(10), time.monotonic() - began < 2) == (-signal.SIGTERM, True)


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="looks for the process under /proc")
def test_server_ends_if_its_client_is_killed_during_a_call(repository: Path) -> None:
    client = (
        "import os, subprocess, sys\n"
        "server = subprocess.Popen([sys.executable, '-m', 'mdmem', 'mcp'], stdin=-1, stdout=-1)\n"
        f"server.stdin.write({line('initialize', 1, **_HELLO)!r})\n"
        "server.stdin.flush()\n"
        "server.stdout.readline()\n"
        f"server.stdin.write({asking(2, 'check')!r} * 20)\n"
        "server.stdin.flush()\n"
        "print(server.pid, flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    command = [sys.executable, "-c", client]
    killed = subprocess.run(command, cwd=repository, env=environment(), capture_output=True, check=False)
    until = time.monotonic() + 5
    while is_running(int(killed.stdout)) and time.monotonic() < until:
        time.sleep(0.02)
    assert not is_running(int(killed.stdout))


def is_running(number: int) -> bool:
    try:
        state = Path(f"/proc/{number}/stat").read_bytes().rpartition(b")")[2].split()[0]
    except OSError:
        return False
    return state != b"Z"


def test_unreadable_settings_do_not_stop_the_server(repository: Path) -> None:
    write(repository, "memory/mdmem.toml", "profile = [\n")
    answer = facts(call(process(repository), "retrieve", format="json", query="threads"))
    assert answer["problems"][0]["code"] == "settings-invalid"
    assert len(answer["items"]) == 2


def test_client_that_closes_its_output_ends_the_process_quietly(server: Any) -> None:
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


def test_call_repeated_after_a_lost_answer_leaves_one_entry(tmp_path: Path) -> None:
    root, asked = project(tmp_path), asking(1, "save_context", context=context(), project_id="nav")
    # The answer waits until the client is gone.
    waits = f"whole(*a, **k); [time.sleep(0.01) for _ in range(3000) if not os.path.exists({str(tmp_path / 'gone')!r})]"
    lines = (
        "from mdmem.write import save as m; whole=m.write_new_entry\n"
        f"def other(*a, **k): {waits}\nm.write_new_entry = other"
    )
    with serving(root, before=f"import os, time; exec({lines!r}, globals())") as server:
        gone = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        gone.request("POST", "/mcp", asked, HEADERS)
        until = time.monotonic() + 30
        while not entries(root) and time.monotonic() < until:
            time.sleep(0.02)
        gone.close()
        (tmp_path / "gone").touch()
        answer = server.ask(asked)
        assert (answer.status, "saved" in answer.body) == (200, True), answer
        assert len(entries(root)) == 1
