"""Print the table of speed limits: each row is a ratio of medians to a peer, measured in turns in one run.

    python tests/bench/bench_speed.py [--records ROOT] [--short 10000] [--repeats 9] [--only shell,mcp,check,index]

`records` is a memory root of long records; 200 of them and all are measured, each in a copy. `short` entries are
generated. Each question is asked once by a server, so that no answer comes from a cache of answers.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import anyio
from fts5_search import MADE, refresh
from index_corpus import build, commit, git
from mcp import Client
from mcp.client.stdio import StdioServerParameters

MDMEM = (sys.executable, "-m", "mdmem")
HERE = Path(__file__).parent
FTS5 = (sys.executable, str(HERE / "fts5_search.py"))
CLICK = (sys.executable, "-c", "import click")
QUESTIONS = [one["question"] for one in json.loads((HERE / "lookups.json").read_text(encoding="utf-8"))]
WORDS = ["what", "is", "decided", "about", "the", "order", "of", "requests", "and", "their", "version"]
# Without snippets, which take FTS5 longer than the search.
RANKED = "select path, title from entries where entries match ? order by bm25(entries, 0, 5, 1) limit 10"
EMPTY = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("empty", version="1")
def tool(query: str, limit: int = 10) -> str:
    return query
for name in {names!r}:
    server.add_tool(tool, name=name, description="Answers.")
server.run()
"""
LINK = {"type": "string", "pattern": "^[a-z0-9_]+/[a-z0-9-]+/[a-z0-9-]+$"}
LINKS = {"type": "array", "items": LINK, "uniqueItems": True}
DAY = {"type": "string", "format": "date"}
SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "required": ["type", "status", "created_at"],
    "additionalProperties": False,
    "properties": {
        "type": {"enum": ["invariant", "decision", "pattern", "note"]},
        "status": {"enum": ["draft", "active", "under_review", "deprecated"]},
        "title": {"type": "string", "maxLength": 100},
        "owner": {"type": "string"},
        "reason": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
        **dict.fromkeys(("created_at", "deprecated_at"), DAY),
        **dict.fromkeys(("supersedes", "superseded_by", "see"), LINKS),
    },
}
# The largest ratio that is still unnoticed, by row and size; the last row is in MiB.
LIMITS: dict[str, dict[str, float]] = {
    "shell search / click": {"200": 4, "736": 5, "10000": 9},
    "shell retrieve / click": {"200": 4.5, "736": 6.5, "10000": 11},
    "edit, then found / unchanged": {"200": 1.6, "736": 1.6, "10000": 1.6},
    "200 files changed, then found / unchanged": {"736": 6, "10000": 4},
    "MCP search, each once / FTS5 warm": {"736": 13, "10000": 8},
    "MCP retrieve, each once / FTS5 warm": {"736": 13, "10000": 8},
    "MCP start to first answer / empty server": {"200": 1.6, "736": 1.6, "10000": 1.8},
    "check cold / check-jsonschema": {"200": 1.0, "736": 1.0, "10000": 0.25},
    "hook, one file / commit with a no-op hook": {"200": 4, "736": 6, "10000": 9},
    "first index / FTS5": {"200": 10, "736": 12, "10000": 12},
    "reader who cannot write / who can": {"200": 1.3, "736": 1.3, "10000": 1.3},
    "memory of a shell search, MiB": {"200": 60, "736": 80, "10000": 150},
}

Work = Callable[[], float]


@dataclass(frozen=True)
class Memory:
    """A root to measure: its folder, and the size that its limits stand under."""

    folder: Path
    size: str


def show(row: str, memory: Memory, ours: float, theirs: float) -> None:
    """Print one row with its limit."""
    ratio, limit = ours / theirs, LIMITS[row].get(memory.size)
    verdict = "" if limit is None else f"{limit:g} {'' if ratio <= limit else 'OVER'}"
    print(f"| {row} | {memory.size} | {1000 * ours:.0f} | {1000 * theirs:.0f} | {ratio:.2f} | {verdict} |", flush=True)


def medians(works: dict[str, Work], repeats: int) -> dict[str, float]:
    """Return the median of each work, all run in turns."""
    taken: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(repeats):
        for name, work in works.items():
            taken[name].append(work())
    return {name: statistics.median(values) for name, values in taken.items()}


def process(
    folder: Path, *command: str, before: Callable[[], object] = lambda: None, after: Callable[[], object] = lambda: None
) -> Work:
    """Return what times one process; `before` and `after` are not timed."""

    def run() -> float:
        before()
        start = time.perf_counter()
        subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        taken = time.perf_counter() - start
        after()
        return taken

    return run


def settle(folder: Path) -> None:
    """Update the index and the snapshot, long enough after the last change of the files."""
    time.sleep(2.1)
    for _ in range(2):
        subprocess.run([*MDMEM, "search", *WORDS], cwd=folder, check=False, capture_output=True)


