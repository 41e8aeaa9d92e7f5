"""How each kind of question grows with the memory: time and memory at 1,000 to 100,000 healthy generated entries.

    nice python tests/bench/bench_scale.py [--sizes 1000,10000,50000,100000] [--repeats 3]

Times are CPU milliseconds, which other work on the machine hardly touches: the least of a process and of those that it
waited for, or the mean of a server for one call. Memory is the most MiB that a process had, without what was mapped
from files; of a call over MCP it is that of a server that is asked nothing else. The factors are from the first size to
the last; what is known of a size is told on the way.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import anyio
from bench_cli import build, git
from bench_speed import WORDS
from mcp import Client
from mcp.client.stdio import StdioServerParameters

# Runs the command line in a process that says at its end how much memory it had.
PROGRAM = """
import atexit, sys
note = sys.argv.pop(1)
def told():
    lines = dict(line.split(":", 1) for line in open("/proc/self/status"))
    kept = [lines[name].split()[0] for name in ("VmHWM", "RssFile")]
    open(note, "w").write(" ".join(kept))
atexit.register(told)
from mdmem.__main__ import main
main()
"""
AUTHOR = ("-c", "user.name=bench", "-c", "user.email=bench@example.com")
QUESTION = " ".join(WORDS)
ADDRESS = "app/room-3/entry-3"
CALLS: dict[str, dict[str, object]] = {
    "search": {"query": QUESTION},
    "retrieve": {"query": QUESTION, "fresh": True},
    "get_entry": {"addresses": [ADDRESS]},
    "context": {"goal": QUESTION},
}


@dataclass(frozen=True)
class Cost:
    """What one kind of question cost at one size: milliseconds, and mebibytes that were not mapped."""

    milliseconds: float
    mebibytes: float


def told(scratch: Path, folder: Path, *command: str, repeats: int, before: Callable[[int], object]) -> Cost:
    """Return the least that a command cost; `before` is done first and not counted."""
    note = scratch / "told"
    times, peaks = [], []
    for turn in range(repeats):
        before(turn)
        start = children_seconds()
        asked = (sys.executable, "-c", PROGRAM, str(note), *command)
        subprocess.run(asked, cwd=folder, capture_output=True, check=True)
        times.append(1000 * (children_seconds() - start))
        most, mapped = (int(kibibytes) / 1024 for kibibytes in note.read_text().split())
        peaks.append(most - mapped)
    return Cost(min(times), min(peaks))


def children_seconds() -> float:
    """Return the CPU seconds of all processes that were waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measured(scratch: Path, folder: Path, count: int, repeats: int) -> Iterator[tuple[str, Cost]]:
    """Yield what each kind of question costs at one size."""
    changed = folder / f"{ADDRESS}.md"

    def nothing(turn: int) -> None:
        """Leave all as it is."""

    def forget(turn: int) -> None:
        shutil.rmtree(folder / ".git/mdmem", ignore_errors=True)

    def edit(turn: int) -> None:
        changed.write_text(f"{changed.read_text()}Turn zebra{turn}.\n")

    def stage(turn: int) -> None:
        edit(turn)
        git(folder, "add", "-A")

    def cost(*command: str, before: Callable[[int], object] = nothing, times: int = repeats) -> Cost:
        return told(scratch, folder, *command, repeats=times, before=before)

    few = 1 if count > 10_000 else repeats
    yield "--version", cost("--version")
    yield "check, cold", cost("check", before=forget, times=few)
    yield "check, nothing changed", cost("check")
    yield "check --staged, one file", cost("check", "--staged", before=stage)
    yield "first index and search", cost("search", *WORDS, before=forget, times=few)
    # Past the moment in which a file's time says nothing, what was looked at in it is looked at again.
    time.sleep(2.1)
    cost("search", *WORDS, times=1)
    yield "search", cost("search", *WORDS)
    yield "search, one word", cost("search", "measured")
    yield "retrieve", cost("retrieve", *WORDS)
    yield "context", cost("context", *WORDS)
    yield "show, one entry", cost("show", ADDRESS)
    yield "edit, then search", cost("search", "zebra0", before=edit)
    yield "edit, then retrieve", cost("retrieve", *WORDS, before=edit)
    yield "new, one note", cost("new", "note", "what was learned", "--body", "It was measured.", "--dry-run")
    for tool, arguments in CALLS.items():
        first, warm = anyio.run(served, folder, tool, arguments, nothing, repeats)
        if tool == "search":
            yield "MCP start and first search", first
        yield f"MCP {tool}", warm
    for tool in ("search", "retrieve"):
        _, warm = anyio.run(served, folder, tool, CALLS[tool], edit, repeats)
        yield f"MCP edit, then {tool}", warm


