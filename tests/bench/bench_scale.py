"""How each kind of question grows with the memory: CPU and memory at 1,000 to 100,000 healthy generated entries.

    nice python tests/bench/bench_scale.py [--sizes 1000,10000,50000,100000] [--repeats 3]

Times are least CPU milliseconds of a process and of those that it waited for, of a warm call over MCP least
milliseconds until the answer; the factor says how much more than at the size before. Memory is the most that lay in
RAM, and in brackets how much of it was not mapped from files when the process ended.
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
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import anyio
from bench_cli import build, git
from bench_speed import WORDS, call
from mcp import Client
from mcp.client.stdio import StdioServerParameters

# Runs the command line in a process that says at its end how much memory it had.
PROGRAM = """
import atexit, gc, sys
def told():
    lines = dict(line.split(":", 1) for line in open("/proc/self/status"))
    kept = [lines[name].split()[0] for name in ("VmHWM", "RssAnon")]
    open(sys.argv[0], "w").write(" ".join(kept))
sys.argv = sys.argv[1:]
gc.disable()
from mdmem.cli.main import run
atexit.register(told)
sys.exit(run(sys.argv[1:]))
"""


@dataclass(frozen=True)
class Cost:
    """What one kind of question cost at one size: milliseconds, and mebibytes in all and not mapped."""

    milliseconds: float
    peak: float
    own: float


def told(scratch: Path, folder: Path, *command: str, repeats: int, before: Callable[[int], object]) -> Cost:
    """Return the least that a command cost; `before` is done first and not counted."""
    note = scratch / "told"
    costs = []
    for turn in range(repeats):
        before(turn)
        start = children_seconds()
        asked = (sys.executable, "-c", PROGRAM, str(note), *command)
        subprocess.run(asked, cwd=folder, capture_output=True, check=False)
        peak, own = (int(kibibytes) / 1024 for kibibytes in note.read_text().split())
        costs.append(Cost(1000 * (children_seconds() - start), peak, own))
    return min(costs, key=lambda cost: cost.milliseconds)


def children_seconds() -> float:
    """Return the CPU seconds of all processes that were waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measured(scratch: Path, folder: Path, count: int, repeats: int) -> dict[str, Cost]:
    """Return what each kind of question costs at one size."""
    changed = folder / "app/room-3/entry-3.md"

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
    costs = {"check, cold": cost("check", before=forget, times=few), "check, nothing changed": cost("check")}
    costs["check --staged, one file"] = cost("check", "--staged", before=stage)
    costs["first index and search"] = cost("search", *WORDS, before=forget, times=few)
    costs["search"] = cost("search", *WORDS)
    costs["search, one word"] = cost("search", "measured")
    costs["edit, then found"] = cost("search", "zebra0", before=edit)
    costs["search over MCP"] = anyio.run(served, folder, repeats)
    return costs


async def served(folder: Path, repeats: int) -> Cost:
    """Return what a warm search over MCP costs, with the memory of the server."""
    arguments = ["-m", "mdmem", "mcp", "--profile", "all"]
    parameters = StdioServerParameters(command=sys.executable, args=arguments, cwd=str(folder), env=dict(os.environ))
    async with Client(parameters) as client:
        taken = [await call(client, "search", {"query": " ".join(WORDS)}) for _ in range(3 + repeats)]
        status = dict(line.split(":", 1) for line in server_status().splitlines())
        peak, own = (int(status[name].split()[0]) / 1024 for name in ("VmHWM", "RssAnon"))
    return Cost(1000 * min(taken), peak, own)


def server_status() -> str:
    """Return what the system says of the server, which is this process's child."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            status, command = (folder / "status").read_text(), (folder / "cmdline").read_text()
        except OSError:
            continue
        if f"PPid:\t{os.getpid()}\n" in status and "mcp" in command.split("\0"):
            return status
    raise SystemExit("the server is not among the children of this process")


def main() -> None:
    """Print a row for each kind of question, as far as it is known after each size."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", default="1000,10000,50000,100000")
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    before: dict[str, Cost] = {}
    print("| work | entries | ms | factor | peak MiB (not mapped) | factor |\n| --- | --- | --- | --- | --- | --- |")
    for count in map(int, given.sizes.split(",")):
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / "memory"
            build(folder, count, paragraphs=False)
            time.sleep(2.1)  # past the moment in which a file's time says nothing
            for work, cost in measured(Path(scratch), folder, count, given.repeats).items():
                last = before.get(work, cost)
                more, larger = cost.milliseconds / last.milliseconds, cost.peak / last.peak
                memory = f"{cost.peak:.0f} ({cost.own:.0f})"
                print(
                    f"| {work} | {count} | {cost.milliseconds:.0f} | {more:.1f} | {memory} | {larger:.1f} |", flush=True
                )
                before[work] = cost


if __name__ == "__main__":
    main()
