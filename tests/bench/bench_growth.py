"""How the commands grow: CPU seconds at N and 2N, and the factor between them; 2 is linear, 4 is the square.

    python tests/bench/bench_growth.py [SHARE]

SHARE below 1 makes every shape smaller: 0.1 takes half a minute.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from index_corpus import commit, git

Files = Iterator[tuple[str, str]]
_ENTRY = "---\ntype: {type}\nstatus: {status}\ncreated_at: 2026-01-01\ntitle: {title}\n{more}---\n\n{body}\n"


def _entry(title: str, body: str, *, more: str = "", status: str = "active") -> str:
    type_ = "note" if title == "Hub" else "decision"
    return _ENTRY.format(type=type_, status=status, title=title, more=more, body=body)


def _one_room(count: int) -> Files:
    for number in range(count):
        body = f"Words alpha{number % 97} beta{number % 89} gamma{number}. Rationale: delta{number % 11}."
        yield f"shop/rules/e-{number:05}.md", _entry(f"Topic {number * 7919 % 99991} item {number}", body)


def _wings(count: int) -> Files:
    for number in range(count):
        kind = "shared" if number % 2 else "project"
        yield f"w{number}/README.md", f"---\nkind: {kind}\n---\n"
        yield f"w{number}/rules/e.md", _entry(f"Topic {number}", f"alpha{number} beta. Rationale: x.")


def _same_bodies(count: int) -> Files:
    for number in range(count):
        body = "The same body of all entries here, word by word. " * 4 + "Rationale: x."
        yield f"shop/rules/e-{number:05}.md", _entry(f"Topic {number}", body)


def _chain(count: int) -> Files:
    for number in range(count):
        more = f"supersedes: [shop/rules/e-{number - 1:05}]\nreason: better\n" if number else ""
        is_last = number == count - 1
        if not is_last:
            more += f"superseded_by: shop/rules/e-{number + 1:05}\ndeprecated_at: 2026-01-02\n"
        status = "active" if is_last else "deprecated"
        text = _entry(f"Topic {number}", f"alpha{number}. Rationale: x.", more=more, status=status)
        yield f"shop/rules/e-{number:05}.md", text


def _links_of_one(count: int) -> Files:
    lines = (f"[see: shop/rules/n-{number}] [a](b-{number}.md)" for number in range(count))
    yield "shop/rules/hub.md", _entry("Hub", "\n".join(lines))


_DIFF = ("diff", "HEAD~1..HEAD")
SHAPES = {
    "entries in one room": (_one_room, 10_000, [("check",), ("list",), ("search", "alpha1"), ("status",)]),
    "wings, half shared": (_wings, 1_000, [("check",), ("status",), _DIFF]),
    "entries of one chain": (_chain, 2_000, [("check",), _DIFF, ("mv", "shop/rules/", "shop/more/", "--dry-run")]),
    "links of one body": (_links_of_one, 10_000, [("check",)]),
    "entries of one body": (_same_bodies, 1_000, [("check",), _DIFF]),
}


def _made(folder: Path, files: Files) -> None:
    (folder / "mdmem.toml").touch()
    git(folder, "init", "-q")
    commit(folder, "empty")
    for path, text in [("shop/README.md", "---\nkind: project\n---\n"), *files]:
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    commit(folder, "many")


def _seconds(folder: Path, command: tuple[str, ...]) -> float:
    before = os.times()
    subprocess.run([sys.executable, "-m", "mdmem", *command], cwd=folder, stdout=subprocess.DEVNULL, check=False)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def main() -> None:
    """Print a line for each shape and command."""
    share = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    print(f"{'shape':<22} {'command':<10} {'N':>6} {'s at N':>8} {'s at 2N':>8} {'factor':>7}")
    for name, (files, full, commands) in SHAPES.items():
        count = int(full * share)
        with TemporaryDirectory() as one, TemporaryDirectory() as two:
            _made(Path(one), files(count))
            _made(Path(two), files(2 * count))
            for command in commands:
                small, large = (_seconds(Path(folder), command) for folder in (one, two))
                row = f"{name:<22} {command[0]:<10} {count:>6} {small:>8.2f} {large:>8.2f}"
                print(f"{row} {large / small:>7.1f}", flush=True)


if __name__ == "__main__":
    main()
