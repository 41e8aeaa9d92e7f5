"""How well questions find what is relevant: Cranfield's judged questions; `lookups.py` asks real records."""

import gzip
import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from mdmem.store.index import Corpus, IndexDocument
from mdmem.store.index.fulltext import FullTextIndex

CORPORA = Path(__file__).resolve().parents[3] / "shared" / "corpora"
TOP = 10

Search = Callable[[str], Sequence[str]]
"""A question to the keys it finds, best first."""


def cranfield_documents() -> list[IndexDocument]:
    """Return the abstracts; the title that each text begins with is taken off it."""
    return [
        _document(record["id"], record["title"], record["text"].removeprefix(record["title"]))
        for record in _records(CORPORA / "cranfield" / "docs.jsonl.gz")
    ]


def cranfield_questions() -> list[tuple[str, frozenset[str]]]:
    """Return each question with the keys of its relevant documents."""
    relevant: dict[str, set[str]] = defaultdict(set)
    for line in (CORPORA / "cranfield" / "qrels.tsv").read_text().splitlines()[1:]:
        question, document, grade = line.split("\t")[:3]
        if grade == "1":
            relevant[question].add(f"w/r/{document}")
    lines = (CORPORA / "cranfield" / "queries.jsonl").read_text().splitlines()
    questions = [json.loads(line) for line in lines]
    return [(q["text"], frozenset(relevant[str(q["id"])])) for q in questions if relevant[str(q["id"])]]


def scan(documents: Sequence[IndexDocument]) -> Search:
    """Return a search over documents in memory."""
    index, by_key = FullTextIndex(None), {document.key: document for document in documents}
    corpus = Corpus(
        {key: document.digest for key, document in by_key.items()}, lambda keys: map(by_key.__getitem__, keys)
    )

    def search(question: str) -> list[str]:
        return [match.key for match in index.search(question, corpus).matches]

    return search


def measure(search: Search, questions: Sequence[tuple[str, frozenset[str]]]) -> dict[str, float]:
    """Return nDCG@10, Recall@10 and the mean reciprocal rank."""
    gains, recalls, ranks = [], [], []
    for question, relevant in questions:
        found = search(question)
        hits = [key in relevant for key in found[:TOP]]
        ideal = sum(1 / math.log2(at + 2) for at in range(min(TOP, len(relevant))))
        gains.append(sum(hit / math.log2(at + 2) for at, hit in enumerate(hits)) / ideal)
        recalls.append(sum(hits) / len(relevant))
        ranks.append(next((1 / at for at, key in enumerate(found, start=1) if key in relevant), 0.0))
    return {name: sum(all_) / len(all_) for name, all_ in (("ndcg", gains), ("recall", recalls), ("mrr", ranks))}


def _records(path: Path) -> Iterator[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        yield from map(json.loads, stream)


def _document(key: object, title: str, body: str) -> IndexDocument:
    stated = {"title": (title,), "type": ("note",), "status": ("active",)}
    return IndexDocument(f"w/r/{key}", "0", body, stated)


def main() -> None:
    """Print the figures."""
    print("cranfield", measure(scan(cranfield_documents()), cranfield_questions()))


if __name__ == "__main__":
    main()
