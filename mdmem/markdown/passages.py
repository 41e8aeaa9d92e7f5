"""The passages of a body that answer a question: runs of sentences that hold its words, the rarest first."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cache, cached_property, partial, reduce
from heapq import heapify, heappop, heappush
from itertools import accumulate, chain, islice, takewhile
from math import fsum
from operator import itemgetter, or_
from typing import NamedTuple

from msgspec import Struct

from mdmem.markdown.headings import Section, told
from mdmem.markdown.likelihood import SHOWING, likely, stated_in
from mdmem.markdown.names import places_of
from mdmem.markdown.sentences import (
    Paragraph,
    Sentence,
    announces,
    blocks_in,
    cut_at_word,
    fitting,
    is_unkept,
    reach_in,
    said,
    size_of,
)

Hit = tuple[int, int, frozenset[str]]
"""Where a text holds words of a question: start, end, and which."""

Find = Callable[[str], Sequence[Hit]]
"""A text to its hits in their order; `mdmem.store.index.finder` makes one of a question's terms."""

# In bytes: a run is no longer where several are given, and what is smaller than the least says nothing.
_RUN, _SHORT_RUN, _SMALLEST = 320, 160, 80
# Of the room for passages, one run: in 600 bytes, two short ones hold more of what was asked for than a long one (193
# facts of 299 against 168, in 174 questions over PEPs and KEPs).
_ONE = 0.4
# A word that an earlier passage holds weighs less, and what adds less than a word of some weight is none.
_AGAIN, _LEAST = 0.5, 0.75
# Of the mean weight of a word, a name that the body gives its subject: the answer is likely to be called so.
_NAMING = 0.6
# The same of what stands below a heading of what was decided, or is made; of tests, upgrades and the like.
_MAIN, _BESIDE = 1.05, -1.05
# A place to begin is looked into no more often: a body of 64 KiB has a thousand, and each takes a tenth of a ms.
_MOST_BEGUN = 4000
# So many items make a list, and a run that counts on is so many times as long.
_SEVERAL = 2
# What counts in sentences: whoever reads of the first asks for the second.
_FIRST = re.compile(r"\bthe first\b|\bfirst(?:ly)?,", re.IGNORECASE)
_NEXT = re.compile(r"\bthe (?:second|third|fourth|last|other)\b|\b(?:second|third)(?:ly)?,|\bfinally,", re.IGNORECASE)
# What a sentence announces with a colon: a block of code, or what is indented below it.
_SHOWN = re.compile(
    r"(?>\s*\n)(?P<block>(?:[ \t]*(?:```|~~~)[^\n]*\n.*?\n[ \t]*(?:```|~~~))"
    r"|(?:[ \t]{2,}\S[^\n]*(?:\n(?:[ \t]*\n)*[ \t]{2,}\S[^\n]*)*))",
    re.DOTALL,
)
_SHOWN_BYTES = 320
# A list below the sentence that announces it is whole up to here; of a longer one each item's first sentence stands.
_LISTED, _ITEM_BYTES, _MOST_LISTED = 560, 180, 60


class _Run(Struct, frozen=True, dict=True):
    """Sentences that follow one another in a section, with the words that they hold."""

    sentences: tuple[Sentence, ...]
    terms: int
    text: str
    # Of the mean weight of a word: how likely it is to answer, by what it states and where it stands.
    likely: float
    # Without what it counts on to, for less room.
    shorter: _Run | None = None

    @property
    def start(self) -> int:
        return self.sentences[0].start

    @cached_property
    def starts(self) -> frozenset[int]:
        return frozenset(one.start for one in self.sentences)

    def overlaps(self, taken: Set[int]) -> bool:
        return not self.starts.isdisjoint(taken)


class _Start(NamedTuple):
    """A place from which runs may begin, and the most that one of them may hold; `begun` are its parts, or the run."""

    start: int
    terms: int
    likely: float
    begun: Callable[[], Iterable[_Run | _Start]]


# What one adds, negated, and where it begins: the first of a heap adds most.
_Weighed = tuple[float, int, int, _Run | _Start]


