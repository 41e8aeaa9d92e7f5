"""What each kind of question costs beside its peers on the same files, in one run: later work is held to this table.

    python tests/bench/bench_speed.py [--records ROOT] [--short 10000] [--repeats 15] [--only shell,mcp,check,index]

Times are minima of processes or calls that take turns, so that a loud machine hits all alike; each row is a ratio to
the peer that it names. `records` is a memory root of real records, which is copied; `short` entries are generated.
Rows whose peer is not on this machine are left out.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import anyio
from bench_check import of_jsonschema
from bench_cli import build, git
from bench_mcp import EMPTY, first_reply
from mcp import Client
from mcp.client.stdio import StdioServerParameters

MDMEM = (sys.executable, "-m", "mdmem")
FTS5 = (sys.executable, str(Path(__file__).with_name("fts5_search.py")))
CLICK = (sys.executable, "-c", "import click")
WORDS = (
    "what",
    "holds",
    "about",
    "the",
    "order",
    "of",
    "requests",
    "and",
    "their",
    "version",
    "api",
    "core",
    "measured",
)


@dataclass(frozen=True)
class Row:
    """One figure: what was done on which files, its seconds, and those of the peer."""

    work: str
    files: str
    peer: str
    ours: float
    theirs: float

    def shown(self) -> str:
        """Return the row of the table."""
        ratio = f"{self.ours / self.theirs:6.2f}"
        return (
            f"| {self.work} | {self.files} | {1000 * self.ours:8.1f} | {self.peer} {1000 * self.theirs:.1f} | {ratio} |"
        )


Work = Callable[[], float]


def in_turns(works: dict[str, Work], repeats: int) -> dict[str, float]:
    """Return the least of each, all run in turns."""
    taken: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(repeats):
        for name, work in works.items():
            taken[name].append(work())
    return {name: min(values) for name, values in taken.items()}


def nothing() -> None:
    """Do nothing."""


def process(
    folder: Path, *command: str, before: Callable[[], object] = nothing, after: Callable[[], object] = nothing
) -> Work:
    """Return what times one process; `before` and `after` are done and not timed."""

    def run() -> float:
        before()
        start = time.perf_counter()
        subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        taken = time.perf_counter() - start
        after()
        return taken

    return run


class Edit:
    """One file that is edited for a row, and is as it was committed for the next: a row measures what it names."""

    def __init__(self, folder: Path) -> None:
        """Choose the file."""
        self.folder = folder
        self.path = next(folder.glob("*/*/*.md"))
        self.text = self.path.read_text(encoding="utf-8")

    def made(self) -> None:
        """Make the edit."""
        self.path.write_text(f"{self.text.rstrip(chr(10))} more\n", encoding="utf-8")

    def taken_back(self) -> None:
        """Take it back, and let the index and the listing see that."""
        self.path.write_text(self.text, encoding="utf-8")
        git(self.folder, "update-index", "-q", "--refresh")
        subprocess.run([*MDMEM, "search", *WORDS], cwd=self.folder, check=False, capture_output=True)


def shell(name: str, folder: Path, repeats: int) -> Iterator[Row]:
    """Yield the rows of commands with a warm index, against the import of click and against FTS5."""
    database = folder.parent / f"{name}.db"
    subprocess.run([*MDMEM, "search", *WORDS], cwd=folder, check=False, capture_output=True)
    edit = Edit(folder)
    works = {
        "click": process(folder, *CLICK),
        "fts5": process(folder, *FTS5, str(database), str(folder), *WORDS),
        "--version": process(folder, *MDMEM, "--version"),
        "search": process(folder, *MDMEM, "search", *WORDS),
        "retrieve": process(folder, *MDMEM, "retrieve", *WORDS),
        **{
            f"{work} after an edit": process(folder, *MDMEM, work, *WORDS, before=edit.made, after=edit.taken_back)
            for work in ("search", "retrieve")
        },
    }
    ripgrep = shutil.which("rg")
    if ripgrep:
        works["ripgrep"] = process(folder, ripgrep, "-c", "|".join(WORDS[-5:]), str(folder))
    taken = in_turns(works, repeats)
    for work in ("--version", "search", "retrieve"):
        yield Row(work, name, "import click", taken[work], taken["click"])
    yield Row("search", name, "FTS5", taken["search"], taken["fts5"])
    for work in ("search", "retrieve"):
        yield Row(f"{work} after an edit", name, work, taken[f"{work} after an edit"], taken[work])
    if ripgrep:
        yield Row("search", name, "ripgrep", taken["search"], taken["ripgrep"])


def first_index(name: str, folder: Path, repeats: int) -> Iterator[Row]:
    """Yield the first index against that of FTS5."""
    database = folder.parent / f"{name}-first.db"

    def forget() -> None:
        shutil.rmtree(folder / ".git/mdmem", ignore_errors=True)
        database.unlink(missing_ok=True)

    works = {
        "ours": process(folder, *MDMEM, "search", *WORDS, before=forget),
        "fts5": process(folder, *FTS5, str(database), str(folder), *WORDS),
    }
    taken = in_turns(works, max(1, repeats // 5))
    yield Row("first index and search", name, "FTS5", taken["ours"], taken["fts5"])


def served(name: str, folder: Path, repeats: int) -> Iterator[Row]:
    """Yield the rows of warm calls against an empty tool of the same SDK, and the start of the server."""
    empty = (sys.executable, "-c", EMPTY.format(names=["search", "retrieve", "get_entry", "context"]))
    taken = anyio.run(_calls, folder, empty, repeats)
    for tool in ("search", "retrieve", "get_entry", "context"):
        yield Row(f"MCP {tool}", name, "empty tool", taken[tool], taken["empty"])
    more = taken["search after an edit"] - taken["search"]
    yield Row("MCP search after an edit, more", name, "empty tool", more, taken["empty"])
    for work, asked in (("reply", ""), ("answer", " ".join(WORDS))):
        starts = {
            "ours": lambda asked=asked: first_reply([*MDMEM, "mcp"], folder, "initialize", asked),
            "empty": lambda asked=asked: first_reply([*empty], folder, "initialize", asked),
        }
        began = in_turns(starts, max(3, repeats // 3))
        yield Row(f"MCP start to first {work}", name, "empty server", began["ours"], began["empty"])


async def _calls(folder: Path, empty: tuple[str, ...], repeats: int) -> dict[str, float]:
    edit = Edit(folder)
    address = edit.path.relative_to(folder).with_suffix("").as_posix()
    asked: dict[str, dict[str, object]] = {
        "search": {"query": " ".join(WORDS)},
        "retrieve": {"query": " ".join(WORDS), "fresh": True},
        "get_entry": {"addresses": [address]},
        "context": {"goal": " ".join(WORDS)},
    }
    environment = dict(os.environ)
    ours = StdioServerParameters(
        command=MDMEM[0], args=["-m", "mdmem", "mcp", "--profile", "all"], cwd=str(folder), env=environment
    )
    other = StdioServerParameters(command=empty[0], args=list(empty[1:]), cwd=str(folder), env=environment)
    best: dict[str, float] = {}
    async with Client(ours) as client, Client(other) as yardstick:
        for _ in range(2 + repeats):
            for tool, arguments in asked.items():
                best[tool] = min(best.get(tool, 1e9), await call(client, tool, arguments))
            best["empty"] = min(best.get("empty", 1e9), await call(yardstick, "search", {"query": "x"}))
            edit.made()
            taken = await call(client, "search", asked["search"])
            best["search after an edit"] = min(best.get("search after an edit", 1e9), taken)
            edit.taken_back()
            await call(client, "search", asked["search"])
    return best


async def call(client: Client, tool: str, arguments: dict[str, object]) -> float:
    start = time.perf_counter()
    await client.call_tool(tool, arguments)
    return time.perf_counter() - start


def checked(name: str, folder: Path, repeats: int) -> Iterator[Row]:
    """Yield the rows of `check` against check-jsonschema, and of the hook against the import of click."""
    few = max(1, repeats // 5)
    works = {
        "cold": process(
            folder, *MDMEM, "check", before=lambda: shutil.rmtree(folder / ".git/mdmem", ignore_errors=True)
        ),
        "again": process(folder, *MDMEM, "check"),
    }
    jsonschema = shutil.which("check-jsonschema", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if jsonschema:
        peer = of_jsonschema(jsonschema, folder, folder.parent / f"{name}-schema")
        works["peer"] = process(peer.folder, *peer.arguments)
    taken = in_turns(works, few)
    if jsonschema:
        yield Row("check, cold", name, "check-jsonschema", taken["cold"], taken["peer"])
        yield Row("check, nothing changed", name, "check-jsonschema", taken["again"], taken["peer"])
    edit = Edit(folder)
    edit.made()
    git(folder, "add", "-A")
    hook = in_turns(
        {"hook": process(folder, *MDMEM, "check", "--staged"), "click": process(folder, *CLICK)}, max(3, repeats // 3)
    )
    yield Row("check --staged, one file", name, "import click", hook["hook"], hook["click"])
    edit.taken_back()
    git(folder, "add", "-A")


PARTS = {"shell": shell, "mcp": served, "check": checked, "index": first_index}


def main() -> None:
    """Print the table."""
    # Else each process compiles all that it imports, ours and the peers'.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--records", type=Path, help="a memory root of real records, which is copied")
    parser.add_argument("--short", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--only", default=",".join(PARTS))
    given = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}; milliseconds, least of {given.repeats}\n")
    print("| work | files | ms | peer | ratio |\n| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as kept:
        roots = {}
        if given.records:
            roots["records"] = Path(kept) / "records"
            shutil.copytree(given.records, roots["records"], ignore=shutil.ignore_patterns(".git"))
            git(roots["records"], "init", "-q")
            git(roots["records"], "add", "-A")
            git(roots["records"], "-c", "user.name=bench", "-c", "user.email=bench@example.com", "commit", "-qm", "one")
        if given.short:
            roots[f"{given.short} short"] = Path(kept) / "short"
            build(roots[f"{given.short} short"], given.short, paragraphs=False)
        for part in given.only.split(","):
            for name, folder in roots.items():
                for row in PARTS[part](name, folder, given.repeats):
                    print(row.shown(), flush=True)


if __name__ == "__main__":
    main()
