"""The documents, answers and errors of the full-text index; nothing here imports Whoosh."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from msgspec import Struct

Source = Literal["index", "scan", "hub"]


class IndexDocument(Struct, frozen=True):
    """One entry as the index sees it.

    `key` and `digest` (of the content, in hex) together tell whether a document is up to date. `body` is Markdown,
    headings included. `fields` are the texts of the searched fields, by name; dates are ISO text.
    """

    key: str
    digest: str
    body: str
    wing: str
    room: str
    fields: Mapping[str, tuple[str, ...]]


Read = Callable[[Sequence[str]], Iterable[IndexDocument]]
"""Reads documents by key; a key that can no longer be read is left out."""

Progress = Callable[[int, int], None]
"""Is called with the number of documents done, and of all."""


class Match(NamedTuple):
    """One matching document, with the terms of the question that it contains."""

    key: str
    score: float
    terms: frozenset[str]


class TextAnswer(Struct, frozen=True):
    """The matches of a question, best first; equal scores are in order of the key.

    `terms` are the question's distinct stems in order of appearance, `words` the word that the user typed for each.
    """

    matches: Sequence[Match]
    terms: tuple[str, ...]
    words: Mapping[str, str]
    source: Source
    degraded: bool = False
    why: str | None = None


class RefreshResult(Struct, frozen=True):
    """The changes that a refresh made to the index."""

    total: int
    added: int
    removed: int
    rebuilt: bool


class IndexState(Struct, frozen=True, kw_only=True):
    """The index on disk compared with the files: `stale` are missing or changed in it, `gone` have no file any more."""

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
    """A question in query syntax could not be parsed; the message says what was expected."""
