"""Run the server over HTTP in a separate process, and send requests to it."""

import http.client
import json
import select
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import httpx2
from builders import environment, make_repository, make_root, write, write_entry
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from mdmem.model.access import Access
from mdmem.store.state.tokens import BearerTokens

_START = 60
HEADERS = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}


@dataclass(frozen=True)
class Answer:
    """The server's answer to one request."""

    status: int
    headers: Mapping[str, str]
    body: str


@dataclass(frozen=True)
class Serving:
    """A server that listens, and its process."""

    port: int
    process: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    def ask(self, body: bytes | None = None, *, method: str = "POST", **headers: str) -> Answer:
        """Send one request, by default the handshake; `headers` add or replace headers."""
        stated = HEADERS | {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, "/mcp", json.dumps(INITIALIZE).encode() if body is None else body, stated)
            answer = connection.getresponse()
            named = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, named, answer.read().decode())
        finally:
            connection.close()

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Tell the server to end and return its exit code."""
        self.process.send_signal(number)
        return self.process.wait(20)


@contextmanager
def serving(folder: Path, *arguments: str, limits: str = "", before: str = "pass") -> Iterator[Serving]:
    """Start a server on a free port for a `with` block.

    `limits` are Python statements that set other limits, and `before` runs first in the server's process.
    """
    changed = f"import mdmem.mcp.http as h; {limits or 'pass'}; {before}"
    run = f"{changed}; from mdmem.cli.main import run; import sys; sys.exit(run(sys.argv[1:]))"
    program = ("-c", run) if limits or before != "pass" else ("-m", "mdmem")
    command = [sys.executable, *program, "mcp", "--profile", "all", "--http", *(arguments or ("127.0.0.1:0",))]
    process = subprocess.Popen(command, cwd=folder, env=environment(), stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    try:
        yield Serving(_port(process), process)
    finally:
        process.kill()
        process.wait()
        assert process.stderr is not None
        process.stderr.close()


def _port(process: subprocess.Popen[bytes]) -> int:
    assert process.stderr is not None
    said, until = b"", time.monotonic() + _START
    while b"/mcp\n" not in said:
        ready, _, _ = select.select([process.stderr], [], [], max(0.0, until - time.monotonic()))
        more = process.stderr.read1(65536) if ready else b""
        assert more, f"the server does not listen: {said.decode()}"
        said += more
    return int(said.rsplit(b":", 1)[1].split(b"/")[0])


def talk(url: str, work: Callable[[Client], Awaitable[Any]], *, token: str | None = None, mode: str = "auto") -> Any:
    """Run a function with the SDK's client, and return its result."""

    async def run() -> Any:
        with anyio.fail_after(60):
            return await talking(url, work, token=token, mode=mode)

    return anyio.run(run)


async def talking(
    url: str, work: Callable[[Client], Awaitable[Any]], *, token: str | None = None, mode: str = "auto"
) -> Any:
    """Await a function with the SDK's client, and return its result."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with httpx2.AsyncClient(headers=headers, timeout=30) as http_client:
        transport = streamable_http_client(url, http_client=http_client)
        async with Client(transport, mode=mode) as client:
            return await work(client)


def two_wings(folder: Path) -> Path:
    """Return a root in a repository, with two wings that link to each other."""
    root = make_root(make_repository(folder) / "memory")
    write(root, "app/README.md", "---\nkind: project\n---\n\n# app\n")
    write(root, "vault/README.md", "---\nkind: project\nproject_id: obsidian\n---\n\n# vault\n")
    granite = "Granite holds.\n\nRationale: it was weighed. [see: vault/rules/onyx]\n"
    write_entry(root, "app/rules/granite", granite, type="invariant", see=["vault/rules/onyx"])
    onyx = "Onyx holds.\n\nRationale: it was weighed. [see: app/rules/granite]\n"
    write_entry(root, "vault/rules/onyx", onyx, type="invariant", see=["app/rules/granite"])
    return root


def token_for(root: Path, name: str, *wings: str, may_write: bool = False) -> str:
    """Return a new token for wings of a memory in a repository."""
    access = Access.to_wings(wings, may_write=may_write)
    return BearerTokens(root.parent / ".git/mdmem/state/memory").add(name, access, datetime.now(UTC))