class Passages(Struct, frozen=True, dict=True):
    """The passages of one body for one question; `weights` say how rare each word is, 1 where nothing is said.

    None is of alternatives, context and the like. What holds one of the `names` that the body gives its subject counts
    for more: the answer is likely to be called so.
    """

    body: str
    sections: Sequence[Section]
    find: Find
    weights: Mapping[str, float]
    names: Sequence[str] = ()

    @cached_property
    def hits(self) -> list[Hit]:
        """Return where the body holds words of the question, and where it holds one at all, its own names."""
        asked = [hit for hit in self.find(self.body) if hit[2]]
        if not asked or not self.names:
            return asked
        terms = {name: frozenset([_as_term(name)]) for name in self.names}
        named = [(start, end, terms[name]) for start, end, name in places_of(self.body, self.names)]
        return sorted([*asked, *named], key=itemgetter(0, 1))

    def best(self, lead: Sequence[Sentence], room: int, *, new: bool = False, enough: int | None = None) -> str:
        """Return the passages outside of a lead that say most of what is asked for, in the body's order.

        `new`: only those that hold a word which the lead does not. None is looked for beyond `enough` bytes.
        """
        known = covered = self._terms_in(lead[0].start, lead[-1].end) if lead else 0
        starts = self._starts({one.start for one in lead}, _longest_run(room))
        heap = [self._weighed(one, covered) for one in starts]
        heapify(heap)
        taken: set[int] = set()
        said: set[str] = set()
        chosen: list[_Run] = []

        def is_out(one: _Run) -> bool:
            return (new and not one.terms & ~known) or one.text in said or one.overlaps(taken)

        least = _SMALLEST if enough is None else max(_SMALLEST, room - enough)
        budget = iter(range(_MOST_BEGUN))
        while room >= least:
            run = self._next(heap, covered, is_out, budget)
            if run is None:
                break
            if run.shorter is not None and size_of(f"\n\n… {run.text}") > room:
                run = run.shorter
            taken |= run.starts
            said.add(run.text)
            cost = size_of(f"\n\n… {run.text}")
            if cost <= room:
                chosen.append(run)
                covered, room = covered | run.terms, room - cost
        return "\n\n".join(f"… {run.text}" for run in sorted(chosen, key=lambda run: run.start))

    def _next(
        self, heap: list[_Weighed], covered: int, is_out: Callable[[_Run], bool], budget: Iterator[int]
    ) -> _Run | None:
        """Return the run that adds most, the first of equal ones; None where none adds enough.

        A place that can lead to no better one is not looked into, nor, in a body of thousands, one behind the `budget`:
        most of a body is never taken apart. The more is covered the less each adds, so that only what comes first is
        weighed again.
        """
        least = -_LEAST * self._mean
        while heap and heap[0][0] <= least:
            before, *_, one = heappop(heap)
            if isinstance(one, _Run) and is_out(one):
                continue
            now = self._weighed(one, covered)
            if now[0] != before:
                heappush(heap, now)
            elif isinstance(one, _Run):
                return one
            elif next(budget, None) is not None:
                for other in one.begun():
                    heappush(heap, self._weighed(other, covered))
        return None

    def _weighed(self, one: _Run | _Start, covered: int) -> _Weighed:
        # No two of a body begin at one place, but for what is in the other's stead.
        return -self._gain(one.terms, covered, one.likely), one.start, id(one), one

    @cached_property
    def _mean(self) -> float:
        return fsum(self._weights.values()) / len(self._weights) if self._weights else 1.0

    @cached_property
    def _bits(self) -> dict[str, int]:
        """Return a bit for each word that the body holds: thousands of sets of them are joined and compared."""
        held = sorted(frozenset[str]().union(*(terms for _, _, terms in self.hits)))
        return {term: 1 << at for at, term in enumerate(held)}

    @cached_property
    def _weights(self) -> dict[int, float]:
        naming = _NAMING * (fsum(self.weights.values()) / len(self.weights) if self.weights else 1.0)
        weights = {**self.weights, **dict.fromkeys(map(_as_term, self.names), naming)}
        return {bit: weights.get(term, 1.0) for term, bit in self._bits.items()}

    @cached_property
    def _gains(self) -> dict[tuple[int, int], float]:
        return {}

    def _gain(self, terms: int, covered: int, likely: float) -> float:
        held = _, again = terms, terms & covered
        if held not in self._gains:
            # Exact, so that no order in which words are added up decides between two passages.
            self._gains[held] = fsum(
                weight * (_AGAIN if bit & again else 1.0) for bit, weight in self._weights.items() if bit & terms
            )
        return self._gains[held] + likely * self._mean

    def _starts(self, shown: set[int], limit: int) -> Iterator[_Start]:
        """Yield the sections that hold words of the question, and those of what was decided, or is made."""
        path: list[Section] = []
        telling = {one.span for one in told(self.sections)}
        for section in self.sections:
            path = [*(one for one in path if one.level < section.level), section]
            is_main = any(one.is_main for one in path)
            terms = self._terms_in(*section.span)
            if section.span in telling and (terms or is_main):
                place = _MAIN * is_main + _BESIDE * any(one.is_beside for one in path)
                begun = partial(self._starts_in, section, place, shown, limit)
                yield _Start(section.start, terms, place + self._stated(*section.span) + _shown_in(section), begun)

    def _starts_in(self, section: Section, place: float, shown: set[int], limit: int) -> Iterator[_Start]:
        """Yield the paragraphs of a section that a passage may begin in; one is taken apart only where that counts."""
        blocks = list(blocks_in(self.body, section.start, section.span[1]))
        most, end = place + _shown_in(section), section.span[1]
        terms_from = self._terms_to(section.start, end)

        @cache
        def prose(at: int) -> list[Sentence]:
            return [one.bare for one in blocks[at].sentences() if one.start not in shown]

        def following(at: int, first: int) -> Iterator[Sentence]:
            own = prose(at)
            here = (own[number] for number in range(first, len(own)))
            return chain(here, chain.from_iterable(map(prose, range(at + 1, len(blocks)))))

        def runs(at: int) -> Iterator[_Start]:
            own = prose(at)
            reach = reach_in(own, limit, listed=_MOST_LISTED, counted=(_SEVERAL + 1) * limit)
            for first, one in enumerate(own):
                if self._may_begin(one, place, is_first=one.start == blocks[at].start):
                    begun = partial(self._runs_from, partial(following, at, first), place, limit)
                    yield start_at(one.start, begun, reach(first))

        def start_at(start: int, begun: Callable[[], Iterator[_Run | _Start]], stop: int | None = None) -> _Start:
            held = terms_from(start) if stop is None else self._terms_in(start, stop)
            return _Start(start, held, most + self._stated(start, stop or end), begun)

        for at, block in enumerate(blocks):
            if self._may_begin(block, place, is_first=block.start not in shown):
                yield start_at(block.start, partial(runs, at))

    def _may_begin(self, one: Sentence | Paragraph, place: float, *, is_first: bool) -> bool:
        """Say whether a passage may begin with what holds words, or, of what was decided, with a paragraph."""
        return (is_first and place > 0) or self._terms_in(one.start, one.end) > 0

    def _runs_from(self, following: Callable[[], Iterator[Sentence]], place: float, limit: int) -> Iterator[_Run]:
        run = self._run(following, place, limit)
        if run.text and (more := self._counted(run, following, _SEVERAL * limit)):
            terms = reduce(or_, (self._terms_in(one.start, one.end) for one in more), run.terms)
            whole = (*run.sentences, *more)
            text = self._told(whole, (), _SEVERAL * limit)
            run = _Run(whole, terms, text, place + likely(text), shorter=run)
        yield from (run,) if run.text else ()

    def _counted(self, run: _Run, following: Callable[[], Iterator[Sentence]], limit: int) -> list[Sentence]:
        """Return what follows a run in its last paragraph up to the last that it counts there, within a limit."""
        last = run.sentences[-1]
        if last.is_item or "first" not in run.text.lower() or _FIRST.search(run.text) is None:
            return []
        behind = takewhile(lambda one: one.block == last.block, islice(following(), len(run.sentences), None))
        rest = fitting(behind, limit - size_of(run.text))
        return rest[: max((at for at, one in enumerate(rest, 1) if _NEXT.search(one.text)), default=0)]

    def _run(self, following: Callable[[], Iterator[Sentence]], place: float, limit: int) -> _Run:
        """Return the run that the first of some sentences begins, with the list that one of its sentences announces."""
        fit = fitting(following(), limit) or list(islice(following(), 1))
        held = [self._terms_in(one.start, one.end) for one in fit]
        last = max((at for at, terms in enumerate(held) if terms), default=0)
        run = [one for at, one in enumerate(fit[: last + 2]) if at <= last or one.block == fit[last].block]
        listed: list[Sentence] = []
        announcing = (at for at, one in enumerate(run) if announces(one.text))
        for at in islice(announcing, _SEVERAL):
            if listed := self._list_below(islice(following(), at + 1, at + 1 + _MOST_LISTED)):
                run = run[: at + 1]
                break
        terms = reduce(or_, (self._terms_in(one.start, one.end) for one in (*run, *listed)), 0)
        text = self._told(run, listed, limit)
        whole = tuple(dict.fromkeys((*run, *listed)))
        return _Run(whole, terms, text, place + likely(text))

    def _stated(self, start: int, end: int) -> float:
        """Return the most that a run may have by what it states, that begins at a place of a section or later."""
        kinds = stated_in(self.body)
        return fsum(weight for weight, places in kinds if bisect_left(places, start) < bisect_left(places, end))

    def _list_below(self, sentences: Iterator[Sentence]) -> list[Sentence]:
        """Return the items of the list that some sentences begin with, of a long one the first sentence of each."""
        first = next(sentences, None)
        if first is None or not first.is_item:
            return []
        items, edge = [first], self._indent(first)
        for one in sentences:
            if not one.is_item and one.block != items[-1].block and self._indent(one) <= edge:
                break
            items.append(one)
        if sum(one.size for one in items) <= _LISTED:
            return items
        heads = [one.with_changes(text=cut_at_word(one.text, _ITEM_BYTES)) for one in items if one.is_item]
        heads = [one for one in heads if self._indent(one) <= edge]
        return fitting(heads, _LISTED) if len(heads) >= _SEVERAL else []

    def _indent(self, one: Sentence) -> int:
        text = self.body[one.start : one.end].lstrip("\n\r")
        return len(text) - len(text.lstrip(" \t"))

    def _told(self, run: Sequence[Sentence], listed: Sequence[Sentence], limit: int) -> str:
        """Return a run as text; what it announces stands below it, or the announcement is left out."""
        run = [one for one, after in zip(run, (*run[1:], None), strict=True) if not is_unkept(one, after)]
        if listed:
            return f"{cut_at_word(said(run), limit)}\n{said(listed)}"
        if not run or not run[-1].text.endswith(":"):
            return cut_at_word(said(run), limit)
        shown = _SHOWN.match(self.body, run[-1].end)
        if shown is not None and size_of(shown["block"]) <= _SHOWN_BYTES:
            text = cut_at_word(said(run), limit)
            return f"{text[:-1] if text.endswith('::') else text}\n{shown['block'].strip(chr(10))}"
        return cut_at_word(said(run[:-1]), limit)

    @cached_property
    def _held(self) -> tuple[list[int], list[int]]:
        """Return where words of the question stand, and the bits of each."""
        bits = self._bits
        return [start for start, _, _ in self.hits], [sum(map(bits.__getitem__, terms)) for _, _, terms in self.hits]

    def _terms_in(self, start: int, end: int) -> int:
        places, held = self._held
        return reduce(or_, held[bisect_left(places, start) : bisect_left(places, end)], 0)

    def _terms_to(self, first: int, end: int) -> Callable[[int], int]:
        """Return what says which terms stand from a place, the first or a later one, up to an end."""
        places, held = self._held
        edge = bisect_left(places, end)
        behind = [*accumulate(reversed(held[bisect_left(places, first) : edge]), or_, initial=0)]
        return lambda start: behind[max(0, edge - bisect_left(places, start))]


def _shown_in(section: Section) -> float:
    return SHOWING if ":\n" in section.text else 0.0


def _longest_run(room: int) -> int:
    """Return the bytes of one run at most: of little room one passage leaves some for a second."""
    return min(room, max(_SHORT_RUN, min(_RUN, int(room * _ONE))))


def _as_term(name: str) -> str:
    # No stem of a word begins so.
    return f"`{name}"
