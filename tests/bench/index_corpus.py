"""Synthetic entries of 3 KB with Zipfian words, the same at every run, and a root of them."""

import random
import subprocess
from itertools import accumulate
from pathlib import Path

from mdmem.store.index import IndexDocument

WORDS = 60_000
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Corpus:
    """Entries and questions drawn from one vocabulary."""

    def __init__(self, seed: int = 1) -> None:
        self._random = random.Random(seed)
        self._words = ["".join(self._random.choices(_LETTERS, k=self._random.randint(3, 10))) for _ in range(WORDS)]
        self._weights = list(accumulate(1 / (rank + 10) for rank in range(WORDS)))

    def text(self, count: int) -> str:
        return " ".join(self._random.choices(self._words, cum_weights=self._weights, k=count))

    def document(self, number: int) -> IndexDocument:
        names = f"snake_case_{number % 50} CamelCase{number % 70} src/part{number % 90}.py"
        sections = (f"# {self.text(4)}", self.text(200), f"## {self.text(3)}", f"{self.text(200)} {names}")
        return IndexDocument(
            key=f"wing/room/entry-{number}",
            digest=f"{self._random.getrandbits(64):016x}",
            body="\n\n".join(sections),
            fields={
                "title": (self.text(6),),
                "type": ("decision",),
                "status": ("active",),
                "tags": ("navigation", "executor"),
                "created_at": ("2026-03-05",),
            },
        )


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
