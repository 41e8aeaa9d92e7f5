"""The contracts' reading verbs against `Workspace.retrieve` over the same files, in one process.

    python tests/bench/bench_bundles.py [--size 10000] [--repeats 7]

Prints ratios; a retrieval is 1. Medians, in turns, each on a workspace of its own with the index left open.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

from bench_cli import build

from mdmem.ask.bundle import retrieve_context
from mdmem.ask.question import Question
from mdmem.ask.retrieve import retrieve
from mdmem.ask.surface import get_scope_state, memory_surface
from mdmem.change.status import refresh_index
from mdmem.store.workspace.location import located
from mdmem.store.workspace.workspace import Workspace

Verb = Callable[[Workspace], object]
VERBS: dict[str, tuple[Verb, Verb]] = {
    "without a topic": (
        lambda workspace: retrieve(workspace, Question()),
        lambda workspace: retrieve_context(workspace, project_id="app"),
    ),
    "with a topic": (
        lambda workspace: retrieve(workspace, Question(words="database schema")),
        lambda workspace: retrieve_context(workspace, project_id="app", topic="database schema"),
    ),
    "memory_surface": (
        lambda workspace: retrieve(workspace, Question(words="database schema")),
        lambda workspace: memory_surface(workspace, query="database schema", project_id="app"),
    ),
    "get_scope_state": (
        lambda workspace: retrieve(workspace, Question()),
        lambda workspace: get_scope_state(workspace, project_id="app"),
    ),
}


def timed(workspace: Workspace, verb: Verb) -> float:
    """Return the seconds of one verb on files that are looked at anew."""
    fresh = workspace.reread()
    start = time.perf_counter()
    verb(fresh)
    return time.perf_counter() - start


def main() -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=7)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build(folder, given.size, paragraphs=False)
        said = {**os.environ, "XDG_CACHE_HOME": name}
        workspace = Workspace(located(folder, "a benchmark"), said, folder, date(2026, 11, 21))
        refresh_index(workspace)
        for title, (retrieval, verb) in VERBS.items():
            pairs = [(timed(workspace, retrieval), timed(workspace, verb)) for _ in range(given.repeats)]
            base, ours = (statistics.median(column) for column in zip(*pairs, strict=True))
            print(f"{title:20} {ours / base:5.2f}  ({ours * 1000:.0f} ms against {base * 1000:.0f} ms)")


if __name__ == "__main__":
    main()
