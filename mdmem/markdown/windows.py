"""The windows of a body that answer a question: blocks that follow one another, code, lists and tables included."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from heapq import nlargest
from math import fsum

from msgspec import Struct, field

from mdmem.markdown.blocks import Group, groups_in
from mdmem.markdown.headings import Section, told
from mdmem.markdown.passages import Find, Hit
from mdmem.markdown.sentences import size_of

# Of the room, for one window that is more than a group.
_PART = 0.5
# So many groups make a window at most, and windows begin at so many: each of ten thousand single words took seconds.
_GROUPS, _STARTS = 24, 200
# Of what a section holds, where it tells nothing that holds now, or not what was asked for.
_ASIDE = 0.65
# Of the weight of a word: where only a heading above holds it, and where an earlier window does.
_HEADED, _AGAIN = 0.6, 0.6
# Of the mean weight of a word: a stated value, version or duty; what a window of the whole room costs.
_STATING, _LENGTH, _LEAST = 0.5, 0.4, 0.8
# Of the gain of the best window: one of less is not worth reading beside it.
_BESIDE_BEST = 0.4
_SMALLEST = 80
_DEEPEST = 9
_STATES = re.compile(
    r"\d|`[^`]+`|\b(?:must|shall|should|may not|never|always|by default|defaults?)\b"
    r"|\b(?:unless|at least|at most|until|only)\b",
    re.IGNORECASE,
)


class _Told(Struct, frozen=True):
    """A group as text, with the words that it holds."""

    group: Group
    text: str
    size: int
    terms: frozenset[str]
    states: bool


class _Window(Struct, frozen=True):
    """Groups of a section from one to another, the last excluded."""

    section: int
    first: int
    last: int
    gain: float


class Windows(Struct, dict=True):
    """The windows of one body for one question; `weights` say how rare each word is, 1 where nothing is said.

    None is of alternatives, context and the like unless it `has_asides`, and these weigh less. What `is_known` is
    part of none, and what is worth far less than that is no answer.
    """

    body: str
    sections: Sequence[Section]
    find: Find
    weights: Mapping[str, float]
    has_asides: bool = False
    is_known: Callable[[str], bool] | None = None
    _found: dict[int, list[_Window]] = field(default_factory=dict)

    def headed(self, room: int) -> str:
        """Return the best windows, each below the heading of its section."""
        parts: dict[str, list[str]] = {}
        for one in _merged(self._best(room)):
            parts.setdefault(self.sections[one.section].heading, []).append(self._text(one))
        below = ((heading, "\n… ".join(texts)) for heading, texts in parts.items())
        return "\n".join(f"{heading}: {text}" if heading else text for heading, text in below)

    def texts(self, room: int) -> list[str]:
        """Return the best windows in the body's order."""
        return [self._text(one) for one in _merged(self._best(room))]

    def told(self, room: int) -> list[str]:
        """Return the texts that the best windows are made of."""
        return [one.text for window in self._best(room) for one in self._groups_of(window)]

    def _best(self, room: int) -> list[_Window]:
        if room not in self._found:
            self._found[room] = self._chosen(room)
        return self._found[room]

    def _chosen(self, room: int) -> list[_Window]:
        chosen: list[_Window] = []
        covered: frozenset[str] = frozenset()
        left, least = room, _LEAST * self._mean
        if any(self._known.values()):
            bars = self._candidates({}, covered, room)
            least = max(least, _BESIDE_BEST * max((one.gain for one in bars), default=0.0))
        while left >= _SMALLEST:
            candidates = self._candidates(self._taken(chosen), covered, left)
            window = max(candidates, key=lambda one: one.gain, default=None)
            if window is None or window.gain < max(least, _BESIDE_BEST * (chosen or [window])[0].gain):
                break
            window = self._whole_paragraphs(window, self._taken(chosen), left)
            chosen.append(window)
            covered |= self._terms(window)
            left -= self._size(window)
        return chosen

    def _taken(self, chosen: Sequence[_Window]) -> dict[int, set[int]]:
        """Return the groups of each section that are known, or stand in a window already."""
        taken = {at: set(known) for at, known in self._known.items()}
        for one in chosen:
            taken.setdefault(one.section, set()).update(range(one.first, one.last))
        return taken

    @cached_property
    def hits(self) -> list[Hit]:
        """Return where the body holds words of the question."""
        return [hit for hit in self.find(self.body) if hit[2]]

    # --- what is weighed ---

    @cached_property
    def _groups(self) -> dict[int, list[_Told]]:
        """Return the groups of each section that holds words."""
        telling = {one.span for one in (self.sections if self.has_asides else told(self.sections))}
        return {
            at: [self._told(one) for one in groups_in(self.body, section.start, section.span[1])]
            for at, section in enumerate(self.sections)
            if section.span in telling and self._within(*section.span)
        }

    @cached_property
    def _known(self) -> dict[int, frozenset[int]]:
        """Return the groups of each section that are known."""
        if self.is_known is None:
            return {}
        is_known = self.is_known
        return {
            at: frozenset(n for n, one in enumerate(some) if is_known(one.text)) for at, some in self._groups.items()
        }

    def _told(self, group: Group) -> _Told:
        text = group.told(self._worth_of, 1000)
        # What is left out answers nothing.
        return _Told(group, text, size_of(text) + 1, self._held(text), _STATES.search(text) is not None)

    def _held(self, text: str) -> frozenset[str]:
        return frozenset[str]().union(*(terms for _, _, terms in self.find(text)))

    def _worth_of(self, text: str) -> float:
        return fsum(self._weights.get(term, 0.0) for term in self._held(text))

    @cached_property
    def _named(self) -> dict[int, frozenset[str]]:
        """Return the words that the headings above each section hold, its own among them."""
        path: list[Section] = []
        named: dict[int, frozenset[str]] = {}
        for at, section in enumerate(self.sections):
            path = [*(one for one in path if one.level < section.level), section]
            named[at] = frozenset[str]().union(
                *(terms for one in path for _, _, terms in self._within(one.span[0], one.start))
            )
        return named

    @cached_property
    def _aside(self) -> frozenset[int]:
        telling = {one.span for one in told(self.sections)}
        level, aside = _DEEPEST, set[int]()
        for at, one in enumerate(self.sections):
            if one.level <= level:
                level = one.level if one.level and one.is_beside else _DEEPEST
            if level < _DEEPEST or one.span not in telling:
                aside.add(at)
        return frozenset(aside)

    @cached_property
    def _starts(self) -> dict[int, list[int]]:
        """Return the groups of each section that hold words, of very many those that hold most."""
        held = ((at, n) for at, groups in self._groups.items() for n, one in enumerate(groups) if one.terms)
        starts: dict[int, list[int]] = {}
        for at, n in sorted(nlargest(_STARTS, held, key=lambda place: self._alone(*place))):
            starts.setdefault(at, []).append(n)
        return starts

    def _alone(self, at: int, n: int) -> float:
        one = self._groups[at][n]
        return self._gain(at, one.terms, frozenset(), states=one.states, share=0.0)

    def _candidates(self, used: Mapping[int, Collection[int]], covered: frozenset[str], room: int) -> Iterator[_Window]:
        for at, starts in self._starts.items():
            groups, taken = self._groups[at], used.get(at, ())
            for first in (n for n in starts if n not in taken):
                size, terms, states = len(self.sections[at].heading) + 2, frozenset[str](), False
                for last in range(first, min(first + _GROUPS, len(groups))):
                    one = groups[last]
                    size += one.size
                    if size > (room if last == first else _PART * room) or last in taken:
                        break
                    terms |= one.terms
                    states = states or one.states
                    if one.terms:
                        gain = self._gain(at, terms, covered, states=states, share=size / max(room, 1))
                        yield _Window(at, first, last + 1, gain)

    def _gain(self, at: int, terms: frozenset[str], covered: frozenset[str], *, states: bool, share: float) -> float:
        parts = [self._worth(term, covered) for term in terms]
        parts += [_HEADED * self._worth(term, covered) for term in self._named[at] - terms]
        whole = fsum(parts) * (_ASIDE if at in self._aside else 1.0)
        gain = whole + ((_STATING if states else 0.0) - _LENGTH * share) * self._mean
        # What holds most of the words together is likelier meant than what holds one of the rarest.
        return gain * (1 + fsum(self._weights.get(term, 0.0) for term in terms) / self._whole)

    def _worth(self, term: str, covered: frozenset[str]) -> float:
        return self._weights.get(term, 0.0) * (_AGAIN if term in covered else 1.0)

    @cached_property
    def _weights(self) -> dict[str, float]:
        """Return what each word weighs: what stands everywhere in a body tells its windows apart least."""
        held = Counter(term for _, _, terms in self.hits for term in terms)
        return {term: self.weights.get(term, 1.0) / (1 + held[term]) ** 0.5 for term in sorted(held)}

    @cached_property
    def _whole(self) -> float:
        return fsum(self._weights.values()) or 1.0

    @cached_property
    def _mean(self) -> float:
        return self._whole / max(1, len(self._weights))

    # --- what is chosen ---

    def _whole_paragraphs(self, window: _Window, used: Mapping[int, Collection[int]], room: int) -> _Window:
        """Return a window with the rest of the paragraphs that it begins and ends in, as far as room is left."""
        groups, first, last = self._groups[window.section], window.first, window.last
        taken = used.get(window.section, ())
        left = room - self._size(window)
        while last < len(groups) and groups[last].group.joins and last not in taken and groups[last].size <= left:
            left, last = left - groups[last].size, last + 1
        while groups[first].group.joins and first - 1 not in taken and groups[first - 1].size <= left:
            first -= 1
            left -= groups[first].size
        return _Window(window.section, first, last, window.gain)

    def _terms(self, window: _Window) -> frozenset[str]:
        return self._named[window.section].union(*(one.terms for one in self._groups_of(window)))

    def _size(self, window: _Window) -> int:
        return sum(one.size for one in self._groups_of(window)) + len(self.sections[window.section].heading) + 2

    def _groups_of(self, window: _Window) -> list[_Told]:
        return self._groups[window.section][window.first : window.last]

    def _text(self, window: _Window) -> str:
        text = ""
        for one in self._groups_of(window):
            text += (" " if one.group.joins else "\n") + one.text if text else one.text
        return text

    def _within(self, start: int, end: int) -> Sequence[Hit]:
        return self.hits[bisect_left(self.hits, (start,)) : bisect_left(self.hits, (end,))]


def _merged(windows: Sequence[_Window]) -> list[_Window]:
    """Return windows in the body's order, those that touch as one."""
    merged: list[_Window] = []
    for one in sorted(windows, key=lambda one: (one.section, one.first)):
        if merged and (merged[-1].section, merged[-1].last) == (one.section, one.first):
            merged[-1] = _Window(one.section, merged[-1].first, one.last, one.gain)
        else:
            merged.append(one)
    return merged
