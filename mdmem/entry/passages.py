"""The passages of a body that answer a question: runs of sentences that hold its words, the rarest first."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain

from mdmem.entry.headings import Section, told
from mdmem.entry.sentences import Sentence, blocks_in, cut_at_word, fitting, said, size_of

Hit = tuple[int, int, frozenset[str]]
"""Where a text holds words of a question: start, end, and which."""

Find = Callable[[str], Sequence[Hit]]
"""A text to its hits in their order; `mdmem.index.finder` makes one of a question's terms."""

# In bytes: a run is no longer where several are given, and what is smaller than the least says nothing.
_RUN, _SMALLEST = 320, 80
# A word that an earlier passage holds weighs less, and so does a passage that adds nothing worth the name.
_AGAIN, _LEAST = 0.35, 0.5
# One word that was shown already says nothing new.
_SEVERAL = 2
# Of the mean weight of a word: what states a value, a version or a duty is likelier to be the answer.
_STATING = 0.6
_STATES = re.compile(
    r"\d|`[^`]+`|\b(?:must|shall|should|may not|never|always|by default|defaults?|unless|at least|at most|until|only)\b"
)
# What a sentence announces with a colon: a block of code, or what is indented below it.
_SHOWN = re.compile(
    r"\s*\n(?:[ \t]*\n)*(?P<block>(?:[ \t]*(?:```|~~~)[^\n]*\n.*?\n[ \t]*(?:```|~~~))"
    r"|(?:[ \t]{2,}\S[^\n]*(?:\n[ \t]{2,}\S[^\n]*)*))",
    re.DOTALL,
)
_SHOWN_BYTES = 320


@dataclass(frozen=True)
class _Run:
    """Sentences that follow one another in a section, with the words that they, or its heading, hold."""

    sentences: tuple[Sentence, ...]
    terms: frozenset[str]
    text: str

    @property
    def start(self) -> int:
        return self.sentences[0].start

    @cached_property
    def states(self) -> bool:
        return _STATES.search(self.text) is not None


@dataclass(frozen=True)
class Passages:
    """The passages of one body for one question; `weights` say how rare each word is, 1 where nothing is said."""

    body: str
    sections: Sequence[Section]
    find: Find
    weights: Mapping[str, float]

    @cached_property
    def hits(self) -> list[Hit]:
        """Return where the body holds words of the question."""
        return [hit for hit in self.find(self.body) if hit[2]]

    def best(self, lead: Sequence[Sentence], room: int, *, new: bool = False) -> str:
        """Return the passages outside of a lead that say most of what is asked for, in the body's order.

        `new`: only those that hold a word which the lead does not.
        """
        covered = self._terms_in(lead[0].start, lead[-1].end) if lead else frozenset()
        runs = self._runs({one.start for one in lead}, min(room, _RUN))
        runs = [run for run in runs if not new or run.terms - covered]
        chosen: list[_Run] = []
        while runs and room >= _SMALLEST:
            gains = [self._gain(run, covered) for run in runs]
            gain, at = max((gain, -at) for at, gain in enumerate(gains))
            if gain < _LEAST * self._mean:
                break
            run = runs.pop(-at)
            taken = {one.start for one in run.sentences}
            runs = [one for one in runs if taken.isdisjoint(other.start for other in one.sentences)]
            cost = size_of(run.text) + len("\n\n… ")
            if cost <= room:
                chosen.append(run)
                covered, room = covered | run.terms, room - cost
        return "\n\n".join(f"… {run.text}" for run in sorted(chosen, key=lambda run: run.start))

    @cached_property
    def _mean(self) -> float:
        held = frozenset().union(*(terms for _, _, terms in self.hits))
        return sum(map(self._weight, held)) / len(held) if held else 1.0

    def _weight(self, term: str) -> float:
        return self.weights.get(term, 1.0)

    def _gain(self, run: _Run, covered: frozenset[str]) -> float:
        if len(run.terms) < _SEVERAL and run.terms <= covered:
            return 0.0
        words = sum(self._weight(term) * (_AGAIN if term in covered else 1.0) for term in run.terms)
        return words + (_STATING * self._mean if run.states else 0.0)

    def _runs(self, shown: set[int], limit: int) -> list[_Run]:
        return [run for section in told(self.sections) for run in self._runs_in(section, shown, limit)]

    def _runs_in(self, section: Section, shown: set[int], limit: int) -> Iterator[_Run]:
        if not self._within(*section.span):
            return
        named = self._terms_in(section.span[0], section.start)
        blocks = list(blocks_in(self.body, section.start, section.span[1]))

        @cache
        def prose(at: int) -> list[Sentence]:
            return [one for one in blocks[at].sentences() if one.start not in shown]

        # A paragraph without a word of the question begins no run, and is taken apart only where one reaches it.
        for at in (at for at, block in enumerate(blocks) if self._within(block.start, block.end)):
            later = range(at + 1, len(blocks))
            for first in (first for first, one in enumerate(prose(at)) if self._terms_in(one.start, one.end)):
                run = self._run(chain(prose(at)[first:], chain.from_iterable(map(prose, later))), named, limit)
                yield from (run,) if run.text else ()

    def _run(self, sentences: Iterator[Sentence], named: frozenset[str], limit: int) -> _Run:
        """Return the run that the first of some sentences begins."""
        first = next(sentences)
        fit = fitting(chain((first,), sentences), limit) or [first]
        held = [self._terms_in(one.start, one.end) for one in fit]
        last = max(at for at, terms in enumerate(held) if terms)
        run = [one for at, one in enumerate(fit[: last + 2]) if at <= last or one.block == fit[last].block]
        return _Run(tuple(run), named.union(*held[: len(run)]), self._told(run, limit))

    def _told(self, run: Sequence[Sentence], limit: int) -> str:
        """Return a run as text; what it announces stands below it, or the announcement is left out."""
        run = [one for one, after in zip(run, (*run[1:], None), strict=True) if not _is_unkept(one, after)]
        if not run or not run[-1].text.endswith(":"):
            return cut_at_word(said(run), limit)
        shown = _SHOWN.match(self.body, run[-1].end)
        if shown is not None and size_of(shown["block"]) <= _SHOWN_BYTES:
            text = cut_at_word(said(run), limit)
            return f"{text[:-1] if text.endswith('::') else text}\n{shown['block'].strip(chr(10))}"
        return cut_at_word(said(run[:-1]), limit)

    def _within(self, start: int, end: int) -> Sequence[Hit]:
        return self.hits[bisect_left(self.hits, (start,)) : bisect_left(self.hits, (end,))]

    def _terms_in(self, start: int, end: int) -> frozenset[str]:
        return _terms_of(self._within(start, end))


def _is_unkept(one: Sentence, after: Sentence | None) -> bool:
    """Say whether a sentence announces what the next one of its run is not."""
    return after is not None and one.text.endswith(":") and one.block != after.block and not after.is_item


def _terms_of(hits: Iterable[Hit]) -> frozenset[str]:
    return frozenset().union(*(terms for _, _, terms in hits))
