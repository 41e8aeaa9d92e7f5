"""The server's first reply against that of an empty SDK server with as many tools, and its rate under load.

    python tests/bench/bench_mcp.py [--sizes 0,1000,10000] [--repeats 7] [--calls 500] [--at-once 8]

Prints ratios of first replies, medians of whole processes that take turns, so that a loud machine hits all alike; the
index is there for all but the first run, and torn for the last row. Then so many calls are made, so many at once.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import anyio
from bench_cli import build
from index_corpus import Corpus
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from mdmem.mcp.tools.table import tools_of

EMPTY = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("empty", version="1")
def tool(query: str, limit: int = 10) -> str:
    return query
for name in {names!r}:
    server.add_tool(tool, name=name, description="Answers.")
server.run()
"""
_OPENINGS = {
    "initialize": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    },
    "server/discover": {
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    },
}


def first_reply(command: list[str], folder: Path, method: str, asked: str = "") -> float:
    """Return the seconds from the start of a process to its first reply, or to its answer to what is then asked."""
    opening = {"jsonrpc": "2.0", "id": 1, "method": method, "params": _OPENINGS[method]}
    call = {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "tools/call",
        "params": {"name": "search", "arguments": {"query": asked}},
    }
    start = time.perf_counter()
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=folder, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps(opening).encode() + b"\n")
        server.stdin.flush()
        answer = json.loads(server.stdout.readline())
        if asked:
            for message in ({"jsonrpc": "2.0", "method": "notifications/initialized"}, call):
                server.stdin.write(json.dumps(message).encode() + b"\n")
            server.stdin.flush()
            answer = {}
            while answer.get("id") != call["id"]:
                answer = json.loads(server.stdout.readline())
        taken = time.perf_counter() - start
        assert "result" in answer, answer
        server.kill()
    return taken


def tear(folder: Path) -> None:
    """Put rubbish in the place of every file of the index."""
    for path in (folder / ".git/mdmem/cache").rglob("*"):
        if path.is_file():
            path.write_bytes(b"\x80torn")


async def rate(folder: Path, calls: int, at_once: int) -> tuple[float, int]:
    """Return calls a second and how many gave an error, after the index is built."""
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "mdmem", "mcp"], cwd=str(folder), env=dict(os.environ)
    )
    corpus, limit, errors = Corpus(), anyio.Semaphore(at_once), 0
    asked = [("search", "query") if number % 2 else ("retrieve", "query") for number in range(calls)]

    async with Client(command) as client:
        await client.list_tools()
        while "Degraded:" in (await client.call_tool("search", {"query": corpus.question()})).content[0].text:
            await anyio.sleep(1)

        async def one(tool: str, name: str) -> None:
            nonlocal errors
            async with limit:
                answer: Any = await client.call_tool(tool, {name: corpus.question()})
                errors += answer.is_error or answer.content[0].text.startswith("retrieval_status: ")

        start = time.perf_counter()
        async with anyio.create_task_group() as tasks:
            for tool, name in asked:
                tasks.start_soon(one, tool, name)
        return calls / (time.perf_counter() - start), errors


def main() -> None:
    """Print first replies and rates for each size."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", default="0,1000,10000")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--calls", type=int, default=500)
    parser.add_argument("--at-once", type=int, default=8)
    given = parser.parse_args()
    names = [tool.name for tool in tools_of("core")]
    empty = [sys.executable, "-c", EMPTY.format(names=names)]
    ours = [sys.executable, "-m", "mdmem", "mcp"]
    for size in map(int, given.sizes.split(",")):
        with tempfile.TemporaryDirectory() as kept:
            folder = Path(kept)
            build(folder, size, paragraphs=True)
            for row in ("whole", "torn"):
                for method in _OPENINGS:
                    taken: dict[str, list[float]] = {"empty": [], "ours": []}
                    for _ in range(given.repeats):
                        taken["empty"].append(first_reply(empty, folder, method))
                        if row == "torn":
                            tear(folder)
                        taken["ours"].append(first_reply(ours, folder, method))
                    one, other = (statistics.median(taken[name]) for name in ("ours", "empty"))
                    print(f"{size:6} entries, index {row}, {method}: {one:.2f} s, {one / other:.2f} of an empty server")
            subprocess.run([sys.executable, "-m", "mdmem", "index"], cwd=folder, check=True, capture_output=True)
            done, errors = anyio.run(rate, folder, given.calls, given.at_once)
            print(f"{size:6} entries: {done:.0f} calls a second at {given.at_once} at once, {errors} errors")


if __name__ == "__main__":
    main()
