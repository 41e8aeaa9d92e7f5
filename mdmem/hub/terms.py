"""The terms of an entry as one JSON object, of which the server gives those that a question asks for."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from mdmem.index.fields import SCORED, Terms
from mdmem.regex import regex

FORMAT_KEY = " "
"""Under it stands what the terms are written in: no term is a blank."""

_LETTERS = {name: chr(ord("a") + number) for number, name in enumerate(SCORED)}
_NAMES = {letter: name for name, letter in _LETTERS.items()}
# The passage, none for the first, the field, and how often that holds the term, none for once.
_HELD = regex(r"(\d*)([a-z])(\d*)")


def packed_terms(passages: Sequence[Terms], version: str) -> str:
    """Return the terms of the scored fields of some passages, each with where it stands."""
    found: dict[str, list[str]] = {}
    for number, terms in enumerate(passages):
        for name, letter in _LETTERS.items():
            for term, count in terms.get(name, {}).items():
                found.setdefault(term, []).append(f"{number or ''}{letter}{count if count != 1 else ''}")
    return json.dumps({FORMAT_KEY: version, **{term: " ".join(held) for term, held in found.items()}})


def unpacked_terms(held: Mapping[str, str | None], count: int) -> tuple[dict[str, dict[str, int]], ...]:
    """Return what so many passages hold of some terms; None is what stands for a term that is not there."""
    passages: tuple[dict[str, dict[str, int]], ...] = tuple({} for _ in range(count))
    for term, places in held.items():
        for number, letter, times in _HELD.findall(places or ""):
            passages[int(number or 0)].setdefault(_NAMES[letter], {})[term] = int(times or 1)
    return passages


def terms_in(packed: Mapping[str, str]) -> Iterable[str]:
    """Return every term that is held."""
    return packed.keys() - {FORMAT_KEY}