async def served(
    folder: Path, tool: str, arguments: dict[str, object], before: Callable[[int], object], repeats: int
) -> tuple[Cost, Cost]:
    """Return what the first call of a server costs, its start included, and a later one; `before` is done first."""
    command = ["-m", "mdmem", "mcp", "--profile", "all"]
    parameters = StdioServerParameters(command=sys.executable, args=command, cwd=str(folder), env=dict(os.environ))
    async with Client(parameters) as client:

        async def call() -> None:
            answer = await client.call_tool(tool, arguments)
            assert not answer.is_error, answer.content[0].text

        await call()
        server = child()
        first, turns = Cost(server_cpu(server), server_peak(server)), 10 * repeats
        # Between these the SDK is imported.
        for _ in range(15):
            await call()
        start = server_cpu(server)
        for turn in range(turns):
            before(turn)
            await call()
        return first, Cost((server_cpu(server) - start) / turns, server_peak(server))


def child() -> Path:
    """Return what the system tells of the server, which is this process's child."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            status, command = (folder / "status").read_text(), (folder / "cmdline").read_text()
        except OSError:
            continue
        if f"PPid:\t{os.getpid()}\n" in status and "mcp" in command.split("\0"):
            return folder
    raise SystemExit("the server is not among the children of this process")


def server_cpu(server: Path) -> float:
    """Return the CPU milliseconds of a server, those of threads that ended included."""
    used = (server / "stat").read_text().rpartition(")")[2].split()[11:13]
    return 1000 * sum(map(int, used)) / os.sysconf("SC_CLK_TCK")


def server_peak(server: Path) -> float:
    """Return the most MiB of a server, without what is mapped."""
    lines = dict(line.split(":", 1) for line in (server / "status").read_text().splitlines())
    most, mapped = (int(lines[name].split()[0]) / 1024 for name in ("VmHWM", "RssFile"))
    return most - mapped


def shown(work: str, costs: list[Cost]) -> str:
    """Return the row of the table."""
    times, peaks = ([getattr(cost, name) for cost in costs] for name in ("milliseconds", "mebibytes"))
    cells = [f"{figure:.0f}" for figure in times] + [f"x{times[-1] / times[0]:.0f}"]
    cells += [f"{figure:.0f}" for figure in peaks] + [f"x{peaks[-1] / peaks[0]:.1f}"]
    return f"| {work} | {' | '.join(cells)} |"


def main() -> None:
    """Print a row for each kind of question."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", default="1000,10000,50000,100000")
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    sizes = list(map(int, given.sizes.split(",")))
    found: dict[str, list[Cost]] = {}
    for count in sizes:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / "memory"
            build(folder, count, paragraphs=False)
            # What is given up on a busy machine is tried again, and would count twice.
            (folder / "mdmem.toml").write_text('default_wing = "app"\n[server]\ntimeout_seconds = 600\n')
            git(folder, *AUTHOR, "commit", "-qam", "time")
            for work, cost in measured(Path(scratch), folder, count, given.repeats):
                found.setdefault(work, []).append(cost)
                told_now = f"{count} {work}: {cost.milliseconds:.0f} ms, {cost.mebibytes:.0f} MiB"
                print(told_now, file=sys.stderr, flush=True)
    heads = [f"{count} ms" for count in sizes] + ["factor"] + [f"{count} MiB" for count in sizes] + ["factor"]
    print(f"| work | {' | '.join(heads)} |\n|{' --- |' * (len(heads) + 1)}")
    for work, costs in found.items():
        print(shown(work, costs))


if __name__ == "__main__":
    main()
