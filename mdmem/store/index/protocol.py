"""What a full-text index takes in, answers and promises, whatever stands behind it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

from msgspec import Struct

Source = Literal["index", "scan", "hub"]


class IndexDocument(Struct, frozen=True):
    """What the index takes in of one entry.

    `key` and `digest` (the content's identity, in hex) together say whether a document is up to date.
    `body` is Markdown, headings included. `fields` are the texts of what the table of fields says is searched, by
    name; dates are ISO text.
    """

    key: str
    digest: str
    body: str
    wing: str
    room: str
    fields: Mapping[str, tuple[str, ...]]


Read = Callable[[Sequence[str]], Iterable[IndexDocument]]
"""Keys to documents; a key that cannot be read any more is left out."""

Progress = Callable[[int, int], None]
"""Is called with how many documents are done, and of how many."""


class Match(NamedTuple):
    """One document that answers a question, with those of the question's terms that it holds."""

    key: str
    score: float
    terms: frozenset[str]


class TextAnswer(Struct, frozen=True):
    """What a question found: matches best first, equal scores by key.

    `terms` are the question's distinct stemmed terms in order of appearance, `words` what the user typed for each.
    """

    matches: Sequence[Match]
    terms: tuple[str, ...]
    words: Mapping[str, str]
    source: Source
    degraded: bool = False
    why: str | None = None


class RefreshResult(Struct, frozen=True):
    """What a refresh changed in the index."""

    total: int
    added: int
    removed: int
    rebuilt: bool


class IndexState(Struct, frozen=True, kw_only=True):
    """How the index on disk stands to the files: `stale` are missing or changed there, `gone` are left over."""

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
    """A question in query syntax could not be read; the message says what was expected."""


class FullText(Protocol):
    """Answers questions about the entries of a tree; `live` maps the key of each of them to its digest."""

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
        """Return the live documents that hold a word of the question.

        Only keys in `among` match, and only documents whose fields have one of the values in `filters`.
        `may_refresh` lets the index be brought up to date on the way: only where `live` are all documents there are.
        `read_titles` reads documents without their bodies: so they answer while another process indexes them, or where
        the answer `is_timed` and a first index would take longer.
        With `syntax`, the question is read as query language, and `QuerySyntaxError` raised where it is none.
        """
        ...

    def find_holders(self, texts: Collection[str], *, live: Mapping[str, str], read: Read) -> list[str]:
        """Return the keys of the live documents that hold all words of one of some texts, the best first."""
        ...

    def is_behind(self, *, live: Mapping[str, str]) -> bool:
        """Say whether the next question would bring the index up to date first."""
        ...

    def refresh(
        self, *, live: Mapping[str, str], read: Read, progress: Progress | None = None, rebuild: bool = False
    ) -> RefreshResult:
        """Bring the index on disk up to date, or raise `IndexBusyError` or `IndexWriteError`."""
        ...

    def state(self, *, live: Mapping[str, str]) -> IndexState:
        """Return how the index on disk stands to the files, reading no document."""
        ...
