"""Shorten the text of entries: the sentences of the decision first, then the passages that answer a question."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice, takewhile
from math import fsum, log
from operator import itemgetter
from typing import NamedTuple

from mdmem.ask.limits import ASIDE_SHARE, SENTENCE
from mdmem.markdown.body import (
    Sentence,
    content_fields,
    cut_at_word,
    decision_sections,
    join_sentences,
    sections_of,
    sentences_in,
    size_of,
    with_asides,
    without_asides,
    without_comments,
    without_targets,
)
from mdmem.model.entry import Entry
from mdmem.store.index.analysis import Span, finder, normal

NO_WEIGHTS: Mapping[str, float] = {}
PASSAGE_START = re.compile(r"\A… (under “[^”\n]*”: )?")
"""The start of a passage in an excerpt; the group is the quoted heading, if any."""

# The most characters of a body that are read. The decision is near the start, and a longer body takes seconds.
_READ = 131_072
_RULE, _SUMMARY = 240, 480
# A line such as `Cons:` above a list is its heading. A longer one is a sentence, which would take the place of others.
_LONGEST_HEADING = 40
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
# `We will go with option 3`, `solution (3)`, but not `option 3 (a proxy)`
_NUMBERED = re.compile(
    r"\b(option|solution|action|approach|alternative|proposal)\s\(?(\d{1,2}[a-z]?|[A-Z])\b(?!\)?\s\()", re.IGNORECASE
)
_SPELT = dict(zip("123456", ("one", "two", "three", "four", "five", "six"), strict=True))
# A row of a table with a word, so no row of marks.
_ROW_OF_TABLE = re.compile(r"^[^\n]*\w[^\n]*", re.MULTILINE)


class Passage(NamedTuple):
    """Consecutive sentences of a section, with the terms of the question that they contain, and their size in bytes.

    `label` quotes the headings of the section, which may be background (an aside), such as context.
    """

    sentences: Sequence[Sentence]
    terms: frozenset[str]
    label: str
    is_aside: bool
    size: int

    @property
    def start(self) -> int:
        """Return the offset in the body at which the passage begins."""
        return self.sentences[0].start

    @property
    def end(self) -> int:
        """Return the offset in the body at which the passage ends."""
        return self.sentences[-1].end


def excerpt(entry: Entry, body: str, limit: int, weights: Mapping[str, float] = NO_WEIGHTS) -> str:
    """Shorten an entry to about `limit` bytes: the decision, its last update, the best passages, and some fields.

    The fields are those that belong to the content, such as the steps of a pattern. `weights` are the terms of the
    question with their rarity. The decision is the section that states it, or else the first prose. The passages are
    from any section. Before a passage from another section than the text before it, the heading is quoted.
    """
    # A letter and its accent may be two characters; words are found in the composed form.
    body, fields = normal(body[:_READ]), [*filter(None, content_fields(entry))]
    left = limit - sum(size_of(part) + 2 for part in fields)
    lead = _lead(body)
    sections = _units(body, weights)
    half = _first_that_fit(lead, left // 2)
    beyond = [one for one in _passages(sections) if not half or not half[0].start <= one.start < half[-1].end]
    least = 2 * SENTENCE if limit > SENTENCE else _RULE
    first = join_sentences(half) if half and beyond else _cut_lead(body, lead, left, least)
    added, room = list[str](), left - size_of(first)
    for option in _options_in(body, first):
        text = cut_at_word(option, SENTENCE)
        room -= size_of(text) + 2
        added += [text] if text not in first and room >= 0 else []
    labelled = (without_targets(" ".join(one[0].split())) for one in _UPDATE.finditer(body))
    # The last paragraph with a label such as `Update 2021:`. A heading or a label alone is no update.
    last = [cut_at_word(text, SENTENCE) for text in labelled if re.search(r"\w \w+ \w+ \w", text)][-1:]
    added += [one for one in last if one not in first]
    # A term that is in many sentences of the entry, such as its subject, says little about the best passage. General
    # words, whose weight is 0, help to find it.
    contained = [terms for section in sections for terms in section.terms]
    counts = Counter(term for terms in contained for term in terms)
    rarity = {term: (1 + weights[term]) * log(1 + len(contained) / number) for term, number in counts.items()}
    best = _best(beyond, rarity, left - size_of("\n\n".join((first, *added))))
    leading = (
        label
        for section in sections
        for unit, label in zip(section.units, section.labels, strict=True)
        if lead and unit.start == lead[0].start
    )
    return "\n\n".join([first, *added, *_labelled(best, next(leading, "")), *fields])


def _options_in(body: str, decision: str) -> Iterator[str]:
    """Yield the heading, or else the list item, of each option that a decision refers to by its number.

    A decision such as "We will go with option 3" says nothing without that.
    """
    for kind, number in dict.fromkeys(found.groups() for found in _NUMBERED.finditer(decision)):
        named = re.compile(rf"{kind} (?:{number}|{_SPELT.get(number, number)})\b\W+\w", re.IGNORECASE)
        item = re.compile(rf"^ {{0,3}}\(?{number}[.)][ \t]+\w", re.IGNORECASE | re.MULTILINE)
        if heading := next((one.heading for one in sections_of(body) if named.match(one.heading)), ""):
            yield heading
        elif found := item.search(body):
            end = body.find("\n\n", found.end())
            for one in islice(sentences_in(body, found.start(), end if end >= 0 else len(body)), 1):
                yield f"{kind.capitalize()} {number}: {one.bare.text.partition(' ')[2]}"


def _labelled(passages: Iterable[Passage], last: str) -> Iterator[str]:
    """Yield passages as text, each with its label unless the text before has the same; `last` is that of the lead."""
    for one in passages:
        text = join_sentences(sentence.bare for sentence in one.sentences)
        # A fence of code begins a line.
        text = f"\n{text}" if text.startswith(("```", "~~~")) else text
        yield f"… {one.label if one.label != last else ''}{text}"
        last = one.label


def summary_of(entry: Entry, body: str) -> str:
    """Return the decision of an entry in a few sentences, of about 480 bytes together."""
    return excerpt(entry, body, _SUMMARY)


def rule_of(body: str) -> str:
    """Return the first sentences of the decision's first paragraph as one line of about 240 bytes.

    If that only announces the next paragraph, such as a list, the line has both, or else the next one.
    """
    body = body[:_READ]
    lead = _lead(body)
    first = [one for one in lead if one.block == lead[0].block]
    fit = _first_that_fit(first, _RULE)
    if len(fit) == 1 and _announces(fit[0]):
        announced = [one for one in lead if one.block == fit[0].block + 1]
        both = [*fit, *announced]
        first = both if len(_first_that_fit(both, _RULE)) > 1 else announced or first
    return " ".join(_cut_lead(body, first, _RULE).split())


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


def _cut_lead(body: str, lead: Sequence[Sentence], limit: int, least: int = _RULE) -> str:
    """Return the first sentences of the lead that fit, or else the first sentence, of at most `least` bytes."""
    if fit := _first_that_fit(lead, limit):
        return join_sentences(fit)
    text = lead[0].text if lead else " ".join(without_comments(body).split())
    return cut_at_word(text, max(limit, least))


def _first_that_fit(lead: Sequence[Sentence], limit: int) -> list[Sentence]:
    """Return the first sentences that fit, without a last sentence that only announces the next one."""
    fit: list[Sentence] = []
    for one in lead:
        limit -= one.size
        if limit < -1:
            break
        fit.append(one)
    while len(fit) > 1 and _announces(fit[-1]):
        fit.pop()
    return fit


def _announces(sentence: Sentence) -> bool:
    """Return whether a sentence only introduces the next one.

    It ends with a colon or `because`, is bold as a whole, or is the head of a table.
    """
    text = sentence.text
    is_head = text.startswith("|") and sentence.start == sentence.block
    return text.endswith((":", ": …", " because")) or (text.startswith("**") and text.endswith("**")) or is_head


class _Units(NamedTuple):
    """The sentences, code blocks and table rows of a section, in order, with the terms that each contains."""

    labels: list[str]
    is_aside: bool
    units: list[Sentence]
    terms: list[frozenset[str]]


def _labels(body: str, headings: Sequence[str], units: Iterable[Sentence]) -> Iterator[str]:
    """Yield the label of each unit: the headings of its section and, for a list item, a line such as `Cons:` above."""
    above, margin, block = "", 0, -1
    for one in units:
        text = body[one.start : one.end]
        indent = len(text) - len(text.lstrip(" "))
        if one.is_item:
            block = one.block
        elif one.block != block:
            is_heading = one.text.endswith(":") and len(one.bare.text) <= _LONGEST_HEADING
            above, margin = one.bare.text[:-1] if is_heading else "", indent
        enclosing = (*headings, above) if one.is_item and above and indent >= margin else headings
        yield f"under “{' / '.join(enclosing)}”: " if enclosing else ""


def _units(body: str, terms: Collection[str]) -> list[_Units]:
    """Return the sentences, code blocks and table rows of each section that contains a term.

    Code blocks and rows are shortened to the size of a passage.
    """
    hits = finder(frozenset(terms))(body) if terms else []
    found = []
    for section, asides in with_asides(sections_of(body)):
        start, end = section.start, section.span[1]
        # An option is often a section below the alternatives, and its own heading does not say that it was not chosen.
        headings = [one.heading for one in asides or (section,) if one.heading]
        within = _hits_in(hits, start, end)
        # A copyright notice answers nothing, but has words such as "public".
        if within and section.heading.casefold() != "copyright":
            units = [*sentences_in(body, start, end)]
            for code in _CODE.finditer(body, start, end):
                # Sessions compare paragraphs, so code has no blank lines.
                lines = "\n".join(line for line in code["text"].splitlines() if line.strip())
                text = f"{code['fence']}\n{cut_at_word(lines, SENTENCE)}\n{code['fence']}"
                units.append(Sentence(code.start(), code.end(), text, code.start()))
            for table in _TABLE.finditer(body, start, end):
                for row in _ROW_OF_TABLE.finditer(table[0]):
                    at, text = table.start() + row.start(), cut_at_word(row[0], SENTENCE)
                    units.append(Sentence(at, at + len(row[0]), text, table.start(), is_item=True))
            units.sort(key=lambda one: one.start)
            hits_of_units = (_hits_in(within, one.start, one.end) for one in units)
            contained = [frozenset[str]().union(*(some for *_, some in own)) for own in hits_of_units]
            found.append(_Units([*_labels(body, headings, units)], bool(asides), units, contained))
    return found


def _passages(sections: Iterable[_Units]) -> Iterator[Passage]:
    """Yield the passages that begin with a term of the question, each as long as a passage may be."""
    for labels, is_aside, units, terms in sections:
        sizes = [one.size for one in units]
        for first in (at for at, some in enumerate(terms) if some):
            last, size = first, sizes[first]
            while last + 1 < len(units) and size + sizes[last + 1] <= SENTENCE:
                # A passage that begins with an item ends where the list under the same heading ends.
                if units[first].is_item and labels[last + 1] != labels[first]:
                    break
                last += 1
                size += sizes[last]
            while last > first and not terms[last] and _announces(units[last].bare):
                size -= sizes[last]
                last -= 1
            # A sentence such as "It is calculated by:" says nothing without the next one.
            while last + 1 < len(units) and _announces(units[last].bare) and size + sizes[last + 1] <= 2 * SENTENCE:
                last += 1
                size += sizes[last]
            contained = frozenset[str]().union(*terms[first : last + 1])
            size += size_of(labels[first])
            yield Passage(units[first : last + 1], contained, labels[first], is_aside, size)


def _hits_in(hits: Sequence[Span], start: int, end: int) -> Sequence[Span]:
    """Return the hits that begin between two offsets; `hits` are sorted, and may be as many as the words of a body."""
    return hits[bisect_left(hits, start, key=itemgetter(0)) : bisect_left(hits, end, key=itemgetter(0))]


def _best(passages: Iterable[Passage], weights: Mapping[str, float], limit: int) -> list[Passage]:
    """Return the best passages that fit and do not overlap, in the order of the body.

    A term counts half for each better passage that already contains it. A passage of the background counts a little
    less.
    """
    chosen: list[Passage] = []
    left, rest = dict(weights), [one for one in passages if one.size + 6 <= limit]
    while rest:
        # Many passages contain the same terms. The sum does not depend on the order of the terms.
        sums = {terms: fsum(left[term] for term in terms) for terms in {one.terms for one in rest}}
        best = max(rest, key=lambda one: sums[one.terms] * (ASIDE_SHARE if one.is_aside else 1.0))
        chosen.append(best)
        limit -= best.size + 6
        left |= {term: left[term] / 2 for term in best.terms}
        apart = (one for one in rest if one.end <= best.start or best.end <= one.start)
        rest = [one for one in apart if one.size + 6 <= limit]
    return sorted(chosen, key=lambda one: one.start)


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
