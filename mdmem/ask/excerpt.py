"""Shorten the text of entries: the sentences of the decision first, then the passages that answer a question."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import takewhile
from operator import itemgetter
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
# The most characters of a body that are read. The decision is near the start, and a longer body takes seconds.
_READ = 131_072
_RULE, _SUMMARY = 240, 480
_CODE = re.compile(r"^ {0,3}(?P<fence>```++|~~~++)[^\n]*+\n(?P<text>.*?)^ {0,3}(?P=fence)", re.DOTALL | re.MULTILINE)
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
    """Consecutive sentences of a section, with the weight of the question's terms that they contain."""

    weight: float
    start: int
    end: int
    text: str


def excerpt(
    entry: Entry, body: str, limit: int, weights: Mapping[str, float] = NO_WEIGHTS, *, searches_all: bool = False
) -> str:
    """Shorten an entry to about `limit` bytes: the decision, its last update, the best passages, and stated fields.

    `weights` are the terms of the question with their rarity. The decision is the section that states it, or else the
    first prose. Passages from background sections, such as context, alternatives and references, are used only if no
    other section contains a term. With `searches_all`, they are also used if such a passage contains more terms than
    all others. The heading of the section is quoted before such a passage.
    """
    body, stated = body[:_READ], [part for part in stated_fields(entry) if part]
    left = limit - sum(size_of(part) + 2 for part in stated)
    lead = _lead(body)
    # A smaller excerpt has the decision alone, which is more useful, and avoids the search of a long body.
    passages = _passages(body, tuple(weights.items()), searches_all=searches_all) if limit >= WHOLE else []
    half = _fitting(lead, left // 2)
    beyond = [one for one in passages if not half or not half[0].start <= one.start < half[-1].end]
    first = said(half) if half and beyond else _first(body, lead, left)
    updates = [one for one in _updates(body) if one not in first]
    best = [f"… {one.text}" for one in _best(beyond, left - size_of("\n\n".join((first, *updates))))]
    return "\n\n".join([first, *updates, *best, *stated])


def _updates(body: str) -> list[str]:
    """Return the last paragraph that starts with a label such as `Update 2021:`, shortened, or an empty list."""
    found = [without_targets(" ".join(one[0].split())) for one in _UPDATE.finditer(body)]
    # A heading or a label alone is no update.
    return [cut_at_word(text, SENTENCE) for text in found if re.search(r"\w \w+ \w+ \w", text)][-1:]


def summary_of(entry: Entry, body: str) -> str:
    """Return the decision of an entry in a few sentences."""
    return excerpt(entry, body, _SUMMARY)


def rule_of(body: str) -> str:
    """Return the first sentences of the decision's first paragraph as one line."""
    body = body[:_READ]
    lead = _lead(body)
    return " ".join(_first(body, [one for one in lead if one.block == lead[0].block], _RULE).split())


# Cached, since an excerpt of the same body is tried in several sizes.
@lru_cache(maxsize=32)
def _lead(body: str) -> list[Sentence]:
    """Return the sentences of the section that states the decision, or else of the first section with prose.

    Background sections, such as context or alternatives, are used only if there is no other section.
    """
    sections = sections_of(body)
    for group in (decision_sections(sections), without_asides(sections), sections):
        for section in group:
            sentences = (one.bare for one in sentences_in(body, section.start, section.span[1]))
            if lead := list(takewhile(lambda one: not one.text.startswith("Rationale:"), sentences)):
                return lead
    return []


def _first(body: str, lead: Sequence[Sentence], limit: int) -> str:
    """Return the first sentences of the lead that fit, or the start of the first sentence if none fits."""
    if fit := _fitting(lead, limit):
        return said(fit)
    text = lead[0].text if lead else " ".join(without_comments(body).split())
    return cut_at_word(text, max(limit, _RULE))


def _fitting(lead: Sequence[Sentence], limit: int) -> list[Sentence]:
    """Return the first sentences that fit, without a last sentence that only announces the next one."""
    fit = fitting(lead, limit)
    while len(fit) > 1 and _announces(fit[-1]):
        fit.pop()
    return fit


def _announces(sentence: Sentence) -> bool:
    """Return whether a sentence only introduces the next one: it ends with a colon, or is bold as a whole."""
    return sentence.text.endswith(":") or (sentence.text.startswith("**") and sentence.text.endswith("**"))


@lru_cache(maxsize=32)
def _passages(body: str, weights: tuple[tuple[str, float], ...], *, searches_all: bool) -> list[Passage]:
    """Return the passages that contain a term, from the main sections, or else from background sections.

    With `searches_all`, passages of background sections are returned, too, if they have more weight than all others.
    A passage of a background section, such as context or alternatives, starts with its heading.
    """
    sections, rarity = sections_of(body), dict(weights)
    hits = finder(rarity)(body) if rarity else []
    main = [passage for one in without_asides(sections) for passage in _passages_in(body, one, hits, rarity)]
    if main and not searches_all:
        return main
    most = max((one.weight for one in main), default=0.0)
    searched = {one.start for one in without_asides(sections)}
    return main + [
        passage._replace(text=f"under “{section.heading}”: {passage.text}")
        for section in sections
        if section.start not in searched
        for passage in _passages_in(body, section, hits, rarity)
        if passage.weight > most
    ]


def _passages_in(body: str, section: Section, hits: Sequence[Span], weights: Mapping[str, float]) -> Iterator[Passage]:
    start, end = section.start, section.span[1]
    within = _hits_in(hits, start, end)
    if not within:
        return
    units = [*sentences_in(body, start, end), *_blocks(body, start, end, within)]
    units.sort(key=lambda one: one.start)
    contained = [frozenset().union(*(terms for *_, terms in _hits_in(within, one.start, one.end))) for one in units]
    bare, sizes = [one.bare for one in units], [one.size for one in units]
    for first, own in enumerate(contained):
        if not own:
            continue
        last, size, terms = first, sizes[first], set(own)
        while last + 1 < len(units) and size + sizes[last + 1] <= PASSAGE:
            last += 1
            size += sizes[last]
            terms |= contained[last]
        while last > first and not contained[last] and _announces(bare[last]):
            last -= 1
        text = said(bare[first : last + 1])
        yield Passage(sum(weights.get(term, 0.0) for term in terms), units[first].start, units[last].end, text)


def _hits_in(hits: Sequence[Span], start: int, end: int) -> Sequence[Span]:
    """Return the hits that begin between two offsets; `hits` are sorted, and may be as many as the words of a body."""
    return hits[bisect_left(hits, start, key=itemgetter(0)) : bisect_left(hits, end, key=itemgetter(0))]


def _blocks(body: str, start: int, end: int, hits: Sequence[Span]) -> Iterator[Sentence]:
    """Yield the code blocks and tables in a part of a body that contain a term, shortened to the size of a passage."""
    for pattern in (_CODE, _TABLE):
        for found in pattern.finditer(body, start, end):
            inside = _hits_in(hits, found.start(), found.end())
            if not inside:
                continue
            at = inside[0][0]
            text = found[0].strip("\n") if pattern is _TABLE else found["text"].strip("\n")
            if size_of(text) > PASSAGE:
                line = body.rfind("\n", found.start(), at) + 1 or found.start()
                text = cut_at_word(body[line : found.end()], PASSAGE)
            yield Sentence(found.start(), found.end(), text, found.start())


def _best(passages: Iterable[Passage], limit: int) -> list[Passage]:
    """Return the best passages that fit and do not overlap, in the order of the body."""
    chosen: list[Passage] = []
    for one in sorted(passages, key=lambda passage: (-passage.weight, passage.start)):
        size = size_of(one.text) + 6
        if size <= limit and all(one.end <= other.start or other.end <= one.start for other in chosen):
            chosen.append(one)
            limit -= size
    return sorted(chosen, key=lambda passage: passage.start)


def mentioning_sentences(body: str, pattern: re.Pattern[str]) -> Iterator[tuple[str, re.Match[str] | None]]:
    """Yield the sentences and table rows of a body that match a pattern, each with its first match.

    Links are reduced to their texts. The match is None if only the target of a link matches (the pattern's group `id`).
    The sentence is empty if a paragraph links to the file but has no matching sentence.
    A table row with two records is left out, since it usually maps old numbers to new ones.
    """
    done = 0
    for found in pattern.finditer(body):
        # Each paragraph is searched once, even if it contains several matches.
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
