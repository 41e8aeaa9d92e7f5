"""The documents, answers and errors of the full-text index, which is built on Whoosh.

`fulltext` keeps the index up to date, searches it and ranks the matches. `analysis` turns texts into search terms, and
cuts the text around a match. `query` turns questions into Whoosh queries. `schema` defines the fields and the files.
This module does not import Whoosh.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from msgspec import Struct

Source = Literal["index", "scan", "hub"]


class IndexDocument(Struct, frozen=True):
    """One entry as the index stores it: its address, its file's hash, its Markdown, and its searched fields."""

    key: str
    digest: str
    body: str
    fields: Mapping[str, tuple[str, ...]]


Read = Callable[[Sequence[str]], Iterable[IndexDocument]]
"""A function that reads documents by key; documents that can no longer be read are left out."""


class Corpus(Struct, frozen=True):
    """The documents to search. `live` has their hashes by key; `read` loads some, and `titles` some without bodies."""

    live: Mapping[str, str]
    read: Read
    titles: Read | None = None


Progress = Callable[[int, int], None]
"""A function that is called with the number of documents done, and the number of all documents."""


class Match(NamedTuple):
    """One matching document, with its score and the terms of the question that it contains."""

    key: str
    score: float
    terms: frozenset[str]


class TextAnswer(Struct, frozen=True):
    """The matches of a question, best first; matches with equal scores are sorted by key.

    `terms` are the stems of the question, `words` has the word that the user typed for each. `degraded` says that the
    index could not be used in full, and `why` gives the reason.
    """

    matches: Sequence[Match]
    terms: tuple[str, ...]
    words: Mapping[str, str]
    source: Source
    degraded: bool = False
    why: str | None = None


class RefreshResult(Struct, frozen=True):
    """The numbers of all, of added or updated, and of removed documents. A time limit may end the update early."""

    total: int
    added: int
    removed: int
    rebuilt: bool


class IndexState(Struct, frozen=True, kw_only=True):
    """The state of the index on disk: `stale` counts new and changed files, `gone` deleted ones still in the index."""

    exists: bool = False
    usable: bool = False
    documents: int = 0
    stale: int = 0
    gone: int = 0
    bytes: int = 0
    folder: str = ""
    why: str | None = None


class IndexBusyError(Exception):
    """Another process is writing the index."""


class IndexWriteError(Exception):
    """The index could not be written."""


class QuerySyntaxError(ValueError):
    """A question in the query language is invalid; the message says what was expected."""
