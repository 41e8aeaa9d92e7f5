"""What `--at` and the standing cost, in one process.

    python tests/bench/bench_standing.py [--size 10000] [--repeats 7]

Medians of a list of all entries, of a question and of the standing alone, each on a workspace of its own with warm
caches and the index left open: at HEAD, at an older commit by its date, on the default branch, on a branch of 10
commits, with one more entry changed on disk.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

from bench_cli import build, git, write
from msgspec.structs import replace

from mdmem.ask.question import Question
from mdmem.ask.retrieve import retrieve
from mdmem.ask.show import list_entries
from mdmem.change.status import refresh_index
from mdmem.store.workspace.location import located
from mdmem.store.workspace.proposals import find_standings
from mdmem.store.workspace.scope import Filters
from mdmem.store.workspace.workspace import Workspace

Verb = Callable[[Workspace], object]
VERBS: dict[str, Verb] = {
    "list": lambda workspace: list_entries(workspace, Filters()),
    "question": lambda workspace: retrieve(workspace, Question(words="database schema")),
}


def opened(folder: Path, cache: str) -> Workspace:
    """Return the workspace of a folder."""
    said = {**os.environ, "XDG_CACHE_HOME": cache}
    return Workspace(located(folder, "a benchmark"), said, folder, date(2026, 11, 21))


def timed(workspace: Workspace, verb: Verb, at: str | None) -> float:
    """Return the seconds of one verb on files that are looked at anew."""
    fresh = replace(workspace.reread(), parsed=type(workspace.parsed)())
    start = time.perf_counter()
    verb(fresh.as_of(at))
    return time.perf_counter() - start


def timed_standing(workspace: Workspace) -> float:
    """Return the seconds of the standing alone, the catalog being there."""
    fresh = workspace.reread()
    assert fresh.catalog.digests
    start = time.perf_counter()
    assert find_standings(fresh) is not None
    return time.perf_counter() - start


def report(title: str, workspace: Workspace, repeats: int, *, at: str | None = None) -> None:
    """Print the medians in milliseconds."""
    told = []
    for name, verb in VERBS.items():
        timed(workspace, verb, at)
        median = statistics.median(timed(workspace, verb, at) for _ in range(repeats))
        told.append(f"{name} {1000 * median:.0f} ms")
    if at is None:
        told.append(f"standing {1000 * statistics.median(timed_standing(workspace) for _ in range(repeats)):.1f} ms")
    print(f"{title:34} {', '.join(told)}")


def commit(folder: Path, message: str) -> None:
    """Commit everything."""
    git(folder, "add", "-A")
    git(folder, "-c", "user.name=bench", "-c", "user.email=bench@example.com", "commit", "-q", "-m", message)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=7)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["GIT_COMMITTER_DATE"] = "2026-01-01T12:00:00Z"
        build(folder, given.size, paragraphs=False)
        git(folder, "branch", "-M", "main")
        os.environ["GIT_COMMITTER_DATE"] = "2026-06-01T12:00:00Z"
        for number in range(10):
            write(folder, given.size + number, f"Later {number}", "Said later.")
        commit(folder, "later")
        workspace = opened(folder, name)
        refresh_index(workspace)
        start = time.perf_counter()
        find_standings(opened(folder, name))
        print(f"first standing, nothing cached: {1000 * (time.perf_counter() - start):.0f} ms, with loading")
        report("on the default branch", workspace, given.repeats)
        report("--at HEAD", workspace, given.repeats, at="HEAD")
        report("--at 2026-03-01", workspace, given.repeats, at="2026-03-01")
        git(folder, "checkout", "-q", "-b", "feature")
        for number in range(10):
            write(folder, 2 + 10 * number, f"Other {number}", "Said in another way.")
            commit(folder, f"other {number}")
        report("on a branch of 10 changed entries", workspace, given.repeats)
        write(folder, 3, "Changed", "Changed on disk.")
        report("and one changed on disk", workspace, given.repeats)
        listed = ["git", "ls-tree", "-r", "HEAD"]
        start = time.perf_counter()
        subprocess.run(listed, cwd=folder, check=True, capture_output=True)
        print(f"git ls-tree alone: {1000 * (time.perf_counter() - start):.0f} ms")


if __name__ == "__main__":
    main()
