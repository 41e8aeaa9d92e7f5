"""The sections of a body, and what is said of an entry in few words: what was decided, and where others are named."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from mdmem.markdown.headings import Section, deciding, sections_of, told
from mdmem.markdown.names import own_names
from mdmem.markdown.passages import Find, Passages
from mdmem.markdown.sentences import (
    Sentence,
    cut_at_paragraph,
    cut_at_word,
    fitting,
    said,
    sentences_in,
    size_of,
    without_comments,
    without_targets,
)
from mdmem.markdown.statements import stated_fields
from mdmem.model.entry import Entry
from mdmem.model.relations import holds_any, lowered, may_relate, relation_of, words_in

NO_WEIGHTS: Mapping[str, float] = {}
SHORTENED = 600
# Characters: what governs stands before, and reading 240 KB of headings takes seconds.
_READ = 131_072
# What the lead leaves to the passages: it takes a quarter, or so much; where that cuts the sentence that rules, more.
_SHORT_LEAD, _LEAD = 250, 450
_DECIDING = 2048
_CITED = 300
_RULING = 240
# A passage smaller than this says nothing.
_SMALLEST = 80

_OPERATIVE = {
    *("must", "shall", "should", "never", "always", "decide", "decided", "propose", "proposes", "proposed", "proposal"),
    *("adopt", "adopts", "adopted", "chosen", "choose", "chose", "selected", "introduce", "introduces", "specify"),
    *("specifies", "define", "defines", "describes", "mandate", "mandates", "replace", "replaces", "supersede"),
    *("supersedes", "reject", "rejects", "rejected", "accepted", "withdrawn", "recommend", "recommends"),
    *("recommended", "require", "requires", "adds", "removes", "deprecates"),
}
_OPERATIVE_PHRASES = (
    *("we will", "we use", "we keep", "we make", "We will", "We use", "We keep", "We make"),
    *("will be", "do not", "don't", "may not"),
)
# Where a sentence begins so, behind the mark of an item.
_ORDERS = {"Add", "Allow", "Do", "Extend", "Keep", "Make", "Provide", "Run", "Store", "Support", "Use", "Write"}
# Reasons that stand as prose below the rule.
_RATIONALE = re.compile(
    r"[*_]{0,2}(?:rationale|why|because|context|background|motivation|alternatives?|rejected|considered)\b[^.\n:]{0,30}:",
    re.IGNORECASE,
)
# A ruling further down than this is another subject.
_FIRST_BLOCKS = 3
_CHANGING = (
    *("amend", "replac", "updat", "requir", "extend", "supersed", "obsolet", "modif", "revis", "deprecat", "overrid"),
    *("relax", "refin", "clarif", "build", "chang", "remov", "reject", "withdr", "lift", "omit", "lack", "loosen"),
)
_CHANGING_PHRASES = (
    *("instead", "no longer", "add to", "adds to", "added to", "adding to", "addition to", "additions to"),
)
_NUMBERED = re.compile(r"([A-Za-z]+)[ _-]0*(\d+)(?!\d)")


def deciding_section(
    entry: Entry, body: str, find: Find | None = None, weights: Mapping[str, float] = NO_WEIGHTS
) -> str:
    """Return the section that says what was decided, with what its entry states beside; empty where there is none.

    Where other sections hold more of a question, their best passages follow.
    """
    body = body[:_READ]
    sections = sections_of(body)
    whole = deciding(sections)
    if not whole:
        return ""
    parts = [
        without_comments(body[one.start if at == 0 else one.span[0] : one.span[1]]) for at, one in enumerate(whole)
    ]
    text = cut_at_paragraph(re.sub(r"\n(?:[ \t]*\r?\n){2,}", "\n\n", "".join(parts)).strip(), _DECIDING)
    if find is not None:
        passages = Passages(body, sections, find, weights)
        lead = [one for part in whole for one in _prose(body, part)]
        text = "\n\n".join(filter(None, (text, passages.best(lead, SHORTENED, new=True))))
    return "\n\n".join([text, *filter(None, stated_fields(entry))])


def shortened(
    entry: Entry,
    body: str,
    find: Find | None = None,
    limit: int = SHORTENED,
    weights: Mapping[str, float] = NO_WEIGHTS,
    *,
    enough: int | None = None,
) -> str:
    """Return what was decided, then the best passages for a question, and what the entry states beside its body.

    No passage is from alternatives, context or motivation, and each ends with a sentence. `weights` say how rare the
    words of the question are. Of what takes more than `enough` bytes only as much is looked for as shows it.
    """
    text = _shortened(body[:_READ], find, limit, tuple(weights.items()), enough)
    return "\n\n".join(part for part in (text, *stated_fields(entry)) if part)


# An answer tries several plans, and agents ask the same again.
@lru_cache(maxsize=64)
def _shortened(
    body: str, find: Find | None, limit: int, weights: tuple[tuple[str, float], ...], enough: int | None
) -> str:
    lead = _lead(body)
    text = _headed(body, lead, limit)
    if find is not None:
        passages = Passages(body, sections_of(body), find, dict(weights), names=own_names(body))
        text = _with_passages(lead, passages, limit, enough) or text
    return text


def ruling(body: str) -> str:
    """Return what a body rules in one line: as much of what was decided as fits, from the sentence that says so."""
    body = body[:_READ]
    return " ".join(_headed(body, _lead(body), _RULING).split())


def least_size(entry: Entry, body: str, limit: int) -> int:
    """Return the bytes that what `shortened` gives has at least, whatever the question."""
    return _least_size(body[:_READ], limit) + sum(map(size_of, stated_fields(entry)))


@lru_cache(maxsize=64)
def _least_size(body: str, limit: int) -> int:
    lead = _lead(body)
    return min(size_of(_headed(body, lead, room)) for room in _rooms(limit))


class Citing(NamedTuple):
    """A sentence that names an entry, at most 300 bytes of it, and what it says that its own entry does to that."""

    said: str
    does: str = ""


@lru_cache(maxsize=64)
def citing_sentences(body: str, names: tuple[str, ...]) -> tuple[Citing, ...]:
    """Return the sentences that name one of the names, those that say what changes first.

    Of what was rejected, or is context, none says what its entry does. A name is an address, an id, a link, or a kind
    with its number (`PEP 484`, in any usual writing of it).
    """
    marks = _marks_of(names)
    folded = _folded(body)
    pattern = naming(names) if any(mark in folded for mark in marks) else None
    if pattern is None:
        return ()

    longest = {max(mark.split(), key=len, default="") for mark in marks}

    def may_cite(block: str) -> bool:
        # A name may go on in the next line.
        return _holds(block, longest) and _holds(" ".join(block.split()), marks)

    found: list[tuple[bool, bool, bool, Citing]] = []
    sections = sections_of(body)

    @cache
    def telling() -> frozenset[tuple[int, int]]:
        return frozenset(one.span for one in told(sections))

    for section in sections:
        if all(folded.find(mark, *section.span) < 0 for mark in marks):
            continue
        sentences = sentences_in(body, section.start, section.span[1], among=may_cite)
        # The pattern looks at every letter and its case: of ten parts nine do not even hold what no mention lacks.
        cited = [(one, named) for one in sentences if _holds(one.text, marks) and (named := pattern.search(one.text))]
        if any(pattern.search(body, one.start, one.end) for one, _ in cited) or (
            cited and pattern.search(body, *section.span)
        ):
            for one, named in cited:
                text = without_targets(one.text)
                # Few sentences may say what they do: for the others no heading is judged but their own.
                does = relation_of(text, pattern) if may_relate(text) and section.span in telling() else ""
                citing = Citing(_around(one.text, named), does)
                found.append((not does, not is_changing(one.text), section.is_aside, citing))
    return tuple(dict.fromkeys(citing for *_, citing in sorted(found, key=lambda one: one[:3])))


def _holds(text: str, marks: Collection[str]) -> bool:
    folded = _folded(text)
    return any(mark in folded for mark in marks)


def _marks_of(names: Iterable[str]) -> frozenset[str]:
    """Return what each mention of one of the names holds one of: a name itself, or its number."""
    numbered = ((name, _NUMBERED.fullmatch(name.rsplit("/", 1)[-1])) for name in filter(None, names))
    # Whatever holds a name holds its number.
    return frozenset(kind[2] if kind else _folded(name) for name, kind in numbered)


class _Folds(dict[int, str]):
    """What stands for a letter and all that are equal to it but for case; of `ı`, `i` and `İ` patterns make one."""

    def __missing__(self, code: int) -> str:
        self[code] = "i" if chr(code) == "\u0131" else chr(code).casefold()[0]
        return self[code]


_FOLDS = _Folds()


def _folded(text: str) -> str:
    """Return a text in which whatever is equal but for case is equal, every letter at its place."""
    if text.isascii():
        return text.lower()
    # Most lines of most texts are ASCII, which is lowered twenty times as fast.
    return "\n".join(line.lower() if line.isascii() else line.translate(_FOLDS) for line in text.split("\n"))


def is_changing(sentence: str) -> bool:
    """Say whether a sentence says that something is changed, not only pointed to."""
    said = lowered(sentence)
    return any(word.startswith(_CHANGING) for word in words_in(said)) or holds_any(said, _CHANGING_PHRASES)


def naming(names: Iterable[str]) -> re.Pattern[str] | None:
    """Return what finds a mention of one of the names, None where there is no name."""
    return _naming(tuple(names))


# Of one entry all that may cite it are asked.
@lru_cache(maxsize=64)
def _naming(names: tuple[str, ...]) -> re.Pattern[str] | None:
    ways, roles = dict[str, None](), dict[str, None]()
    for name in filter(None, names):
        ways[rf"{re.escape(name)}(?![\w-])"] = None
        if numbered := _NUMBERED.fullmatch(name.rsplit("/", 1)[-1]):
            kind, number = numbered.groups()
            ways[rf"{kind}s?[\s_-]*#?0*{number}(?!\.?\d)"] = None
            roles[rf":{kind}:`(?:[^`<]*<)?0*{number}(?:#[^`>]*)?>?`"] = None
    return re.compile("|".join((*roles, rf"(?<![\w-])(?:{'|'.join(ways)})")), re.IGNORECASE) if ways else None


@lru_cache(maxsize=64)
def _lead(body: str) -> Sequence[Sentence]:
    """Return the sentences that say what was decided, else the first prose up to the one that rules."""
    sections = sections_of(body)
    decided = [one for part in deciding(sections) for one in _prose(body, part)]
    if decided:
        return decided
    for among in (told(sections), sections):
        for section in among:
            if prose := _prose(body, section):
                return _first_paragraphs(prose)
    return []


def _prose(body: str, section: Section) -> list[Sentence]:
    return [one.bare for one in sentences_in(body, section.start, section.span[1])]


def _first_paragraphs(prose: Sequence[Sentence]) -> list[Sentence]:
    """Return the first paragraph, or all up to the first that rules; what ends in a colon takes the next along."""
    stated = list(prose)
    for at, one in enumerate(prose):
        if at and _RATIONALE.match(one.text):
            stated = stated[:at]
            break
    blocks = list(dict.fromkeys(one.block for one in stated))[:_FIRST_BLOCKS]
    ruling = next((one.block for one in stated if one.block in blocks and _rules(one.text)), blocks[0])
    kept = [one for one in stated if one.block <= ruling]
    later = [one for one in stated if one.block > ruling]
    if later and kept[-1].text.endswith(":"):
        kept += [one for one in later if one.block == later[0].block]
    return kept


def _rules(sentence: str) -> bool:
    words = words_in(sentence)
    return (
        not _OPERATIVE.isdisjoint(words)
        or holds_any(sentence, _OPERATIVE_PHRASES)
        or (not _ORDERS.isdisjoint(words) and _is_order(sentence, words))
    )


def _is_order(sentence: str, words: Iterable[str]) -> bool:
    """Say whether a sentence begins with an order, behind the mark of an item alone."""
    first = next((word for word in words if not word.isdecimal()), "")
    before = sentence.partition(first)[0] if first in _ORDERS else sentence
    mark = before.rstrip()
    return not before or (before != mark != "" and all(sign in "-*+.)" or sign.isdecimal() for sign in mark))


def _fitted(lead: Sequence[Sentence], limit: int) -> list[Sentence]:
    """Return the sentences that fit, from the first one, or from the one that rules where it would be cut off."""
    fit = fitting(lead, limit)
    ruling = next((at for at, one in enumerate(lead) if _rules(one.text)), 0)
    return fit if ruling < len(fit) or not lead else fitting(lead[ruling:], limit)


def _cut_lead(body: str, lead: Sequence[Sentence], limit: int) -> str:
    """Return the start of a sentence that is too long, or of a body without any prose."""
    if lead:
        return cut_at_word(next((one.text for one in lead if _rules(one.text)), lead[0].text), limit)
    texts = (" ".join(without_comments(one.text).split()) for one in sections_of(body))
    # A comment before all else that nothing closes would hide the whole.
    is_hidden = body.lstrip().startswith("<!--") and "-->" not in body
    return cut_at_word(next(filter(None, texts), " ".join(body.split()) if is_hidden else ""), limit)


def _with_passages(lead: Sequence[Sentence], passages: Passages, limit: int, enough: int | None) -> str:
    """Return the lead and the best passages within a limit; empty where no passage says more than the lead."""
    if not passages.hits:
        return ""
    *_, most = _rooms(limit)
    for room in _rooms(limit):
        head = _fitted(lead, room)
        # A sentence that rules is neither cut nor left out where there is room for it, nor what one announces.
        if room < most and lead and _rules_on(head, _fitted(lead, most)):
            continue
        text = _headed(passages.body, lead, room)
        size = size_of(text)
        left = limit - size - len("\n\n")
        if left >= max(_SMALLEST, limit // 4):
            beyond = None if enough is None else max(0, enough - size)
            return "\n\n".join(filter(None, (text, passages.best(head or lead[:1], left, enough=beyond))))
    return ""


def _rules_on(head: Sequence[Sentence], more: Sequence[Sentence]) -> bool:
    """Say whether the longer of two leads says more of what was decided."""
    return not head or head[-1].text.endswith(":") or any(_rules(one.text) for one in more[len(head) :])


def _rooms(limit: int) -> tuple[int, ...]:
    """Return the sizes that a lead is tried in beside passages."""
    most = min(_LEAD, limit * 3 // 4)
    return min(most, max(_SHORT_LEAD, limit // 4)), most


def _headed(body: str, lead: Sequence[Sentence], room: int) -> str:
    whole = _fitted(lead, room)
    return said(whole) if whole else _cut_lead(body, lead, room)


def _around(text: str, named: re.Match[str]) -> str:
    """Return a sentence, or as much of it as may be shown around a name."""
    if size_of(text) <= _CITED:
        return text
    start = max(0, min(named.start() - _CITED // 3, len(text) - _CITED // 2))
    start = text.rfind(" ", 0, start + 1) + 1
    return cut_at_word(("… " if start else "") + text[start:], _CITED)
