"""Whether questions with a known record find it: one table over PEPs, KEPs and a folder of decision records.

Asks an installed mdmem as its user does: `retrieve` in JSON and as text, and `search`. Run it with `--program PATH` for
another one. Bytes are those of whole answers; a record is *with text* where its item is more than a line.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import statistics
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from frozen.program import THIS_PROGRAM, Program
from frozen.roots import CORPORA, FOREIGN, SHARED, make_root

# The converter makes records of these statuses active or under review.
CURRENT = ["active", "final", "accepted", "approved", "implemented", "implementable", "stable", "deferred", "review"]
HEADINGS = ("n", "1st", "of 3", "of 6", "text", "MRR", "search MRR", "JSON median", "total", "text median", "total")
LINES = ("line", "given")


@dataclass
class Row:
    """The figures of one kind of question."""

    ranks: list[int] = field(default_factory=list)
    searched: list[int] = field(default_factory=list)
    with_text: int = 0
    sizes: list[int] = field(default_factory=list)
    text_sizes: list[int] = field(default_factory=list)

    def __add__(self, other: Row) -> Row:
        """Return the figures of both."""
        return Row(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(Row)))

    def cells(self) -> list[str]:
        """Return the cells of the table."""
        within = (sum(0 < rank <= most for rank in self.ranks) for most in (1, 3, 6))
        sizes = (figure for one in (self.sizes, self.text_sizes) for figure in (int(statistics.median(one)), sum(one)))
        found = f"{mrr(self.ranks):.3f}", f"{mrr(self.searched):.3f}"
        return [str(len(self.ranks)), *map(str, within), str(self.with_text), *found, *(f"{one:,}" for one in sizes)]


def mrr(ranks: list[int]) -> float:
    """Return the mean reciprocal rank; a rank of 0 means that the record was not found."""
    return statistics.mean(1 / rank if rank else 0 for rank in ranks)


def records(name: str) -> list[dict[str, Any]]:
    """Return every third record of a corpus."""
    with gzip.open(CORPORA[name], "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines][::3]


def questions(name: str) -> Iterator[tuple[str, str, list[str]]]:
    """Yield questions about a corpus: their kind, the words, and the records that govern."""
    if name == "dummies":
        asked = json.loads((SHARED / "corpora/dummies-questions.json").read_text())
    else:
        asked = json.loads(Path(__file__).with_name("lookups.json").read_text())
        asked = [one for one in asked if one["corpus"] == name]
    yield from (("lookups", one["question"], one["governing"]) for one in asked)
    for record in records(name) if name in CORPORA else ():
        if str(record["status"]).lower() in CURRENT and record["body"]:
            yield "own titles", record["title"], [record["id"]]
            if sentence := first_sentence(record["body"]):
                yield "first sentences", sentence, [record["id"]]


def first_sentence(body: str) -> str:
    """Return the first sentence of an abstract or summary."""
    found = re.search(r"^(?:Abstract\n=+|## Summary)\n+(.+?)(?:\.\s|\n\n|\Z)", body, re.MULTILINE | re.DOTALL)
    return " ".join(found[1].split()) if found else ""


def rank(found: list[dict[str, Any]], governing: list[str]) -> int:
    """Return the rank of the first governing record, or 0 if none is found."""
    entry_ids = {re.sub(r"[^a-z0-9]+", "-", one) for one in governing}
    return next((at for at, one in enumerate(found, 1) if one["address"].rsplit("/", 1)[1] in entry_ids), 0)


def measure(name: str, path: Path) -> dict[str, Row]:
    """Return the rows of one corpus."""
    rows: dict[str, Row] = {}
    with tempfile.TemporaryDirectory() as kept, Program(path, Path(kept)) as program:
        root = make_root(name, program, Path(), Path(kept) / "root")
        for kind, words, governing in questions(name):
            row = rows.setdefault(kind, Row())
            out = program.ask(root, "retrieve", "--format", "json", "--", words).out
            items = json.loads(out)["items"]
            row.ranks.append(rank(items, governing))
            row.with_text += bool(rank([one for one in items if one["form"] not in LINES], governing))
            row.sizes.append(len(out.encode()))
            row.text_sizes.append(len(program.ask(root, "retrieve", "--", words).out.encode()))
            row.searched.append(rank(hits(program, root, words), governing))
        whole = [record for record in (records(name) if name in CORPORA else ()) if record["body"]]
        every = ("--include-deprecated", "--include-drafts")
        if whole:
            found = [rank(hits(program, root, one["title"], *every), [one["id"]]) for one in whole]
            print(f"{name}: MRR of {len(whole)} own titles in a search of every status: {mrr(found):.3f}")
    return rows


def hits(program: Program, root: Path, words: str, *options: str) -> list[dict[str, Any]]:
    """Return what a search finds."""
    out = program.ask(root, "search", "--limit", "20", "--format", "json", *options, "--", words).out
    return json.loads(out)["hits"]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, default=THIS_PROGRAM, help="an installed mdmem; default: this one")
    with ThreadPoolExecutor(2) as pool:
        found = zip(FOREIGN, pool.map(partial(measure, path=parser.parse_args().program), FOREIGN), strict=True)
        table = [["", *HEADINGS]]
        rows = {f"{name}, {kind}": row for name, kinds in found for kind, row in kinds.items()}
    rows["all lookups"] = sum((row for name, row in rows.items() if name.endswith("lookups")), Row())
    table += [[name, *row.cells()] for name, row in rows.items()]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for first, *cells in table:
        print(
            first.ljust(widths[0]),
            *(cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True)),
            sep="  ",
        )


if __name__ == "__main__":
    main()
