"""Shorten entries: the decision first, then the passages that answer a question."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple

from mdmem.ask.limits import PASSAGE, SENTENCE, WHOLE
from mdmem.markdown.headings import Section, decision_sections, sections_of, without_asides
from mdmem.markdown.sentences import (
    Sentence,
    cut_at_word,
    fitting,
    said,
    sentences_in,
    size_of,
    without_comments,
    without_targets,
)
from mdmem.markdown.text import stated_fields
from mdmem.model.entry import Entry
from mdmem.store.index.snippet import Span, finder

NO_WEIGHTS: Mapping[str, float] = {}
# Characters of a body: the decision comes before, and a longer one takes seconds.
_READ = 131_072
_RULE, _SUMMARY = 240, 480
_CODE = re.compile(r"^ {0,3}(?P<fence>```+|~~~+)[^\n]*\n(?P<text>.*?)^ {0,3}(?P=fence)", re.DOTALL | re.MULTILINE)
_ROW = re.compile(r"\s*(?:\||[-*+]\s)")
_TO_FILE = re.compile(r"\]\(<?[^()\s]*\.md\b")
_RECORD = re.compile(r"\b(?:[A-Za-z]{2,12}-|(?=0))0*(\d{1,6})\b")
# `**May 2021 Update** ...`, `UPDATE 2020-10-14: ...`
_UPDATE = re.compile(
    r"^[ \t>]*[*_(]{0,3}(?:[A-Z][a-z]+ )?(?:\d{4}[-\d]* )?(?:UPDATE|Update)(?:\*|_(?!\w)|:| \(?(?:[A-Z][a-z]+ )?\d{4})"
    r"(?:[^\n]|\n(?!\s*\n))*",
    re.MULTILINE,
)
_TABLE = re.compile(r"(?:^[ \t]*\|[^\n]*\n)+", re.MULTILINE)


class Passage(NamedTuple):
    """Consecutive sentences of a section, with their weight for the question."""

    weight: float
    start: int
    end: int
    text: str


def excerpt(entry: Entry, body: str, limit: int, weights: Mapping[str, float] = NO_WEIGHTS) -> str:
    """Return at most about `limit` bytes: the decision, its last update, the best passages, the fields of the entry.

    `weights` are the terms of the question with their rarity. The decision is the section that states it, else the
    first prose. Passages are from outside of context, alternatives and references, unless only these hold a term; then
    the heading comes before. No excerpt ends within a sentence that fits.
    """
    body, stated = body[:_READ], [part for part in stated_fields(entry) if part]
    room = limit - sum(size_of(part) + 2 for part in stated)
    lead = _lead(body)
    # Less is not worth the search of a long body, and the decision alone says more.
    passages = _passages(body, tuple(weights.items())) if limit >= WHOLE else []
    half = _fitting(lead, room // 2)
    beyond = [one for one in passages if not half or not half[0].start <= one.start < half[-1].end]
    first = _first(body, lead, room // 2 if beyond else room)
    updates = [one for one in _updates(body) if one not in first]
    best = [f"… {one.text}" for one in _best(beyond, room - size_of("\n\n".join((first, *updates))))]
    return "\n\n".join([first, *updates, *best, *stated])


def _updates(body: str) -> list[str]:
    """Return the last paragraph that says how the record was updated after it was decided, cut to a sentence."""
    found = [without_targets(" ".join(one[0].split())) for one in _UPDATE.finditer(body)]
    # A heading or a label alone says nothing.
    return [cut_at_word(text, SENTENCE) for text in found if re.search(r"\w \w+ \w+ \w", text)][-1:]


def summary_of(entry: Entry, body: str) -> str:
    """Return what was decided in a few sentences."""
    return excerpt(entry, body, _SUMMARY)


def rule_of(body: str) -> str:
    """Return in one line the first paragraph of what a body decides, as far as whole sentences fit."""
    body = body[:_READ]
    lead = _lead(body)
    return " ".join(_first(body, [one for one in lead if one.block == lead[0].block], _RULE).split())


# An excerpt is tried in several sizes.
@lru_cache(maxsize=32)
def _lead(body: str) -> list[Sentence]:
    """Return the sentences that state the decision, else the first prose that is no context and no alternative."""
    sections = sections_of(body)
    for group in (decision_sections(sections), without_asides(sections), sections):
        for section in group:
            sentences = (one.bare for one in sentences_in(body, section.start, section.span[1]))
            if lead := list(takewhile(lambda one: not one.text.startswith("Rationale:"), sentences)):
                return lead
    return []


def _first(body: str, lead: Sequence[Sentence], room: int) -> str:
    """Return the first sentences of the lead that fit, or the start of the first one."""
    if fit := _fitting(lead, room):
        return said(fit)
    text = lead[0].text if lead else " ".join(without_comments(body).split())
    return cut_at_word(text, max(room, _RULE))


def _fitting(lead: Sequence[Sentence], room: int) -> list[Sentence]:
    """Return the first sentences that fit; one that announces the next comes with it or not at all."""
    fit = fitting(lead, room)
    while len(fit) > 1 and _announces(fit[-1]):
        fit.pop()
    return fit


def _announces(sentence: Sentence) -> bool:
    """Return whether a sentence is the label of what follows: it ends with a colon, or all of it is bold."""
    return sentence.text.endswith(":") or (sentence.text.startswith("**") and sentence.text.endswith("**"))


@lru_cache(maxsize=32)
def _passages(body: str, weights: tuple[tuple[str, float], ...]) -> list[Passage]:
    """Return the passages that hold a term: of what was decided, or of other sections where nothing else holds one."""
    sections, rarity = sections_of(body), dict(weights)
    hits = finder(rarity)(body) if rarity else []
    main = [passage for one in without_asides(sections) for passage in _passages_in(body, one, hits, rarity)]
    return main or [
        passage._replace(text=f"under “{section.heading}”: {passage.text}")
        for section in sections
        for passage in _passages_in(body, section, hits, rarity)
    ]


def _passages_in(body: str, section: Section, hits: Sequence[Span], weights: Mapping[str, float]) -> Iterator[Passage]:
    start, end = section.start, section.span[1]
    within = [hit for hit in hits if start <= hit[0] < end]
    if not within:
        return
    units = [*sentences_in(body, start, end), *_blocks(body, start, end, within)]
    units.sort(key=lambda one: one.start)
    held = [frozenset().union(*(terms for at, _, terms in within if one.start <= at < one.end)) for one in units]
    for first, own in enumerate(held):
        if not own:
            continue
        last, size, terms = first, units[first].size, set(own)
        while last + 1 < len(units) and size + units[last + 1].size <= PASSAGE:
            last += 1
            size += units[last].size
            terms |= held[last]
        while last > first and not held[last] and _announces(units[last].bare):
            last -= 1
        text = said(one.bare for one in units[first : last + 1])
        yield Passage(sum(weights.get(term, 0.0) for term in terms), units[first].start, units[last].end, text)


def _blocks(body: str, start: int, end: int, hits: Sequence[Span]) -> Iterator[Sentence]:
    """Yield the code and the tables of a part of a body that hold a term, as many of their lines as fit."""
    for pattern in (_CODE, _TABLE):
        for found in pattern.finditer(body, start, end):
            at = next((at for at, _, _ in hits if found.start() <= at < found.end()), None)
            if at is None:
                continue
            text = found[0].strip("\n") if pattern is _TABLE else found["text"].strip("\n")
            if size_of(text) > PASSAGE:
                line = body.rfind("\n", found.start(), at) + 1 or found.start()
                text = cut_at_word(body[line : found.end()], PASSAGE)
            yield Sentence(found.start(), found.end(), text, found.start())


def _best(passages: Iterable[Passage], room: int) -> list[Passage]:
    """Return the best passages that fit and do not overlap, in the order of the body."""
    chosen: list[Passage] = []
    for one in sorted(passages, key=lambda passage: (-passage.weight, passage.start)):
        size = size_of(one.text) + 6
        if size <= room and all(one.end <= other.start or other.end <= one.start for other in chosen):
            chosen.append(one)
            room -= size
    return sorted(chosen, key=lambda passage: passage.start)


def mentioning_sentences(body: str, pattern: re.Pattern[str]) -> Iterator[tuple[str, re.Match[str] | None]]:
    """Yield the sentences and table rows of a body that contain a pattern, each with its first match.

    Links are reduced to their texts; the match is None where only the target of a link has the pattern's group `id`.
    The sentence is empty where a paragraph does little more than to link to the file.
    A row that names two records maps one to the other, as where records got new numbers: it mentions neither.
    """
    done = 0
    for found in pattern.finditer(body):
        # Each paragraph is read once, however often it contains the pattern.
        if found.start() < done:
            continue
        start = max(body.rfind("\n\n", 0, found.start()), 0)
        done = body.find("\n\n", found.end())
        done = done if done >= 0 else len(body)
        mentions = [*_mentions_in((one.text for one in sentences_in(body, start, done)), pattern)]
        if not mentions:
            lines = [line for line in body[start:done].split("\n") if _ROW.match(line)]
            rows = (" ".join(line.replace("|", " ").split()) for line in lines)
            mentions = [*_mentions_in((row for row in rows if len(set(_RECORD.findall(row))) < 2), pattern)]
            is_linked = any(pattern.search(link[0]) for link in _TO_FILE.finditer(body, start, done))
            if not mentions and is_linked and not body[start:done].lstrip().startswith("|"):
                mentions = [("", None)]
        yield from mentions


def _mentions_in(texts: Iterable[str], pattern: re.Pattern[str]) -> Iterator[tuple[str, re.Match[str] | None]]:
    for text in texts:
        plain = without_targets(text)
        inside = pattern.search(plain)
        if inside is not None or any(found["id"] for found in pattern.finditer(text)):
            yield plain, inside
