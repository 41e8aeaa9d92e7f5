"""The terms of an entry as one JSON object, of which the server gives those that a question asks for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import islice

from mdmem.index.fields import SCORED, Terms
from mdmem.regex import regex

FORMAT_KEY = " "
"""Under it stands what the terms are written in: no term is a blank."""

_LETTERS = {name: chr(ord("a") + number) for number, name in enumerate(SCORED)}
_NAMES = {letter: name for name, letter in _LETTERS.items()}
# The passage, none for the first, the field, and how often that holds the term, none for once.
_HELD = regex(rf"([0-9]{{0,9}})([{''.join(_NAMES)}])([0-9]{{0,9}})")


def packed_terms(passages: Sequence[Terms], version: str) -> str:
    """Return the terms of the scored fields of some passages, each with where it stands."""
    found: dict[str, list[str]] = {}
    for number, terms in enumerate(passages):
        for name, letter in _LETTERS.items():
            for term, count in terms.get(name, {}).items():
                found.setdefault(term, []).append(f"{number or ''}{letter}{count if count != 1 else ''}")
    return json.dumps({FORMAT_KEY: version, **{term: " ".join(held) for term, held in found.items()}})


def places_in(held: str, passages: int) -> Iterator[tuple[int, str, int]]:
    """Yield where a term stands in some passages: the passage, the field, and how often that holds it.

    A place that is none of theirs is passed over: whoever pushes has written it.
    """
    for found in islice(_HELD.finditer(held), passages * len(_NAMES)):
        number, letter, times = found.groups()
        if int(number or 0) < passages:
            yield int(number or 0), _NAMES[letter], int(times or 1)
