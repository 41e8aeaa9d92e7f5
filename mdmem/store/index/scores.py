"""Rank matches by a weighted sum of BM25 scores for the title, the decision, the whole text and the best passage.

BM25 has its usual constants. Its statistics count only live documents, which are neither deleted nor hidden from the
caller. Other documents therefore change no score, and an updated index gives the same scores as a new one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from heapq import nsmallest
from itertools import product
from math import log
from typing import Any

from whoosh.matching import NullMatcher
from whoosh.scoring import BM25F
from whoosh.searching import Searcher

from mdmem.store.index.query import ParsedQuestion
from mdmem.store.index.records import Match
from mdmem.store.index.schema import WEIGHTS, to_text

_B, _K1 = 0.75, 1.2
# The length of a passage in words, and the number of best matches whose passages are scored.
_PASSAGE = 80
_COMPARED = 100
# Scores are rounded, because the segments of the index change the order of additions and so the last digits.
_DIGITS = 6


class _LiveBM25F(BM25F):  # type: ignore[misc]  # Whoosh has no types
    """BM25 with the statistics of the live documents only."""

    def __init__(self, reader: Any, lengths: Mapping[int, Sequence[int]], masked: Set[int]) -> None:
        super().__init__(B=_B, K1=_K1)
        self._reader, self._masked = reader, masked
        self._idf: dict[str, float] = {}
        live = [found for number, found in lengths.items() if number not in masked]
        self._count = len(live)
        self._has_dead = self._count < reader.doc_count_all()
        # Compute the mean lengths here, since Whoosh's own means change when it merges segments.
        self._means = {
            name: sum(found) / len(live) for name, found in zip(WEIGHTS, zip(*live, strict=True), strict=False)
        }

    def idf(self, _searcher: Any, _fieldname: str, text: str | bytes) -> float:
        """Return the rarity of a term among the whole texts, which is used for all fields."""
        term = to_text(text) if isinstance(text, bytes) else text
        if term not in self._idf:
            holders = self._reader.doc_frequency("text", term)
            if holders and self._has_dead:
                holders = sum(one not in self._masked for one in self._reader.postings("text", term).all_ids())
            self._idf[term] = log(max(self._count, 1) / (holders + 1)) + 1
        return self._idf[term]

    def scorer(self, searcher: Any, fieldname: str, text: str | bytes, qf: float = 1) -> Any:
        """Return the scorer of a term, with the mean length of live documents."""
        found = super().scorer(searcher, fieldname, text, qf=qf)
        found.avgfl = self._means.get(fieldname) or 1.0
        return found


def searcher_of(reader: Any, lengths: Mapping[int, Sequence[int]], masked: Set[int]) -> Searcher:
    """Return a searcher whose scores ignore masked numbers; `lengths` has those of `WEIGHTS` by document number."""
    return Searcher(reader, weighting=_LiveBM25F(reader, lengths, masked))


def rank(
    searcher: Searcher,
    question: ParsedQuestion,
    keys: Sequence[str],
    *,
    among: Collection[str] | None,
    masked: Collection[int],
) -> list[Match]:
    """Return the matching documents, best first; matches with equal scores are sorted by key.

    `keys` has the key of each document number. Only documents whose key is in `among` match (None means all), and never
    those whose number is in `masked`.
    """
    if not keys:
        return []
    chosen = frozenset(among) if among is not None else None
    allowed = None if chosen is None else {number for number, key in enumerate(keys) if key in chosen}
    scores: dict[int, float] = defaultdict(float)
    terms: defaultdict[int, set[str]] = defaultdict(set)
    if question.leaves is None:
        # Any word may match, so reading the postings of each term is enough.
        for field, term in product(WEIGHTS, question.terms):
            matcher = searcher.postings(field, term) if (field, term) in searcher.reader() else NullMatcher()
            while matcher.is_active():
                number = matcher.id()
                if number not in masked and (allowed is None or number in allowed):
                    scores[number] += WEIGHTS[field] * matcher.score()
                    terms[number].update(question.terms[term])
                matcher.next()
    else:
        results = searcher.search(question.query, limit=None, filter=allowed, mask=set(masked) or None)
        scores.update(results.items())
        for term, leaf in question.leaves.items():
            for number in searcher.docs_for_query(leaf):
                terms[number].add(term)
    scores = {number: round(score, _DIGITS) for number, score in scores.items()}
    best = nsmallest(_COMPARED, scores, key=lambda number: (-scores[number], keys[number]))
    passages = _best_passages(searcher, question.terms, sorted(best))
    known: dict[frozenset[str], frozenset[str]] = {}

    def match(number: int) -> Match:
        # Use one object for equal sets of terms, since thousands of matches have only a few different sets.
        found = known.setdefault(own := frozenset(terms[number]), own)
        return Match(keys[number], round(scores[number] + passages.get(number, 0.0), _DIGITS), found)

    return sorted(map(match, scores), key=lambda match: (-match.score, match.key))


def _best_passages(searcher: Searcher, terms: Iterable[str], numbers: Sequence[int]) -> dict[int, float]:
    """Return the score of the best passage of each document; `numbers` must be sorted."""
    scores: dict[int, defaultdict[int, float]] = {number: defaultdict(float) for number in numbers}
    for term in terms:
        if ("text", term) not in searcher.reader():
            continue
        rarity, matcher = searcher.idf("text", term), searcher.postings("text", term)
        for number in numbers:
            if matcher.is_active():
                matcher.skip_to(number)
            if not matcher.is_active():
                break
            if matcher.id() == number:
                for passage, times in Counter(place // _PASSAGE for place in matcher.value_as("positions")).items():
                    scores[number][passage] += rarity * times * (_K1 + 1) / (times + _K1)
    return {number: max(passages.values()) for number, passages in scores.items() if passages}
