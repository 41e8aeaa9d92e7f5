"""Clients that do not behave: they die, send rubbish, ask too much at once, or never read what they asked for."""

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from builders import environment, memory

pytestmark = pytest.mark.long

_COMMAND = [sys.executable, "-m", "mdmem", "mcp"]
_CLIENT = {"name": "tests", "version": "1"}
_HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": _CLIENT}
_ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": _CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
}
_RUBBISH = (
    b"\n",
    b"{\n",
    b"null\n",
    b"[1, 2]\n",
    b"\x00\x01\n",
    b"\xff\xfe\n",
    b"[" * 100_000 + b"\n",
    b'{"jsonrpc": "2.0", "id": 1}\n',
    b'{"jsonrpc": "1.0", "id": 9, "method": "ping"}\n',
    b'{"jsonrpc": "2.0", "id": {"a": 1}, "method": "ping"}\n',
    b'{"jsonrpc": "2.0", "id": NaN, "method": "ping"}\n',
    b'{"jsonrpc": "2.0", "id": 1e400, "method": "ping"}\n',
    b'{"jsonrpc": "2.0", "id": "\\ud800", "method": "ping"}\n',
)


class Talk:
    """A server process, and the messages to and from it."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process

    def send(self, *lines: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"".join(lines))
        self.process.stdin.flush()

    def received(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def shake_hands(self) -> None:
        self.send(message("initialize", 1, **_HELLO))
        self.received()
        self.send(message("notifications/initialized", None))

    def end(self) -> tuple[int, float]:
        """Close the input and return the exit code and the seconds until it came."""
        assert self.process.stdin is not None
        began = time.monotonic()
        self.process.stdin.close()
        return self.process.wait(10), time.monotonic() - began


def message(method: str, number: int | None, **parameters: Any) -> bytes:
    stated = {"jsonrpc": "2.0", "method": method, "params": parameters}
    return json.dumps(stated if number is None else stated | {"id": number}).encode() + b"\n"


def call(number: int, tool: str, **arguments: Any) -> bytes:
    return message("tools/call", number, name=tool, arguments=arguments)


@contextmanager
def started(folder: Path) -> Iterator[Talk]:
    pipe = subprocess.PIPE
    where = memory(folder / "repo")
    with subprocess.Popen(_COMMAND, cwd=where, env=environment(), stdin=pipe, stdout=pipe, stderr=pipe) as process:
        try:
            yield Talk(process)
        finally:
            process.kill()


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Talk]:
    with started(tmp_path) as one:
        yield one


def test_rubbish_is_not_answered_and_what_comes_after_it_is(talk: Talk) -> None:
    talk.shake_hands()
    talk.send(*_RUBBISH, message("ping", 777))
    assert talk.received() == {"jsonrpc": "2.0", "id": 777, "result": {}}


def test_a_connection_keeps_to_the_era_in_which_it_began(talk: Talk) -> None:
    talk.send(message("server/discover", 1, _meta=_ENVELOPE))
    assert "2026-07-28" in talk.received()["result"]["supportedVersions"]
    talk.send(message("initialize", 2, **_HELLO))
    assert "2026-07-28" in talk.received()["error"]["message"]
    talk.send(message("tools/list", 3, _meta=_ENVELOPE))
    assert talk.received()["result"]["tools"]


def test_a_huge_request_is_refused_in_words_and_the_next_is_answered(talk: Talk) -> None:
    talk.shake_hands()
    huge = threading.Thread(target=talk.send, args=[call(2, "search", query="x" * 10_000_000)])
    huge.start()
    refused = talk.received()["result"]
    huge.join()
    assert refused["isError"]
    assert "String should have at most 4000 characters" in refused["content"][0]["text"]
    talk.send(message("ping", 3))
    assert talk.received()["id"] == 3


def test_calls_that_are_under_way_do_not_hold_up_the_end(talk: Talk) -> None:
    talk.shake_hands()
    talk.send(*(call(number, "check") for number in range(10, 20)))
    code, seconds = talk.end()
    assert (code, seconds < 2) == (0, True)


def test_output_that_nobody_reads_does_not_hold_up_the_end(talk: Talk) -> None:
    talk.shake_hands()
    talk.send(*(message("tools/list", number) for number in range(10, 60)))
    time.sleep(0.5)
    code, seconds = talk.end()
    assert (code, seconds < 2) == (-signal.SIGTERM, True)


@pytest.mark.skipif(sys.platform != "linux", reason="looks for the process under /proc")
def test_the_server_ends_with_a_client_that_is_killed_in_a_call(tmp_path: Path) -> None:
    client = (
        "import os, subprocess, sys\n"
        f"server = subprocess.Popen({_COMMAND!r}, stdin=-1, stdout=-1)\n"
        f"server.stdin.write({message('initialize', 1, **_HELLO)!r})\n"
        "server.stdin.flush()\n"
        "server.stdout.readline()\n"
        f"server.stdin.write({call(2, 'check')!r} * 20)\n"
        "server.stdin.flush()\n"
        "print(server.pid, flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    command = [sys.executable, "-c", client]
    killed = subprocess.run(command, cwd=memory(tmp_path / "repo"), env=environment(), capture_output=True, check=False)
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


def test_a_call_that_is_cancelled_is_followed_by_the_next(talk: Talk) -> None:
    talk.shake_hands()
    talk.send(call(2, "check"), message("notifications/cancelled", None, requestId=2), message("ping", 3))
    answers = {talk.received()["id"]}
    assert answers <= {2, 3}
    assert talk.end()[0] == 0
