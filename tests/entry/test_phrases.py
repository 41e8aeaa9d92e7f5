"""Words and phrases are found where a pattern of them finds them that disregards case."""

from __future__ import annotations

import re
import sys

from hypothesis import given
from hypothesis import strategies as st

from mdmem.model.relations import begins_with, holds_any, lowered

PHRASES = ("if", "no longer", "would have", "n't", "kin")
TEXTS = st.lists(st.sampled_from([*PHRASES, " ", "-", "_", "É", "é", "İ", "ı", "ſ", "\u212a", "s", "K", "2", "²"]))


def test_letter_is_the_small_one_that_a_pattern_takes_it_for() -> None:
    letters = [letter for letter in map(chr, range(sys.maxunicode + 1)) if re.match("[a-z]", letter, re.IGNORECASE)]
    assert [one for one in letters if not re.fullmatch(lowered(one), one, re.IGNORECASE)] == []
    assert len(lowered("".join(letters))) == len(letters)
    assert set(lowered("".join(letters))) == set("abcdefghijklmnopqrstuvwxyz")


@given(TEXTS.map("".join))
def test_phrase_stands_where_a_pattern_finds_it(text: str) -> None:
    said = lowered(text)
    for one in PHRASES:

        def finds(pattern: str) -> bool:
            return re.search(pattern, text, re.IGNORECASE) is not None

        assert holds_any(said, [one]) == finds(rf"\b{one}\b")
        assert holds_any(said, [one], begun=True) == finds(rf"\b{one}")
        assert holds_any(said, [one], ended=True) == finds(rf"{one}\b")
        assert begins_with(said, one) == finds(rf"\A{one}\b")
