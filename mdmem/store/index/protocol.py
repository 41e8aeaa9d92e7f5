"""The interface of a full-text index: its documents, its answers and its errors."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

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


class FullText(Protocol):
    """Answers questions about the entries of a tree; `live` maps the key of each entry to its digest."""

    def search(
        self,
        question: str,
        *,
        live: Mapping[str, str],
        read: Read,
        among: Collection[str] | None = None,
        filters: Mapping[str, Collection[str]] | None = None,
        syntax: bool = False,
        may_refresh: bool = True,
        read_titles: Read | None = None,
        is_timed: bool = False,
    ) -> TextAnswer:
        """Return the live documents that match a question.

        Args:
            question: plain words, any of which may match; with `syntax` a query, or `QuerySyntaxError` is raised.
            live: the digest of each entry by key.
            read: reads documents that the index does not have.
            among: the keys that may match, None for all.
            filters: values by field; a document needs one of them in each.
            syntax: whether the question is in the query language.
            may_refresh: whether to update the index first; only where `live` are all documents of the tree.
            read_titles: reads documents without their bodies, to be searched while the index is being built.
            is_timed: whether the answer has a time limit, so that a first index is built only in part.
        """
        ...

    def find_holders(self, texts: Collection[str], *, live: Mapping[str, str], read: Read) -> list[str]:
        """Return the keys of the live documents that contain all words of any of some texts, best first."""
        ...

    def is_behind(self, *, live: Mapping[str, str]) -> bool:
        """Return whether so much changed that the next question would update the index first."""
        ...

    def refresh(
        self, *, live: Mapping[str, str], read: Read, progress: Progress | None = None, rebuild: bool = False
    ) -> RefreshResult:
        """Update the index on disk; raises `IndexBusyError` and `IndexWriteError`."""
        ...

    def state(self, *, live: Mapping[str, str]) -> IndexState:
        """Compare the index on disk with the files, reading no document."""
        ...
