"""The full text of a repository's copy: the server finds the rows, `index.scoring` ranks them as in the clone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from mdmem.hub.candidates import EVERYTHING, candidates, holding
from mdmem.hub.reader import HeldTerms, Reader, SeenWing
from mdmem.hub.terms import places_in
from mdmem.index.fields import SCORED
from mdmem.index.overlay import scanned
from mdmem.index.postings import Columns
from mdmem.index.protocol import IndexState, IndexWriteError, Progress, Read, RefreshResult, TextAnswer
from mdmem.index.scoring import Corpus, Totals, plain, rank

_WHY = "the hub's copy has its own"


class CopyText:
    """What the server holds of the words of some wings; it is brought up to date by a push alone."""

    def __init__(self, reader: Reader, wings: Mapping[int, SeenWing]) -> None:
        """Take the wings, by their ids."""
        self._reader, self._wings = reader, wings

    def search(
        self,
        question: str,
        *,
        live: Mapping[str, str],
        read: Read,
        among: Collection[str] | None = None,
        syntax: bool = False,
        may_refresh: bool = True,  # noqa: ARG002  # the port's name
    ) -> TextAnswer:
        """Return the live documents that answer a question, or raise `QuerySyntaxError` where `syntax` is asked for."""
        if syntax:
            # Imported here: the library that reads it takes longer than most questions.
            from mdmem.index.syntax import parse

        query = parse(question) if syntax else plain(question)
        if query.is_empty or not live:
            return TextAnswer((), tuple(query.typed), query.typed, "index")
        # What the query language may ask for stands in the entries themselves.
        corpus = self._corpus(query.wanted, live) if query.wanted is not None else None
        chosen = None if among is None else frozenset(among)
        found = rank(query, corpus or scanned(query, live, read), read, among=chosen)
        return TextAnswer(found, tuple(query.typed), query.typed, "scan" if corpus is None else "index")

    def _corpus(self, wanted: Collection[str], live: Mapping[str, str]) -> Corpus | None:
        """Return the documents that hold a wanted term, None where the hub has some of them in another format."""
        ids = candidates(self._reader, [holding(wanted, self._wings)], self._wings, most=EVERYTHING)
        held = {self._key(one): one for one in self._reader.terms(ids, wanted)}
        known = [(key, held[key]) for key in sorted(held.keys() & live.keys())]
        is_ours = all(one.lengths is not None for _, one in known)
        return corpus_of(known, totals_of(self._wings.values(), {})) if is_ours else None

    def _key(self, held: HeldTerms) -> str:
        return f"{self._wings[held.wing_id].name}/{held.path.removesuffix('.md')}"

    def is_behind(self, *, live: Mapping[str, str]) -> bool:  # noqa: ARG002
        """Say that a question brings nothing up to date."""
        return False

    def refresh(
        self,
        *,
        live: Mapping[str, str],  # noqa: ARG002
        read: Read,  # noqa: ARG002
        progress: Progress | None = None,  # noqa: ARG002
        rebuild: bool = False,  # noqa: ARG002
    ) -> RefreshResult:
        """Raise IndexWriteError: nothing is written through the hub."""
        raise IndexWriteError(_WHY)

    def state(self, *, live: Mapping[str, str]) -> IndexState:
        """Return that every document is there."""
        return IndexState(exists=True, usable=True, documents=len(live), stale=0, gone=0, bytes=0, folder="", why=_WHY)


class HeldPostings:
    """Where some documents hold some terms."""

    def __init__(self) -> None:
        """Start without documents."""
        self._postings: dict[tuple[str, str], tuple[list[int], list[float]]] = {}

    def add(self, first: int, held: Mapping[str, str]) -> None:
        """Take in a document by the number of its first passage."""
        for text, places in held.items():
            for number, field, times in places_in(places):
                numbers, frequencies = self._postings.setdefault((field, text), ([], []))
                numbers.append(first + number)
                frequencies.append(times)

    def postings(self, field: str, term: str) -> list[Columns]:
        """Return the postings of one term."""
        return [self._postings[field, term]] if (field, term) in self._postings else []

    def lexicon(self, field: str, prefix: str) -> Iterable[str]:
        """Return the field's terms that start with the prefix."""
        return [text for name, text in self._postings if name == field and text.startswith(prefix)]


def corpus_of(held: Iterable[tuple[str, HeldTerms]], totals: Totals | None) -> Corpus:
    """Return documents in the order of their keys, and what is known of all of which they are a part."""
    postings, keys = HeldPostings(), list[str]()
    lengths: dict[str, list[int]] = {name: [] for name in SCORED}
    for key, one in held:
        passages = one.lengths or ()
        postings.add(len(keys), one.held)
        keys += [key] * len(passages)
        for column, words in zip(lengths.values(), zip(*passages, strict=True), strict=True) if passages else ():
            column += words
    return Corpus(keys, lengths, (postings,), totals)


def totals_of(wings: Iterable[SeenWing], holders: Mapping[str, int]) -> Totals:
    """Return what is known of all documents of some wings; `holders` how many of them hold a term."""
    known: Sequence[SeenWing] = list(wings)
    sums = [sum(lengths) for lengths in zip(*(wing.lengths for wing in known if wing.lengths), strict=True)]
    lengths = dict(zip(SCORED, sums or [0] * len(SCORED), strict=True))
    return Totals(sum(one.documents for one in known), sum(one.passages for one in known), lengths, holders)
