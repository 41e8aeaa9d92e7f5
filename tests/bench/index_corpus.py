"""Synthetic entries of 300 bytes with Zipfian words, the same at every run, and a root of them."""

import random
import subprocess
from itertools import accumulate
from pathlib import Path

WORDS = 60_000
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def build(folder: Path, count: int) -> None:
    """Write a root of entries in a git repository; every tenth supersedes the one before it, both ends stated."""
    drawn = random.Random(1)
    words = ["".join(drawn.choices(_LETTERS, k=drawn.randint(3, 10))) for _ in range(WORDS)]
    weights = list(accumulate(1 / (rank + 10) for rank in range(WORDS)))

    def text(number: int) -> str:
        return " ".join(drawn.choices(words, cum_weights=weights, k=number))

    (folder / "app").mkdir(parents=True)
    (folder / "mdmem.toml").write_text('default_wing = "app"\n')
    (folder / "app" / "README.md").write_text("---\nkind: project\nowners: [team]\n---\n")
    for number in range(count):
        write(folder, number, text(6), text(200)[:300])
    git(folder, "init", "-q")
    commit(folder, "entries")


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


def commit(folder: Path, message: str) -> None:
    """Commit everything."""
    git(folder, "add", "-A")
    git(folder, "-c", "user.name=bench", "-c", "user.email=bench@example.com", "commit", "-q", "-m", message)
