"""How search ranks: BM25 of the title, of the whole text and of the best passage, added with equal weights.

The constants are the usual ones. The statistics are those of the live documents alone, so that a document that was
deleted, or is hidden from the caller, changes no score, and an index has the scores of one that is built anew.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import cache
from heapq import nsmallest
from math import log
from typing import Any

from whoosh.scoring import BM25F
from whoosh.searching import Searcher
from whoosh.util.numeric import byte_to_length, length_to_byte

from mdmem.store.index.protocol import Match
from mdmem.store.index.query import SCORED, Asked
from mdmem.store.index.schema import to_text

_B, _K1 = 0.75, 1.2
# Words of a passage. Of 88 questions in other words over PEPs and KEPs, 55 have their record among the first six with
# passages of 80 words, 46 without passages; 120 and 160 words give the same.
_PASSAGE = 80
# Of so many of the best by title and whole text the passages are compared.
_LOOKED_INTO = 100
_DIGITS = 6


class _LiveBM25F(BM25F):  # type: ignore[misc]  # Whoosh states no types
    """BM25 with the statistics of the live documents of a reader."""

    def __init__(self, reader: Any, masked: Set[int]) -> None:
        super().__init__(B=_B, K1=_K1)
        self._reader, self._masked = reader, masked
        live = [number for number in reader.all_doc_ids() if number not in masked]
        self._count, self._has_dead = len(live), len(live) < reader.doc_count_all()
        # Whoosh keeps a length in one byte, and sums exact ones until it merges: these are the same in any state.
        self._means = {
            name: sum(reader.doc_field_length(number, name) or 0 for number in live) / max(self._count, 1)
            for name in SCORED
        }

    def idf(self, _searcher: Any, _fieldname: str, text: str | bytes) -> float:
        """Return how rare a term is in whole texts, for titles too.

        Chosen on PEPs and KEPs (MRR of 88 lookups .44 to .48), confirmed on the decision records (25, .67 to .71).
        """
        return log(max(self._count, 1) / (self._holders(text) + 1)) + 1

    def _holders(self, text: str | bytes) -> int:
        if ("text", text) not in self._reader:
            return 0
        if not self._has_dead:
            return int(self._reader.doc_frequency("text", text))
        return sum(number not in self._masked for number in self._reader.postings("text", text).all_ids())

    def scorer(self, searcher: Any, fieldname: str, text: str | bytes, qf: float = 1) -> Any:
        """Return what scores the holders of a term."""
        found = super().scorer(searcher, fieldname, text, qf=qf)
        found.avgfl = self._means.get(fieldname) or 1.0
        return found


def stored_length(words: int) -> int:
    """Return the length that the index keeps of a text, in one byte."""
    return int(byte_to_length(length_to_byte(words)))


def searcher_of(reader: Any, masked: Set[int]) -> Searcher:
    """Return what scores the documents of a reader, as if those of the masked numbers were not there."""
    return Searcher(reader, weighting=_LiveBM25F(reader, masked))


def rank(searcher: Searcher, asked: Asked, keys: Sequence[str], *, allowed: Any, masked: Set[int]) -> list[Match]:
    """Return the documents that answer a question, best first, equal ones by key.

    `allowed` is a query or a set of numbers that all are in, None for all; none is in `masked`.
    """
    found = searcher.search(asked.query, limit=None, terms=not asked.leaves, filter=allowed, mask=set(masked) or None)
    # In another order of the terms, as other segments have it, the last bits of a sum are others.
    scores = {number: round(score, _DIGITS) for number, score in found.items()}
    best = nsmallest(_LOOKED_INTO, scores, key=lambda number: (-scores[number], keys[number]))
    for number, gain in _best_passages(searcher, asked.held, sorted(best)).items():
        scores[number] = round(scores[number] + gain, _DIGITS)
    terms_of = _held_by_leaves(searcher, asked) if asked.leaves else _held_by_hits(found, asked)
    matches = [Match(keys[number], score, terms_of(number)) for number, score in scores.items()]
    return sorted(matches, key=lambda match: (-match.score, match.key))


def _held_by_leaves(searcher: Searcher, asked: Asked) -> Callable[[int], frozenset[str]]:
    holders = {term: frozenset(searcher.docs_for_query(leaf)) for term, leaf in asked.leaves.items()}
    return lambda number: frozenset(term for term, numbers in holders.items() if number in numbers)


def _held_by_hits(found: Any, asked: Asked) -> Callable[[int], frozenset[str]]:
    # Thousands of matches share a few sets.
    @cache
    def terms_in(matched: Iterable[tuple[str, bytes]]) -> frozenset[str]:
        return frozenset(term for _, one in matched for term in asked.held.get(to_text(one), ()))

    return lambda number: terms_in(tuple(found.docterms.get(number, ())))


def _best_passages(searcher: Searcher, terms: Iterable[str], numbers: Sequence[int]) -> dict[int, float]:
    """Return the score of the best passage of each document that has one; the numbers come in order."""
    reader = searcher.reader()
    gains: dict[int, defaultdict[int, float]] = {number: defaultdict(float) for number in numbers}
    for term in terms:
        if ("text", term) not in reader:
            continue
        rarity, matcher = searcher.idf("text", term), searcher.postings("text", term)
        for number in numbers:
            if matcher.is_active():
                matcher.skip_to(number)
            if not matcher.is_active():
                break
            if matcher.id() == number:
                for passage, times in _by_passage(matcher.value_as("positions")).items():
                    gains[number][passage] += rarity * times * (_K1 + 1) / (times + _K1)
    return {number: max(passages.values()) for number, passages in gains.items() if passages}


def _by_passage(places: Iterable[int]) -> Mapping[int, int]:
    found: defaultdict[int, int] = defaultdict(int)
    for place in places:
        found[place // _PASSAGE] += 1
    return found
