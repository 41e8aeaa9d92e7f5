"""Sentences of a body that may say that its entry amends another, with the names in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from mdmem.document.links import BodyLink
from mdmem.document.parse import without_code
from mdmem.record import StoredRecord
from mdmem.regex import regex

# The verbs but for their first letters, which may be capitals: a text without any is searched at the speed of memory.
_STEMS = ("mend", "evise", "pdate", "odif", "elax", "upplement", "artially ")
# Looked for first, since a subject may stand anywhere.
_VERB = regex(
    r"\b(?:[Aa]mend|[Rr]evise|[Uu]pdate|[Mm]odif(?:ie|y)|[Rr]elaxe?|[Ss]upplement"
    r"|[Pp]artially (?:supersede|replace))(s?)\b"
)
_SUBJECT = regex(
    r"\b(?:(?:this|the present)(?: \w+){0,2}|we|it)\s+(?:(?:also|only|partially)\s+)?(?:\w+\s+and\s+)?\Z", re.IGNORECASE
)
_MAYBE_SUBJECT = regex(r"\b(?:this|the present|we|it)\b", re.IGNORECASE)
# Where nobody is named, it begins the sentence, and `Update the list` is a task for somebody.
_START = regex(r"(?:\A|[.:!?]\s+|\n)[ \t]*(?:[-*+][ \t]+)?[*_]{0,2}\Z")
_BEFORE = 40
# Up to the end of the sentence, and no further: a name far from the verb is of something else.
_OBJECT = regex(r"(?:[^.!?;\n]|\.(?=\w)|\n(?!\s)){0,60}")
_LONGEST = 200
_NAMES = regex(
    r"(?<![\w-])(?P<kind>[A-Za-z]{2,10})(?:[ \-_]|:`|\s#)0*(?P<number>\d{1,6})(?![\w-])"
    r"|(?<![\w/-])(?P<address>[a-z0-9_]+/[a-z0-9-]+/[\w-]+)"
)


class EntryName(StoredRecord, frozen=True, array_like=True):
    """A name that may mean an entry, and where it stands: its kind and number, or its address."""

    offset: int
    kind: str
    number: int
    address: str


class AmendmentSentence(StoredRecord, frozen=True, array_like=True):
    """Where a verb such as amends stands, and what may be its object.

    `start` and `end` bound the part behind the verb in which a link counts as a name, too.
    """

    offset: int
    start: int
    end: int
    names: tuple[EntryName, ...]


def amendment_sentences(
    body: str, prose: Callable[[], str], references: Sequence[BodyLink]
) -> Iterator[AmendmentSentence]:
    """Yield the sentences whose subject is the entry itself and that name anything, in their order.

    `prose` gives the body with its code blanked out, `references` are the links in it.
    """
    starts = _verb_starts(body)
    if starts and "```" not in body and "~~~" not in body:
        # To blank out two lines takes less than the body.
        starts = list(_speaking(body, starts))
    if not starts:
        return
    text = prose()
    for start in starts:
        verb = _VERB.match(text, start)
        said = _OBJECT.match(text, verb.end()) if verb is not None and _speaks_for_itself(text, verb) else None
        if verb is None or said is None:
            continue
        names = tuple(_names(body, text, said))
        if names or any(said.start() <= one.offset < said.end() for one in references):
            yield AmendmentSentence(verb.start(), said.start(), said.end(), names)


def _verb_starts(body: str) -> list[int]:
    """Return where one of the verbs may have its subject, in order, be it in code or not."""
    found = []
    for stem in _STEMS:
        at = body.find(stem)
        while at >= 0:
            verb = _VERB.match(body, at - 1) if at else None
            if verb is not None and _may_speak(body, verb):
                found.append(at - 1)
            at = body.find(stem, at + 1)
    return sorted(found)


def _speaking(body: str, starts: Sequence[int]) -> Iterator[int]:
    """Yield those of the verbs, in order, that have their subject, in a body without fenced code."""
    first, end, lines = 0, -1, ""
    for start in starts:
        # A line is blanked out once, however many verbs it holds.
        if start > end:
            first, end = body.rfind("\n", 0, max(0, start - _BEFORE)) + 1, body.find("\n", start)
            end = end if end >= 0 else len(body)
            lines = without_code(body[first:end])
        verb = _VERB.match(lines, start - first)
        if verb is not None and _speaks_for_itself(lines, verb):
            yield start


def _may_speak(body: str, verb: re.Match[str]) -> bool:
    if verb[1] and verb[0][0].isupper():
        return True
    return _MAYBE_SUBJECT.search(body, max(0, verb.start() - _BEFORE), verb.start()) is not None


def _speaks_for_itself(text: str, verb: re.Match[str]) -> bool:
    before = text[max(0, verb.start() - _BEFORE) : verb.start()]
    if _SUBJECT.search(before):
        return True
    return bool(verb[1]) and verb[0][0].isupper() and _START.search(before) is not None


def _names(body: str, text: str, said: re.Match[str]) -> Iterator[EntryName]:
    # A name may end behind the part, where a number that is cut off would be another.
    for found in _NAMES.finditer(body, said.start(), said.end() + _LONGEST):
        if found.start() >= said.end():
            return
        kind, number, address = found.group("kind", "number", "address")
        # Of a role such as :pep:`376` the number looks like code.
        if text.startswith(kind or address, found.start()):
            yield EntryName(found.start(), (kind or "").casefold(), int(number or 0), address or "")
