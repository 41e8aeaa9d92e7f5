"""The command line against a bare interpreter, `git grep` and a plain read of the same files, in one run.

    python tests/bench/bench_cli.py [--sizes 1000,10000] [--repeats 5]

Prints ratios; a bare interpreter is 1. Medians of whole processes, in turns, so that a loud machine hits all alike.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from index_corpus import Corpus

READ = "import os,sys\nfor f,_,n in os.walk(sys.argv[1]):\n for x in n:\n  open(os.path.join(f,x),'rb').read()"
HEADS = ("pydantic", "whoosh", "git", "mcp", "yaml", "frontmatter")


def build(folder: Path, count: int, *, paragraphs: bool) -> None:
    """Write a root of entries in a git repository; every tenth supersedes the one before it, both ends stated."""
    corpus = Corpus()
    (folder / "app").mkdir(parents=True)
    (folder / "mdmem.toml").write_text('default_wing = "app"\n')
    (folder / "app" / "README.md").write_text("---\nkind: project\nowners: [team]\n---\n")
    for number in range(count):
        document = corpus.document(number)
        body = document.body if paragraphs else document.body.split("\n\n")[1][:300]
        write(folder, number, document.fields["title"][0], body)
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "-c", "user.name=bench", "-c", "user.email=bench@example.com", "commit", "-q", "-m", "entries")


def write(folder: Path, number: int, title: str, body: str) -> None:
    """Write one entry in one of eight rooms."""

    def address(other: int) -> str:
        return f"app/room-{other % 8}/entry-{other}"

    fields = ["type: decision", "created_at: 2026-03-05", f"title: {title}", "owner: team", "tags: [api, core]"]
    if number % 10 == 0:
        fields += ["status: active", f"supersedes: [{address(number + 1)}]", "reason: it did not scale"]
    elif number % 10 == 1:
        fields += ["status: deprecated", "deprecated_at: 2026-03-06", f"superseded_by: [{address(number - 1)}]"]
    else:
        fields += ["status: active", f"see: [{address(number // 10 * 10)}]"]
    path = folder / f"{address(number)}.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(["---", *fields, "---", "", body, "", "Rationale: measured.", ""]))


def git(folder: Path, *arguments: str) -> None:
    """Run git in a folder."""
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)


def timed(command: list[str], folder: Path) -> float:
    """Return the seconds of one process."""
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.perf_counter() - start


def in_turns(commands: dict[str, list[str]], folder: Path, repeats: int) -> dict[str, float]:
    """Return the median of each command, all run in turns."""
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(repeats):
        for name, command in commands.items():
            taken[name].append(timed(command, folder))
    return {name: statistics.median(values) for name, values in taken.items()}


def show(title: str, taken: dict[str, float], bare: float) -> None:
    """Print one block of ratios."""
    print(f"\n{title}")
    for name, seconds in taken.items():
        print(f"  {name:<34} x{seconds / bare:6.1f}   {seconds * 1000:8.0f} ms")


def imported(folder: Path, *arguments: str) -> list[str]:
    """Return which of the heavy libraries a command imports."""
    command = [sys.executable, "-X", "importtime", "-m", "mdmem", *arguments]
    said = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stderr
    names = {line.rsplit("|", 1)[-1].strip() for line in said.splitlines() if line.startswith("import time:")}
    return [head for head in HEADS if head in names]


def measure(folder: Path, count: int, repeats: int) -> None:
    """Measure one root."""
    python = sys.executable
    mdmem = [python, "-m", "mdmem"]
    bare = in_turns({"bare": [python, "-c", "pass"]}, folder, repeats * 2)["bare"]
    first = timed([*mdmem, "status", "--rebuild"], folder)
    show(f"{count} entries: first index", {"mdmem status --rebuild": first}, bare)
    time.sleep(2.1)  # past the moment in which a file's time says nothing
    timed([*mdmem, "search", "warm", "up"], folder)
    commands = {
        "bare interpreter": [python, "-c", "pass"],
        "mdmem --version": [*mdmem, "--version"],
        "mdmem --help": [*mdmem, "--help"],
        "plain read of the files": [python, "-c", READ, str(folder / "app")],
        "git grep -il of three words": ["git", "grep", "-il", "-e", "measured", "-e", "core", "-e", "scale"],
        "mdmem check": [*mdmem, "check"],
        "mdmem search, warm": [*mdmem, "search", "measured", "core", "scale"],
        "mdmem retrieve, warm": [*mdmem, "retrieve", "measured", "core", "scale"],
    }
    show(f"{count} entries", in_turns(commands, folder, repeats), bare)
    changed = folder / "app" / "room-3" / "entry-3.md"
    taken = []
    for turn in range(repeats):
        changed.write_text(changed.read_text() + f"\nTurn {turn} zebra.\n")
        taken.append(timed([*mdmem, "search", "zebra"], folder))
    show(f"{count} entries, one changed", {"mdmem search": statistics.median(taken)}, bare)


def main() -> None:
    """Measure every size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1000,10000")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    # Users have compiled modules; a session that does not write them would time the compiler.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        del os.environ[name]
    for count in map(int, options.sizes.split(",")):
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / "memory"
            build(folder, count, paragraphs=False)
            measure(folder, count, options.repeats)
            if count <= 1000:
                for arguments in (["--help"], ["--version"], ["check"], ["search", "core"]):
                    heavy = ", ".join(imported(folder, *arguments)) or "none of them"
                    print(f"  `mdmem {' '.join(arguments)}` imports {heavy}")


if __name__ == "__main__":
    main()
