"""The editors' server: from a change to the findings of two open files, and what it costs.

    python tests/bench/bench_lsp.py [--sizes 1000,10000] [--edits 30]

The words of the output: `initialize` and `first` are milliseconds until the first answer and the first findings, `p50`
and `p90` from a change to the findings that it makes in its own file and in an open neighbour, `cpu` the processor's
time of the server for one change, `MB` its memory in the end.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[1] / "lsp")]

from bench_cli import build  # noqa: E402
from editors import Editor  # noqa: E402  # it lies beside the tests

# The second names the first in `see`.
OWN, NEIGHBOUR = "app/room-2/entry-10.md", "app/room-4/entry-12.md"
ENDED = "status: deprecated\ndeprecated_at: 2026-03-06\nsuperseded_by: [app/room-1/entry-1]"


def cpu(process: int) -> float:
    """Return the seconds that a process took so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def megabytes(process: int) -> int:
    """Return the memory that a process holds."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") >> 20


def measured(folder: Path, edits: int) -> dict[str, float]:
    """Return the figures of one server over a memory."""
    editor = Editor(folder, program=sys.executable)
    start = time.perf_counter()
    editor.start()
    initialized = time.perf_counter()
    editor.open(OWN)
    editor.open(NEIGHBOUR)
    editor.wait(lambda: editor.codes(OWN) is not None and editor.codes(NEIGHBOUR) is not None)
    first = time.perf_counter()
    server = editor.client._server.pid
    text = (folder / OWN).read_text(encoding="utf-8")
    before, took = cpu(server), []
    for number in range(edits):
        is_ended = number % 2 == 0
        began = time.perf_counter()
        editor.change(OWN, text.replace("status: active", ENDED) if is_ended else text, number + 2)
        editor.wait(lambda ended=is_ended: ("link-to-superseded" in editor.codes(NEIGHBOUR)) is ended)
        took.append((time.perf_counter() - began) * 1000)
    took.sort()
    figures = {
        "initialize": (initialized - start) * 1000,
        "first": (first - initialized) * 1000,
        "p50": statistics.median(took),
        "p90": took[int(len(took) * 0.9)],
        "cpu": (cpu(server) - before) / edits * 1000,
        "MB": megabytes(server),
    }
    editor.stop()
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1000,10000")
    parser.add_argument("--edits", type=int, default=30)
    given = parser.parse_args()
    for size in map(int, given.sizes.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            build(Path(folder).resolve(), size, paragraphs=False)
            for run in ("cold", "warm"):
                figures = measured(Path(folder).resolve(), given.edits)
                print(size, run, *(f"{name} {value:.0f}" for name, value in figures.items()), flush=True)


if __name__ == "__main__":
    main()
