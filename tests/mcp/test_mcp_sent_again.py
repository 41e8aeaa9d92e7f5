"""Saves whose process died, or whose client went, between the write and the answer: sent again, they are one entry."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import time
from pathlib import Path

from builders import environment
from saving.agents import context, entries, project
from served import HEADERS, Serving, serving

CALL = {"name": "save_context", "arguments": {"context": context(), "project_id": "nav"}}
DIES = "whole(*a, **k); os.kill(os.getpid(), 9)"
# So that a client is gone by then.
DAWDLES = "whole(*a, **k); [time.sleep(0.01) for _ in range(3000) if not os.path.exists({!r})]"


def doing(then: str) -> str:
    """Return a line of Python that lets something happen once an entry is written."""
    name = "write"
    lines = f"from mdmem.write import save as m; whole=m.{name}\ndef other(*a, **k): {then}\nm.{name} = other"
    return f"import os, time; exec({lines!r}, globals())"


def program(then: str) -> list[str]:
    """Return a command line to which something happens once an entry is written."""
    run = "from mdmem.cli.main import run; import sys; sys.exit(run(sys.argv[1:]))"
    return [sys.executable, "-c", f"{doing(then)}; {run}"]


MDMEM = [sys.executable, "-m", "mdmem"]


def by_stdio(command: list[str], root: Path) -> None:
    """Save by a server of one client."""
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": CALL},
    ]
    server = subprocess.Popen(
        [*command, "mcp", "--profile", "all"],
        cwd=root,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    with server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write("".join(f"{json.dumps(one)}\n" for one in messages).encode())
        server.stdin.flush()
        while (line := server.stdout.readline()) and json.loads(line).get("id") != 2:
            pass
        server.stdin.close()


def test_process_that_dies_between_write_and_answer_leaves_one_entry(tmp_path: Path) -> None:
    root = project(tmp_path)
    by_stdio(program(DIES), root)
    assert len(entries(root)) == 1
    by_stdio(MDMEM, root)
    assert len(entries(root)) == 1


RPC = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": CALL}).encode()


def by_http(server: Serving) -> None:
    """Save by a server of many clients, and wait for its answer."""
    answer = server.ask(RPC)
    assert (answer.status, "saved" in answer.body) == (200, True), answer


def test_client_that_went_before_its_answer_and_asks_again_leaves_one_entry(tmp_path: Path) -> None:
    root = project(tmp_path)
    with serving(root, before=doing(DAWDLES.format(str(tmp_path / "gone")))) as server:
        gone = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        gone.request("POST", "/mcp", RPC, HEADERS)
        until = time.monotonic() + 30
        while not entries(root) and time.monotonic() < until:
            time.sleep(0.02)
        gone.close()
        (tmp_path / "gone").touch()
        by_http(server)
        assert len(entries(root)) == 1
