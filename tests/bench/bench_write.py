"""Writes a second, of one process and of eight at once, beside plain files and `git commit`, in one run.

    python tests/bench/bench_write.py [--entries 100] [--writes 25] [--processes 8] [--repeats 1]

Every way writes the same number of entries into a fresh memory of the same size. Times begin once each process has
imported what it needs and made one write, and end with the last write of the last process; the best of all repeats.
The last column is the time of one write over that of the plain way: the first of the table without a commit, a file
that is written, brought to the disk and renamed; with a commit, that and `git add` and `git commit` of it, tried again
while another process holds git's lock.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench_cli import build, git

from mdmem.change.status import refresh_index
from mdmem.write.create import create_entry

if TYPE_CHECKING:
    from mdmem.store.workspace.workspace import Workspace

Write = Callable[[str], None]


def text_of(name: str) -> str:
    """Return an entry's text, of words of its own."""
    words = " ".join(f"{name}word{number}" for number in range(40))
    front = f"---\ntype: decision\nstatus: draft\ncreated_at: 2026-03-05\ntitle: Choice {name}\n---"
    return f"{front}\n\nWe decided.\n\nRationale: {words}.\n"


def plain(root: Path) -> Write:
    """Return what writes a file, brings it to the disk and renames it."""

    def write(name: str) -> None:
        file = root / "app" / "architecture" / f"{name}.md"
        file.parent.mkdir(exist_ok=True)
        half = file.with_suffix(".half")
        with half.open("w", encoding="utf-8") as stream:
            stream.write(text_of(name))
            stream.flush()
            os.fsync(stream.fileno())
        half.rename(file)

    return write


def plain_commit(root: Path) -> Write:
    """Return what writes a file and commits it, as a script would."""
    write_file = plain(root)

    def is_done(*arguments: str) -> bool:
        return subprocess.run(["git", *arguments], cwd=root, capture_output=True, check=False).returncode == 0

    def write(name: str) -> None:
        write_file(name)
        path = f"app/architecture/{name}.md"
        # Another `git commit` may hold the lock, or write back the index that it read before this `git add`.
        while not (is_done("add", "--", path) and is_done("commit", "-q", "-m", f"Add {name}", "--", path)):
            time.sleep(0.005)

    return write


def opened(root: Path) -> Workspace:
    """Return the workspace of a root, its files not read yet."""
    from mdmem.store.workspace.location import located
    from mdmem.store.workspace.workspace import Workspace

    return Workspace(located(root, "the bench"), dict(os.environ), root, datetime.now(UTC).date())


def create(root: Path, *, commit: bool = False) -> Write:
    """Return what writes as `mdmem new` does."""
    from mdmem.write.write import WriteOptions

    def write(name: str) -> None:
        create_entry(opened(root), f"app/architecture/{name}", text_of(name), options=WriteOptions(commit=commit))

    return write


def create_commit(root: Path) -> Write:
    """Return what writes as `mdmem new --commit` does."""
    return create(root, commit=True)


def save(root: Path) -> Write:
    """Return what writes as an agent does, compared with all that is there."""
    from mdmem.write.save import save as save_record

    workspace = opened(root)

    def write(name: str) -> None:
        words = " ".join(f"{name}word{number}" for number in range(40))
        decision = {"title": f"Choice {name}", "rationale": words}
        found = save_record(workspace, "decision", {"decision": decision, "project_id": "app"})
        if found.status != "saved":
            raise SystemExit(f"{name}: {found.message}")

    return write


def save_commit(root: Path) -> Write:
    """Return what writes as an agent does where every write is committed."""
    return save(root)


WITHOUT = {"plain file": plain, "create": create, "save_decision": save}
WITH = {
    "plain file, git commit": plain_commit,
    "create --commit": create_commit,
    "save_decision, commit": save_commit,
}


def work(way: str, root: str, number: int, writes: int, barrier: Any, spans: Any) -> None:
    """Write as one of many, and tell when it began and when it ended."""
    write = (WITHOUT | WITH)[way](Path(root))
    write(f"p{number}warm")
    barrier.wait(120)
    start = time.time()
    for turn in range(writes):
        write(f"p{number}t{turn}")
    spans.put((start, time.time()))


def seconds(way: str, options: argparse.Namespace, *, processes: int) -> float:
    """Return how long it takes until each process has made all its writes into a fresh memory."""
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "memory"
        build(root, options.entries, paragraphs=False)
        if way in WITH and "save" in way:
            (root / "mdmem.toml").write_text('default_wing = "app"\ncommit = true\n')
        for name, value in (("user.name", "bench"), ("user.email", "bench@example.com"), ("gc.auto", "0")):
            git(root, "config", name, value)
        refresh_index(opened(root))
        barrier, spans = context.Barrier(processes), context.Queue()
        started = [
            context.Process(target=work, args=(way, str(root), number, options.writes, barrier, spans))
            for number in range(processes)
        ]
        for process in started:
            process.start()
        found = [spans.get(timeout=300) for _ in started]
        for process in started:
            process.join()
    return float(max(end for _, end in found) - min(start for start, _ in found))


def show(table: dict[str, Callable[[Path], Write]], options: argparse.Namespace) -> None:
    """Measure some ways and print a line for each."""
    counts = (1, options.processes)
    best: dict[tuple[str, int], float] = {}
    for _ in range(options.repeats):
        for key in ((way, count) for way in table for count in counts):
            best[key] = min(best.get(key, float("inf")), seconds(key[0], options, processes=key[1]))
    first = next(iter(table))
    for way in table:
        cells = [
            f"{count * options.writes / best[way, count]:9.1f} {best[way, count] / best[first, count]:9.1f}"
            for count in counts
        ]
        print(f"{way:<24} {'  '.join(cells)}", flush=True)


def main() -> None:
    """Measure every way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=int, default=100)
    parser.add_argument("--writes", type=int, default=25)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=1)
    options = parser.parse_args()
    # Users have compiled modules; a session that does not write them would time the compiler.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    for name in [name for name in os.environ if name.startswith(("GIT_", "MDMEM_"))]:
        del os.environ[name]
    title = f"{options.entries} entries, {options.writes} writes each"
    print(f"{title:<24} {'1 process':>9} {'x plain':>9}  {options.processes:>2} at once {'x plain':>8}")
    for table in (WITHOUT, WITH):
        show(table, options)


if __name__ == "__main__":
    main()
