"""The file holds characters that do not show.

A zero-width space in a key makes it another key, and in an address another address, though both look right to every
reader. Characters that turn the direction of text let a line read otherwise than it is; others hide words for a model
alone. In a key, an address or the name of a file they are an error, elsewhere a warning. A file whose name ends a line
or turns the direction of text is no entry. What emoji and scripts such as Persian or Thai need is no finding.

Fails:

    st\\u200batus: active
    supersedes: [app/rules/\\u200blocal-times]

Fix: write the word anew, or remove the character at the column given.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.characters import described, in_body, in_name, invisible_in_names, invisible_in_values
from mdmem.markdown.parse import Document
from mdmem.model.entry import LINK_FIELDS
from mdmem.model.finding import Finding, Severity

CODE = "invisible-characters"
SEVERITY = Severity.ERROR
_FORBIDDEN = (
    "[\u00ad\u180e\u2028-\u202e\u2060-\u206f\ufeff]"
    # Thai and Khmer part words with it.
    "|(?<![\u0e00-\u17ff])\u200b"
    # The joiners belong to Arabic and Indic scripts and to emoji.
    "|(?<![\u0590-\u1fff\u2190-\U0010ffff])[\u200c\u200d]"
    # Tags spell the flags of regions after a black flag, in seven characters at most.
    "|(?<![\U0001f3f4\U000e0000-\U000e007f])[\U000e0000-\U000e007f]+|(?<=\U0001f3f4)[\U000e0000-\U000e007f]{8,}"
    # One selector chooses a variant of the sign before it; a row of them spells something.
    "|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}"
)
_INVISIBLE = re.compile(_FORBIDDEN)
# Where no script runs from right to left, its marks mean nothing.
_INVISIBLE_LEFT_TO_RIGHT = re.compile(_FORBIDDEN + "|[\u061c\u200e\u200f]")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u05ff\u0620-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
# A class alone is found five times as fast as the alternatives above.
_CANDIDATE = re.compile(
    "[\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e01ef]"
)
# What these begin with in UTF-8: most files hold none of it, and to search bytes costs a fifth.
_SUSPECT = re.compile(rb"\xe2(?:\x80[\x8b-\x8f\xa8-\xae]|\x81[\xa0-\xaf])")
_SUSPECT_BYTES = (b"\xc2", b"\xd8", b"\xe1", b"\xef", b"\xf3")


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each key, address, name, value and body that holds some, at the first."""
    yield from case.loaded(CODE)
    for path, character in invisible_in_names(case):
        if unicodedata.category(character) not in ("Cc", "Cs"):
            yield in_name(CODE, path, character)
    for address, document in case.documents:
        if not document.text.isascii() and _may_hold(document.data):
            yield from _in_values(address, document)
            matches = _invisible_in(document.body)
            if matches:
                yield in_body(case, CODE, address, matches)


def _invisible_in(text: str) -> list[re.Match[str]]:
    """Return what does not show in a text, in order, without what emoji and scripts need."""
    starts = [found.start() for found in _CANDIDATE.finditer(text)]
    if not starts:
        return []
    pattern = _INVISIBLE if _RIGHT_TO_LEFT.search(text) else _INVISIBLE_LEFT_TO_RIGHT
    matches: list[re.Match[str]] = []
    for start in starts:
        found = pattern.match(text, start) if not matches or start >= matches[-1].end() else None
        if found:
            matches.append(found)
    return matches


def _may_hold(data: bytes) -> bool:
    return _SUSPECT.search(data) is not None or any(byte in data for byte in _SUSPECT_BYTES)


def _in_values(address: str, document: Document) -> Iterator[Finding]:
    for name, text in invisible_in_values(document):
        matches = _invisible_in(text) if name not in LINK_FIELDS else []
        if matches:
            message = f"{described(matches[0].group())} in `{name}`"
            place = document.place(name)
            yield Finding(CODE, message, place, "remove it", address, severity=Severity.WARNING)
