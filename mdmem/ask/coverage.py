"""How far something binding answers a question: the words weighed by their rarity, within one section of one entry."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from heapq import nsmallest
from math import fsum, log
from operator import itemgetter
from typing import NamedTuple

from msgspec import Struct

from mdmem.ask.question import Coverage
from mdmem.markdown.headings import sections_of
from mdmem.markdown.passages import Find
from mdmem.model.entry import Entry
from mdmem.store.index.analysis import text_terms
from mdmem.store.index.finder import finder

# Of PEPs' own titles all are full at any share from .4 to .67; of foreign questions cut to three words 6 %, of whole
# ones none. At .15 a fifth to a third of the foreign ones are covered in no part, at .3 a quarter to three quarters;
# but in a small memory .25 denies a ruled subject that general words wrap (tests/bench/covering_share.py).
FULL_SHARE = 0.5
PARTIAL_SHARE = 0.15
# Of the weight of the rarest term: of 20 entries 3 hold a common one where none holds the other.
_COMMON = 0.6
# To see what stands within one section a body has to be read: no more than a few are.
_READ = 6


class HeldGroup(NamedTuple):
    """Entries that hold the same of the question's terms, the best score first, equal ones by address."""

    terms: frozenset[str]
    addresses: Sequence[str]
    scores: Sequence[float]


class HeldTexts(NamedTuple):
    """The entries that may answer, of which few are looked at: what reads one, and its body."""

    groups: Sequence[HeldGroup]
    entry: Callable[[str], Entry]
    body: Callable[[str], str]

    def title(self, address: str) -> str:
        """Return the title and the tags of one."""
        entry = self.entry(address)
        return " ".join((entry.title, *entry.tags))


class Hold(NamedTuple):
    """Which terms of a question one section of an entry holds, with those of its heading and of the entry's title."""

    terms: frozenset[str] = frozenset()
    heading: frozenset[str] = frozenset()
    title: frozenset[str] = frozenset()


class TermWeights(Struct, frozen=True):
    """How much each term of a question weighs, by its rarity among the entries; one that none holds is the rarest."""

    of: Mapping[str, float]
    known: frozenset[str]

    @property
    def common(self) -> frozenset[str]:
        """Return the terms that say little beside the rarest."""
        rarest = max(self.of.values(), default=0.0)
        return frozenset(term for term, weight in self.of.items() if weight < _COMMON * rarest)

    def total(self, terms: Iterable[str]) -> float:
        """Return what some terms weigh together."""
        return fsum(self.of[term] for term in terms)

    def share(self, terms: Iterable[str], *, among: Iterable[str]) -> float:
        """Return the share that some terms have in the weight of others."""
        whole = self.total(among)
        return self.total(terms) / whole if whole else 0.0


def weights_of(terms: Sequence[str], held: Iterable[frozenset[str]], total: int) -> TermWeights:
    """Return the weights of terms among so many entries, of which some hold some."""
    # Thousands of matches share a few sets.
    counts = Counter[str]()
    for one, times in Counter(held).items():
        counts.update(dict.fromkeys(one, times))
    return TermWeights({term: log(1 + total / (counts[term] or 0.5)) for term in terms}, frozenset(counts))


def coverage_by(
    hold: Hold, weights: TermWeights, *, full: float = FULL_SHARE, partial: float = PARTIAL_SHARE
) -> Coverage:
    """Return how far one section covers a question.

    Full is half of the weight, the rarest term, one more, and a term of the entry's title among them: of questions from
    another field, cut to three words, one section of 20 KB holds so much in a third, and a title names it in a
    twentieth. Part is half of the weight alone, or 15 % of what is known with a term of a title or heading.
    """
    share = weights.share(hold.terms, among=weights.of)
    if share >= full:
        rarest = max(weights.of.values())
        has_rarest = any(weights.of[term] == rarest for term in hold.terms)
        is_full = has_rarest and hold.title and len(hold.terms) >= min(2, len(weights.of))
        return Coverage.FULL if is_full else Coverage.PARTIAL
    touches = weights.share(hold.terms, among=weights.known) >= partial
    return Coverage.PARTIAL if touches and hold.title | hold.heading else Coverage.NONE


def coverage_of(weights: TermWeights, texts: HeldTexts) -> Coverage:
    """Return how far the best of the best scored texts covers a question; a few bodies are read, until one does."""
    best = Coverage.NONE

    @cache
    def covered_by(hold: Hold) -> Coverage:
        return coverage_by(hold, weights)

    def may_tell(most: Hold) -> bool:
        """Say whether a text that holds so much at most may cover more than is known to be covered."""
        covered = covered_by(most)
        return covered is Coverage.FULL or (best is Coverage.NONE and covered is Coverage.PARTIAL)

    told = set[Hold]()
    # Of all terms, as whoever looks for passages in the same bodies: what one found, the other need not look for.
    for hold in holds(texts, finder(weights.of), may_tell=may_tell):
        # Most sections of a text hold none of the words, or the same few.
        if hold in told:
            continue
        told.add(hold)
        found = coverage_by(hold, weights)
        if found is Coverage.FULL:
            return found
        best = found if best is Coverage.NONE else best
    return best


def holds(
    texts: HeldTexts,
    find: Find | None = None,
    *,
    may_tell: Callable[[Hold], object] = lambda most: most.terms,
) -> Iterator[Hold]:
    """Yield what the title of each text holds, then, with it, each section of the best scored ones that holds more.

    Nothing is looked at that cannot tell anything by the most that it may hold.
    """
    find = find or finder(frozenset().union(*(group.terms for group in texts.groups)))
    for group in texts.groups:
        for address in group.addresses:
            # What cannot tell anything cannot later, and thousands of texts share a few sets.
            if not may_tell(Hold(group.terms, group.terms, group.terms)):
                break
            title = group.terms & _terms_in(texts.title(address), find)
            yield Hold(title, title=title)
    best = (
        (-score, address, group.terms)
        for group in texts.groups
        for score, address in zip(group.scores[:_READ], group.addresses[:_READ], strict=True)
    )
    for _, address, terms in nsmallest(_READ, best, key=itemgetter(0, 1)):
        title = terms & _terms_in(texts.title(address), find)
        if may_tell(Hold(terms, terms, title)):
            yield from _sections_held(terms, title, texts.body(address), find)


def _terms_in(text: str, find: Find) -> frozenset[str]:
    # Thousands of titles may be looked at; of other scripts the analyser itself has the word.
    return frozenset().union(*(terms for _, _, terms in find(text))) if text.isascii() else text_terms(text)


def _sections_held(wanted: frozenset[str], title: frozenset[str], body: str, find: Find) -> Iterator[Hold]:
    hits, first = [(at, held) for at, _, terms in find(body) if (held := terms & wanted)], 0
    for section in sections_of(body):
        # One section follows upon the other, and most hold no word of the question.
        first, start = bisect_left(hits, (section.span[1],), first), first
        if first == start:
            continue
        inside = hits[start:first]
        heading = frozenset().union(*(terms for at, terms in inside if at < section.start))
        yield Hold(title.union(*(terms for _, terms in inside)), heading, title)
