"""Memories of an organisation, the same at every run: three wings each, every kind of entry, Zipfian words."""

from __future__ import annotations

import random
from itertools import accumulate
from pathlib import Path

from index_corpus import commit, git

from mdmem.store.index.analysis import ask

WORDS = 60_000
WINGS = ("app", "ops", "platform")
ROOMS = ("architecture", "conventions", "data", "operations")
OWNERS = tuple(f"team-{number}" for number in range(12))
# Of a thousand entries, as in the corpora and in this project's own memory.
_TYPES = (("decision", 560), ("note", 220), ("pattern", 160), ("invariant", 60))
_STATUSES = (("active", 880), ("under_review", 40), ("draft", 80))
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Vocabulary:
    """Words that are their own stems, the common ones first."""

    def __init__(self, seed: int = 1) -> None:
        drawn = random.Random(seed)
        found: dict[str, None] = {}
        while len(found) < WORDS:
            word = "".join(drawn.choices(_LETTERS, k=drawn.randint(5, 10)))
            if ask(word).terms == (word,) and not word.startswith("team"):
                found[word] = None
        self.words = list(found)
        self.weights = list(accumulate(1 / (rank + 10) for rank in range(WORDS)))

    def question(self, drawn: random.Random, count: int = 3) -> str:
        """Return words of middling frequency, as people ask for, now and then a common one."""
        ranks = (drawn.randint(20, 100) if drawn.random() < 0.1 else drawn.randint(100, 3000) for _ in range(count))
        return " ".join(self.words[rank] for rank in ranks)


class Memory:
    """The entries of one repository."""

    def __init__(self, vocabulary: Vocabulary, seed: int) -> None:
        self._vocabulary, self._random = vocabulary, random.Random(seed)

    def write(self, folder: Path, count: int) -> None:
        """Write a memory as a repository with one commit."""
        folder.mkdir(parents=True)
        (folder / "mdmem.toml").write_text('default_wing = "app"\n')
        for wing in WINGS:
            kind = "shared" if wing == "platform" else "project"
            (folder / wing).mkdir()
            owner = self._random.choice(OWNERS)
            (folder / wing / "README.md").write_text(f"---\nkind: {kind}\nowners: [{owner}]\n---\n")
        for number in range(count):
            path = folder / f"{address(number)}.md"
            path.parent.mkdir(exist_ok=True)
            path.write_text(self.entry(number))
        git(folder, "init", "-q", "-b", "main")
        git(folder, "remote", "add", "origin", f"https://example.org/org/{folder.name}.git")
        commit(folder, "entries")

    def entry(self, number: int) -> str:
        """Return the file of an entry; every tenth supersedes the one before it, both ends stated."""
        drawn = self._random
        kind = "decision" if number % 10 < 2 else _drawn(drawn, _TYPES)
        fields = [f"type: {kind}", f"title: {self._text(5)}", f"owner: {drawn.choice(OWNERS)}"]
        fields += [f"created_at: 202{drawn.randint(1, 5)}-0{drawn.randint(1, 9)}-1{drawn.randint(0, 9)}"]
        fields += [f"tags: [area-{drawn.randint(0, 40)}, layer-{drawn.randint(0, 8)}]"]
        if number % 10 == 0:
            fields += ["status: active", f"supersedes: [{address(number + 1)}]", "reason: it did not scale"]
        elif number % 10 == 1:
            fields += ["status: deprecated", "deprecated_at: 2026-03-06", f"superseded_by: [{address(number - 1)}]"]
        else:
            fields += [f"status: {_drawn(drawn, _STATUSES)}"]
            fields += [f"see: [{address(number // 10 * 10)}]"] if drawn.random() < 0.3 else []
            fields += [f"amends: [{address(number // 10 * 10)}]"] if kind == "decision" and number % 10 == 5 else []
        name = f"{self._text(1)}_{self._text(1)}"
        body = (f"{self._text(40)}.", "## Decision", f"{self._text(60)} `{name}`.", "## Why", f"{self._text(45)}.")
        return "\n".join(["---", *fields, "---", "", "\n\n".join(body), "", "Rationale: measured.", ""])

    def _text(self, count: int) -> str:
        words = self._random.choices(self._vocabulary.words, cum_weights=self._vocabulary.weights, k=count)
        return " ".join(words)


def address(number: int) -> str:
    """Return the path of an entry; the entry that it supersedes is in the same wing."""
    wing = WINGS[(0, 0, 0, 1, 1, 2)[number // 10 % 6]]
    return f"{wing}/{ROOMS[number % 4]}/entry-{number}"


def _drawn(drawn: random.Random, shares: tuple[tuple[str, int], ...]) -> str:
    names, weights = zip(*shares, strict=True)
    return str(drawn.choices(names, weights)[0])
