"""Many calls at once: none fails, over standard input and output and over HTTP."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from builders import environment, memory
from listening import serving
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

pytestmark = pytest.mark.long

_CALLS, _AT_ONCE = 120, 8
_ASKED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("retrieve", {"query": "threads"}),
    ("search", {"query": "callback"}),
    ("why", {"address": "nav/architecture/threads"}),
    ("context", {"goal": "add a thread", "project": "nav"}),
)


@asynccontextmanager
async def client(transport: str, folder: Path) -> AsyncIterator[Client]:
    if transport == "stdio":
        arguments = ["-m", "mdmem", "mcp"]
        told = environment(XDG_DATA_HOME=str(folder / "data"))
        where = str(memory(folder / "repo"))
        async with Client(StdioServerParameters(command=sys.executable, args=arguments, cwd=where, env=told)) as one:
            yield one
        return
    with serving(["-m", "mdmem", "mcp"], folder) as url:
        async with httpx2.AsyncClient(timeout=30) as http, Client(streamable_http_client(url, http_client=http)) as one:
            yield one


async def failures(transport: str, folder: Path) -> list[str]:
    """Return what the calls that failed say."""
    found, limit = [], anyio.Semaphore(_AT_ONCE)

    async with client(transport, folder) as asked:

        async def one(number: int) -> None:
            tool, arguments = _ASKED[number % len(_ASKED)]
            async with limit:
                answer: Any = await asked.call_tool(tool, arguments)
            said = answer.content[0].text
            if answer.is_error or "retrieval_status: failed" in said or "retrieval_status: timed_out" in said:
                found.append(f"{tool}: {said}")

        with anyio.fail_after(100):
            async with anyio.create_task_group() as tasks:
                for number in range(_CALLS):
                    tasks.start_soon(one, number)
    return found


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_no_call_fails_when_many_come_at_once(tmp_path: Path, transport: str) -> None:
    assert anyio.run(failures, transport, tmp_path) == []
