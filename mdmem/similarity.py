"""How alike two texts are: a signal for people, never a verdict."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_WORD = re.compile(r"[^\W_]+")


@lru_cache(maxsize=8192)
def words_of(text: str) -> frozenset[str]:
    """Return the set of NFKC case-folded words of a text."""
    return words_once(text)


def words_once(text: str) -> frozenset[str]:
    """Return the words as `words_of` does, and remember nothing: for texts that are looked at once."""
    return frozenset(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def jaccard(first: frozenset[str], second: frozenset[str]) -> float:
    """Return the share of words two sets have in common, 0 to 1; 0 for two empty ones (Jaccard 1901)."""
    union = len(first | second)
    return len(first & second) / union if union else 0.0