@dataclass(frozen=True)
class Edited:
    """Some files that are changed for a row, and put back for the next."""

    folder: Path
    texts: dict[Path, str]

    @classmethod
    def of(cls, folder: Path, count: int) -> Edited:
        """Choose the first files."""
        paths = sorted(folder.glob("*/*/*.md"))[:count]
        return cls(folder, {path: path.read_text(encoding="utf-8") for path in paths})

    def change(self) -> None:
        """Add a word to each."""
        for path, text in self.texts.items():
            path.write_text(f"{text.rstrip(chr(10))} more\n", encoding="utf-8")

    def restore(self) -> None:
        """Put each back."""
        for path, text in self.texts.items():
            path.write_text(text, encoding="utf-8")
        git(self.folder, "update-index", "-q", "--refresh")
        settle(self.folder)


def shell(memory: Memory, repeats: int) -> None:
    """Measure commands with a warm index, after edits, for a reader who cannot write, and their memory."""
    folder = memory.folder
    settle(folder)
    search, retrieve = ((*MDMEM, verb, *WORDS) for verb in ("search", "retrieve"))
    one = Edited.of(folder, 1)
    taken = medians(
        {"click": process(folder, *CLICK), "search": process(folder, *search), "retrieve": process(folder, *retrieve)},
        repeats,
    )
    show("shell search / click", memory, taken["search"], taken["click"])
    show("shell retrieve / click", memory, taken["retrieve"], taken["click"])
    edits = medians({"edit": process(folder, *search, before=one.change, after=one.restore)}, max(3, repeats // 3))
    show("edit, then found / unchanged", memory, edits["edit"], taken["search"])
    if memory.size != "200":
        many = Edited.of(folder, 200)
        edits = medians({"many": process(folder, *search, before=many.change, after=many.restore)}, 3)
        show("200 files changed, then found / unchanged", memory, edits["many"], taken["search"])
    if os.geteuid() != 0:
        cache = folder / ".git/mdmem"
        subprocess.run(["chmod", "-R", "a-w", str(cache)], check=True)
        try:
            read_only = medians({"reader": process(folder, *search)}, repeats)
        finally:
            subprocess.run(["chmod", "-R", "u+w", str(cache)], check=True)
        show("reader who cannot write / who can", memory, read_only["reader"], taken["search"])
    print_peak(memory, search)


def print_peak(memory: Memory, command: tuple[str, ...]) -> None:
    """Print the most memory that a command takes."""
    quiet = "stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL"
    ran = f"import resource,subprocess,sys; subprocess.run(sys.argv[1:], {quiet}); "
    ran += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    done = subprocess.run([sys.executable, "-c", ran, *command], cwd=memory.folder, capture_output=True, check=True)
    row = "memory of a shell search, MiB"
    mebibytes, limit = int(done.stdout) / 1024, LIMITS[row][memory.size]
    print(f"| {row} | {memory.size} | | | {mebibytes:.0f} | {limit:g} {'' if mebibytes <= limit else 'OVER'} |")


def json_schema_check(program: str, memory: Path, folder: Path) -> Work:
    """Write the front matter of each entry as a YAML file, and return what times the check of them all."""
    folder.mkdir()
    (folder / "schema.json").write_text(json.dumps(SCHEMA))
    names = []
    for path in sorted(memory.glob("*/*/*.md")):
        head = path.read_text(encoding="utf-8").split("---\n", 2)[1]
        pairs = (line.partition(": ")[::2] for line in head.splitlines())
        # YAML would take a bare date for a date, and JSON Schema has text alone.
        lines = [f"{key}: '{value}'" if key.endswith("_at") else f"{key}: {value}" for key, value in pairs]
        names.append(f"{path.parent.name}-{path.stem}.yaml")
        (folder / names[-1]).write_text("\n".join([*lines, ""]))
    return process(folder, program, "--schemafile", "schema.json", *names)


def first_answer(command: list[str], folder: Path, query: str) -> float:
    """Return the seconds from the start of a server to its answer to a search."""
    opened = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
    call = {"name": "search", "arguments": {"query": query}}
    messages: list[dict[str, object]] = [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
    ]
    start = time.perf_counter()
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=folder, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        first = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": opened}
        server.stdin.write(json.dumps(first).encode() + b"\n")
        server.stdin.flush()
        server.stdout.readline()
        server.stdin.write(b"".join(json.dumps(message).encode() + b"\n" for message in messages))
        server.stdin.flush()
        answer: dict[str, object] = {}
        while answer.get("id") != 2:
            answer = json.loads(server.stdout.readline())
        taken = time.perf_counter() - start
        assert "result" in answer, answer
        server.kill()
    return taken


def first_index(memory: Memory, repeats: int) -> None:
    """Measure the first index and search against those of FTS5."""
    folder, database = memory.folder, memory.folder.parent / f"{memory.folder.name}-first.db"

    def forget() -> None:
        shutil.rmtree(folder / ".git/mdmem", ignore_errors=True)
        database.unlink(missing_ok=True)

    taken = medians(
        {
            "ours": process(folder, *MDMEM, "search", *WORDS, before=forget),
            "fts5": process(folder, *FTS5, str(database), str(folder), *WORDS, before=forget),
        },
        max(1, repeats // 4),
    )
    show("first index / FTS5", memory, taken["ours"], taken["fts5"])


def served(memory: Memory, repeats: int) -> None:
    """Measure a server's calls, each question once, and its start."""
    folder = memory.folder
    settle(folder)
    if memory.size != "200":
        connection = sqlite3.connect(":memory:")
        connection.executescript(MADE)
        refresh(connection, folder)
        fts5 = []
        for question in QUESTIONS:
            start = time.perf_counter()
            refresh(connection, folder)
            connection.execute(RANKED, (" OR ".join(f'"{word}"' for word in re.findall(r"\w+", question)),)).fetchall()
            fts5.append(time.perf_counter() - start)
        taken = anyio.run(_calls, folder)
        for tool in ("search", "retrieve"):
            show(f"MCP {tool}, each once / FTS5 warm", memory, taken[tool], statistics.median(fts5))
    empty = (sys.executable, "-c", EMPTY.format(names=["search", "retrieve"]))
    began = medians(
        {
            "ours": lambda: first_answer([*MDMEM, "mcp"], folder, " ".join(WORDS)),
            "empty": lambda: first_answer([*empty], folder, " ".join(WORDS)),
        },
        max(3, repeats // 2),
    )
    show("MCP start to first answer / empty server", memory, began["ours"], began["empty"])


async def _calls(folder: Path) -> dict[str, float]:
    command = StdioServerParameters(command=MDMEM[0], args=["-m", "mdmem", "mcp"], cwd=str(folder), env={**os.environ})
    taken: dict[str, list[float]] = {"search": [], "retrieve": []}
    async with Client(command) as client:
        await client.call_tool("search", {"query": "warm"})
        for number, question in enumerate(QUESTIONS):
            tool = ("search", "retrieve")[number % 2]
            start = time.perf_counter()
            await client.call_tool(tool, {"query": question})
            taken[tool].append(time.perf_counter() - start)
    return {tool: statistics.median(values) for tool, values in taken.items()}


def checked(memory: Memory, repeats: int) -> None:
    """Measure a cold check against check-jsonschema, and the hook against a commit with a hook that does nothing."""
    folder = memory.folder
    schema = folder.parent / f"{folder.name}-schema"
    shutil.rmtree(schema, ignore_errors=True)
    program = shutil.which("check-jsonschema", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    forget = lambda: shutil.rmtree(folder / ".git/mdmem", ignore_errors=True)  # noqa: E731
    if program:
        peer = json_schema_check(program, folder, schema)
        taken = medians({"cold": process(folder, *MDMEM, "check", before=forget), "peer": peer}, max(1, repeats // 3))
        show("check cold / check-jsonschema", memory, taken["cold"], taken["peer"])
    settle(folder)
    subprocess.run([*MDMEM, "check"], cwd=folder, capture_output=True, check=False)
    hook = folder / ".git/hooks/pre-commit"
    hook.write_text(f"#!/bin/sh\nexec {sys.executable} -c pass\n")
    hook.chmod(0o755)
    commit = ("git", "-c", "user.name=b", "-c", "user.email=b@example.com", "commit", "-q", "--allow-empty", "-m", "x")
    edit = Edited.of(folder, 1)
    edit.change()
    git(folder, "add", "-A")
    taken = medians(
        {"hook": process(folder, *MDMEM, "check", "--staged"), "commit": process(folder, *commit)}, max(3, repeats // 2)
    )
    hook.unlink()
    show("hook, one file / commit with a no-op hook", memory, taken["hook"], taken["commit"])
    with contextlib.suppress(subprocess.CalledProcessError):
        edit.restore()
        git(folder, "add", "-A")


PARTS = {"shell": shell, "mcp": served, "check": checked, "index": first_index}


def roots(records: Path | None, short: int, kept: Path) -> Iterator[Memory]:
    """Yield copies of the memories to measure."""
    for size in ("200", "736") if records else ():
        folder = kept / f"records-{size}"
        shutil.copytree(records, folder, ignore=shutil.ignore_patterns(".git"))
        for path in sorted(folder.glob("*/*/*.md"))[int(size) :]:
            path.unlink()
        git(folder, "init", "-q")
        commit(folder, "one")
        yield Memory(folder, size)
    if short:
        build(kept / "short", short)
        yield Memory(kept / "short", str(short))


def main() -> None:
    """Print the table."""
    # Else each process compiles all that it imports, ours and the peers'.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--records", type=Path, help="a memory root of real records, which is copied")
    parser.add_argument("--short", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--only", default=",".join(PARTS))
    given = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}; medians of {given.repeats}\n")
    print("| row | entries | ms | peer's ms | ratio | limit |\n| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as kept:
        for memory in roots(given.records, given.short, Path(kept)):
            for part in given.only.split(","):
                PARTS[part](memory, given.repeats)


if __name__ == "__main__":
    main()
