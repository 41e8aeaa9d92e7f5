"""What a full-text index takes in, answers and promises, whatever stands behind it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import compress
from math import inf
from typing import Literal, NamedTuple, Protocol, Self, overload

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

Holding = Collection[frozenset[str]]
"""Sets of terms, of which whatever is found holds all of one; none at all leaves nothing out."""

Bar = tuple[float, str]
"""The last document by its whole of which passages are looked at: its score, below zero, and its key."""

# Where all are looked at.
NO_BAR: Bar = (inf, "")

Progress = Callable[[int, int], None]
"""Is told how many documents are done, and of how many."""


class Match(NamedTuple):
    """One document that answers a question, with those of the question's terms that it holds."""

    key: str
    score: float
    terms: frozenset[str]


# Without the function in Python that `NamedTuple` makes for it, in a third of the time.
_match: Callable[[tuple[str, float, frozenset[str]]], Match] = partial(tuple.__new__, Match)


class MatchColumns(Sequence[Match]):
    """Matches in columns, best first: of thousands a few are looked at one by one."""

    __hash__ = None  # type: ignore[assignment]  # as of a list

    def __init__(
        self,
        keys: Sequence[str] = (),
        scores: Sequence[float] = (),
        terms: Sequence[frozenset[str]] = (),
        *,
        bar: Bar = NO_BAR,
    ) -> None:
        """Take the three columns, and whose passages were looked at."""
        self.keys, self.scores, self.terms, self.bar = keys, scores, terms, bar

    @classmethod
    def of(cls, matches: Iterable[Match]) -> Self:
        """Return some matches, which are in their order."""
        return cls(*map(list, zip(*matches, strict=True)))

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Return where each key stands among them."""
        return dict(zip(self.keys, range(len(self.keys)), strict=True))

    def at(self, places: Sequence[int]) -> Self:
        """Return those at some places, in the order of these."""
        keys, scores, terms = self.keys.__getitem__, self.scores.__getitem__, self.terms.__getitem__
        return type(self)(list(map(keys, places)), list(map(scores, places)), list(map(terms, places)))

    def where(self, chosen: Iterable[bool]) -> Self:
        """Return those that are chosen, in their order."""
        are = list(chosen)
        keys, scores, terms = compress(self.keys, are), compress(self.scores, are), compress(self.terms, are)
        return type(self)(list(keys), list(scores), list(terms))

    def merged(self, other: Self) -> Self:
        """Return these and others, both with the best score first, in the order of their scores."""
        scores = [*self.scores, *other.scores]
        both = type(self)([*self.keys, *other.keys], scores, [*self.terms, *other.terms])
        # To sort what is two sorted runs takes little more than to go through it.
        return both.at(sorted(range(len(scores)), key=scores.__getitem__, reverse=True))

    def find(self, key: str) -> Match | None:
        """Return the match of a key, None where it does not match."""
        at = self.places.get(key)
        return None if at is None else self[at]

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.keys)

    def __iter__(self) -> Iterator[Match]:
        """Yield them in order."""
        return map(_match, zip(self.keys, self.scores, self.terms, strict=True))

    def __eq__(self, other: object) -> bool:
        """Say whether another sequence has equal ones in the same order."""
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    @overload
    def __getitem__(self, at: int) -> Match: ...

    @overload
    def __getitem__(self, at: slice) -> Self: ...

    def __getitem__(self, at: int | slice) -> Match | Self:
        """Return one, or some of them."""
        if isinstance(at, slice):
            return type(self)(self.keys[at], self.scores[at], self.terms[at])
        return Match(self.keys[at], self.scores[at], self.terms[at])


def holds_one(terms: frozenset[str], holding: Holding) -> bool:
    """Say whether a document of these terms is one of those that hold all of a set."""
    return not holding or any(terms >= wanted for wanted in holding)


class TextAnswer(Struct, frozen=True):
    """What a question found: matches best first, equal scores by key.

    `terms` are the question's distinct stemmed terms in order of appearance, `words` what the user typed for each.
    `bar` is the last document of which passages were looked at.
    """

    matches: MatchColumns
    terms: tuple[str, ...]
    words: Mapping[str, str]
    source: Source
    degraded: bool = False
    why: str | None = None
    bar: Bar = NO_BAR


class RefreshResult(Struct, frozen=True):
    """What a refresh changed in the index."""

    total: int
    added: int
    removed: int
    rebuilt: bool


class IndexState(Struct, frozen=True):
    """How the index on disk stands to the files: `stale` are missing or changed there, `gone` are left over."""

    exists: bool
    usable: bool
    documents: int
    stale: int
    gone: int
    bytes: int
    folder: str
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
        syntax: bool = False,
        holding: Holding = (),
        may_refresh: bool = True,
        bar: Bar | None = None,
    ) -> TextAnswer:
        """Return the live documents that hold a word of the question.

        Only keys in `among` match, but the statistics come from all live documents.
        `may_refresh` lets the index be brought up to date on the way: only where `live` are all documents there are.
        With the `bar` of an answer from nearly the same documents, no more than `among` need be scored.
        With `syntax`, the question is read as query language, and `QuerySyntaxError` raised where it is none.
        """
        ...

    def is_behind(self, *, live: Mapping[str, str]) -> bool:
        """Say whether so much changed that the next question would bring the index up to date first."""
        ...

    def refresh(
        self, *, live: Mapping[str, str], read: Read, progress: Progress | None = None, rebuild: bool = False
    ) -> RefreshResult:
        """Bring the index on disk up to date, or raise `IndexBusyError` or `IndexWriteError`."""
        ...

    def state(self, *, live: Mapping[str, str]) -> IndexState:
        """Return how the index on disk stands to the files, reading no document."""
        ...
