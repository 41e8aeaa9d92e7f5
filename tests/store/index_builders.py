"""Build documents and trees of documents for the tests of the index."""

import os
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from mdmem.store.index import IndexDocument
from mdmem.store.index.fulltext import FullTextIndex

WORDS = (
    *("executor", "thread", "callback", "navigation", "queue", "lock", "retry", "timeout"),
    *("schema", "cache", "token", "wing", "merge", "branch", "review"),
)


def document(key: str, body: str = "", **fields: Any) -> IndexDocument:
    """Return a document with the digest of its content."""
    title = key.rpartition("/")[2].replace("-", " ")
    stated = {"title": title, "type": "decision", "status": "active"} | fields
    texts = {name: (value,) if isinstance(value, str) else tuple(value) for name, value in stated.items()}
    made = IndexDocument(key, "", body, texts)
    return replace(made, digest=sha256(repr(made).encode("utf-8", "surrogatepass")).hexdigest()[:16])


class Tree:
    """A tree of documents for the index, which records the keys that were read."""

    titles = None

    def __init__(self, *documents: IndexDocument) -> None:
        self._documents = {document.key: document for document in documents}
        self.asked: list[str] = []

    @property
    def live(self) -> dict[str, str]:
        return {key: document.digest for key, document in self._documents.items()}

    def read(self, keys: Sequence[str]) -> Iterator[IndexDocument]:
        self.asked += keys
        return (self._documents[key] for key in keys if key in self._documents)

    def put(self, *documents: IndexDocument) -> None:
        self._documents |= {document.key: document for document in documents}

    def drop(self, *keys: str) -> None:
        for key in keys:
            del self._documents[key]


def tree(count: int) -> Tree:
    """Return a tree of documents, each with a few words of its own and some shared words."""
    return Tree(*(numbered(number) for number in range(count)))


def numbered(number: int, *, extra: str = "") -> IndexDocument:
    """Return the document with a number."""
    words = [WORDS[(number * step) % len(WORDS)] for step in range(1, 3 + number % 7)]
    body = f"# About {words[0]}\n\nEntry{number} says {' '.join(words)} in run_{words[-1]}.py. {extra}\n"
    return document(
        f"w/r/e{number}",
        body,
        title=f"{words[-1]} {number}",
        tags=(words[0],),
        created_at=f"2026-03-{number % 28 + 1:02}",
    )


def ask(index: FullTextIndex, made: Tree, question: str = "lock executor") -> tuple[str, bool]:
    """Return the source of an answer and whether it is degraded, and assert that the answer is right."""
    found = index.search(question, made)
    right = FullTextIndex(None).search(question, made)
    assert found.matches == right.matches != []
    assert found.degraded == (found.why is not None)
    return found.source, found.degraded


def kept(made: Tree, folder: Path) -> FullTextIndex:
    """Return an up-to-date index of a tree, in a folder."""
    index = FullTextIndex(folder)
    index.refresh(made)
    made.asked.clear()
    return index


class Planted:
    """Runs code when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.path),)
