"""Sentences of a body that may say that its entry amends another, with the names in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from mdmem.markdown.links import BodyLink
from mdmem.markdown.parse import without_code
from mdmem.record import StoredRecord

# The verbs but for their first letters, which may be capitals: a text without any is searched at the speed of memory.
_STEMS = ("mend", "evise", "pdate", "odif", "elax", "upplement", "artially ")
# Looked for first, since a subject may stand anywhere.
_VERB = re.compile(
    r"\b(?:[Aa]mend|[Rr]evise|[Uu]pdate|[Mm]odif(?:ie|y)|[Rr]elaxe?|[Ss]upplement"
    r"|[Pp]artially (?:supersede|replace))(s?)\b"
)
_SUBJECT = re.compile(
    r"\b(?:(?:this|the present)(?: \w+){0,2}|we|it)\s+(?:(?:also|only|partially)\s+)?(?:\w+\s+and\s+)?\Z", re.IGNORECASE
)
_MAYBE_SUBJECT = re.compile(r"\b(?:this|the present|we|it)\b", re.IGNORECASE)
# Where nobody is named, it begins the sentence, and `Update the list` is a task for somebody.
_START = re.compile(r"(?:\A|[.:!?]\s+|\n)[ \t]*(?:[-*+][ \t]+)?[*_]{0,2}\Z")
_BEFORE = 40
# Up to the end of the sentence, and no further: a name far from the verb is of something else.
_OBJECT = re.compile(r"(?:[^.!?;\n]|\.(?=\w)|\n(?!\s)){0,60}")
_LONGEST = 200
# What is read behind where a verb begins: the verb, the part behind it, and a name that ends there.
_AFTER = _LONGEST + 100
_NAMES = re.compile(
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
    for start, first, text in _prose_at(body, _verb_starts(body), prose):
        verb = _speaks_at(text, start - first)
        said = _OBJECT.match(text, verb.end()) if verb is not None else None
        if said is None:
            continue
        begin, end = first + said.start(), first + said.end()
        names = tuple(_names(body, text, first, range(begin, end)))
        if names or any(begin <= one.offset < end for one in references):
            yield AmendmentSentence(start, begin, end, names)


def _prose_at(body: str, starts: Sequence[int], prose: Callable[[], str]) -> Iterator[tuple[int, int, str]]:
    """Yield each of some offsets, in order, with prose around it and the offset of that."""
    is_fenced = bool(starts) and ("```" in body or "~~~" in body)
    first, end, lines, has_fence = 0, -1, "", False
    for start in starts:
        # To blank out some lines takes less than the body; a long one is blanked out once, however many verbs it holds.
        if start + _AFTER > end:
            first, end = body.rfind("\n", 0, max(0, start - _BEFORE)) + 1, body.find("\n", start + 2 * _AFTER)
            end = end if end >= 0 else len(body) + _AFTER
            lines = without_code(body[first:end])
            has_fence = is_fenced and any(fence in body[first:end] for fence in ("```", "~~~"))
        if not is_fenced:
            yield start, first, lines
        elif has_fence or _speaks_at(lines, start - first):
            # In the midst of a fence nothing speaks.
            yield start, 0, prose()


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


def _may_speak(body: str, verb: re.Match[str]) -> bool:
    if verb[1] and verb[0][0].isupper():
        return True
    return _MAYBE_SUBJECT.search(body, max(0, verb.start() - _BEFORE), verb.start()) is not None


def _speaks_at(text: str, offset: int) -> re.Match[str] | None:
    """Return the verb at an offset whose subject is the entry itself."""
    verb = _VERB.match(text, offset)
    before = text[max(0, offset - _BEFORE) : offset]
    if verb is None or _SUBJECT.search(before):
        return verb
    begins = bool(verb[1]) and verb[0][0].isupper() and _START.search(before) is not None
    return verb if begins else None


def _names(body: str, text: str, first: int, said: range) -> Iterator[EntryName]:
    # A name may end behind the part, where a number that is cut off would be another.
    for found in _NAMES.finditer(body, said.start, said.stop + _LONGEST):
        if found.start() not in said:
            return
        kind, number, address = found.group("kind", "number", "address")
        # Of a role such as :pep:`376` the number looks like code.
        if text.startswith(kind or address, found.start() - first):
            yield EntryName(found.start(), (kind or "").casefold(), int(number or 0), address or "")
