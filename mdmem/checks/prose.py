"""The prose of an entry: what it states, where its reasons begin, and where a changed one begins to differ."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mdmem.model.finding import Place
from mdmem.store.catalog import Catalog
from mdmem.store.catalog.changes import Changed, first_difference

_REASON = r"(?:rationale|motivation|reason(?:ing)?|justification|why)s?"
_SETTING = r"(?:context|background|problem|purpose|driver)s?"
# `Why:` may be bold, quoted or an item; a heading may say more than the one word.
_REASONS_BEGIN = re.compile(
    rf"^[ \t>]*(?:[-*+][ \t]+)?[*_]{{0,2}}{_REASON}(?![a-z])[*_]{{0,2}}[ \t]*[:.\u2013\u2014]"
    rf"|^#{{1,6}}[ \t].*\b(?:{_REASON}|{_SETTING})\b",
    re.IGNORECASE | re.MULTILINE,
)
_UNDERLINED_REASONS = re.compile(
    rf"^.*\b(?:{_REASON}|{_SETTING})\b.*\r?\n[=-]{{3,}}[ \t]*\r?$", re.IGNORECASE | re.MULTILINE
)
# What our own template writes, found without an expression.
_USUAL = "\nRationale:"
_SENTENCE_END = re.compile(r"[.!?](?<!e\.g\.)(?<!i\.e\.)[\"')\]*_]*\s+|\n[ \t]*\r?\n|\n[ \t]*(?:[-*+]|\d+[.)])[ \t]+")
# Atomic, since a comment could otherwise end in many places: 2^n ways for n comments.
_NOTHING = re.compile(r"(?>\s+|#{1,6}(?:[ \t][^\n]*)?(?=\r?\n|\Z)|<!--(?s:.*?)-->)*+\Z")
_HEADING = re.compile(r"\n[ \t]*#{1,6}[ \t].*")
_CAUSE = re.compile(
    r"\b(?:because|since|so\s+that|therefore|instead\s+of|rather\s+than|no\s+longer|due\s+to|in\s+favou?r\s+of"
    r"|replac\w+|supersed\w+)\b",
    re.IGNORECASE,
)


def says_nothing(body: str) -> bool:
    """Say whether a body holds only blanks, headings and comments."""
    return _NOTHING.match(body) is not None


def reasons_begin(prose: str) -> int | None:
    """Return the offset of the line that begins a rule's reasons, or None."""
    usual = prose.find(_USUAL)
    end = len(prose) if usual < 0 else usual
    found = [_REASONS_BEGIN.search(prose, 0, end)]
    if "\n---" in prose or "\n===" in prose:
        found.append(_UNDERLINED_REASONS.search(prose, 0, end))
    starts = [match.start() for match in found if match] + ([usual + 1] if usual >= 0 else [])
    return min(starts, default=None)


def statement(prose: str) -> str:
    """Return the part that states the rule, headings blanked out: what stands before the reasons, else all of it."""
    before = _without_headings(prose[: reasons_begin(prose)])
    return before if before.strip() else _without_headings(prose)


def _without_headings(prose: str) -> str:
    if "#" not in prose:
        return prose
    return _HEADING.sub(lambda found: "\n" + " " * (len(found.group()) - 1), f"\n{prose}")[1:]


def sentences(text: str) -> Iterator[tuple[int, str]]:
    """Yield the sentences of a text with their offsets; each item of a list counts as one."""
    start = 0
    for end in _SENTENCE_END.finditer(text):
        yield start, text[start : end.start()]
        start = end.end()
    yield start, text[start:]


def text_gives_reason(body: str) -> bool:
    """Say whether a body holds a reason."""
    if "because" in body or "Rationale:" in body:
        return True
    return _CAUSE.search(body) is not None or reasons_begin(body) is not None


def first_reworded(catalog: Catalog, one: Changed) -> Place:
    """Return the first line of an entry's body that is another than before."""
    line, text = first_difference(one.body_before, one.body_after)
    return Place(one.after.path, catalog.document(one.after.path).body_line + line, 1, len(text))
