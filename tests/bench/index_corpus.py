"""Synthetic entries of 3 KB with Zipfian words, the same at every run."""

import random
from itertools import accumulate

from mdmem.store.index.records import IndexDocument

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
            wing="wing",
            room="room",
            fields={
                "title": (self.text(6),),
                "type": ("decision",),
                "status": ("active",),
                "tags": ("navigation", "executor"),
                "created_at": ("2026-03-05",),
            },
        )

    def documents(self, count: int) -> list[IndexDocument]:
        return [self.document(number) for number in range(count)]

    def question(self) -> str:
        """Return three words of middling frequency, as people ask for."""
        return " ".join(self._words[self._random.randint(100, 3000)] for _ in range(3))
