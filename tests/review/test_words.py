"""Which words changed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.change.review_parts import word_changes

TEXTS = st.lists(st.sampled_from(["a", "b", "c", "\n\n"]), max_size=12).map(" ".join)


def told(before: str, after: str) -> str:
    return "|".join(f"{span.mark}{span.text}" for span in word_changes(before, after))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("", "", ""),
        ("a b", "a\nb ", ""),
        ("a b c", "a x c", " a|-b|+x| c"),
        ("", "new words", "+new words"),
        ("old words", "", "-old words"),
        ("a\n\nb", "a b", " a|-\n\n| b"),
        ("a b", "a b c", " a b|+c"),
    ],
)
def test_words_are_told(before: str, after: str, expected: str) -> None:
    assert told(before, after) == expected


@given(TEXTS, TEXTS)
def test_kept_and_taken_words_are_the_old_text_and_kept_and_put_ones_the_new(before: str, after: str) -> None:
    spans = word_changes(before, after)
    for text, mark in ((before, "-"), (after, "+")):
        words = [word for span in spans if span.mark in (" ", mark) for word in span.text.split()]
        assert not spans or words == text.split()


def test_very_long_texts_are_told_as_one_stretch() -> None:
    before, after = (" ".join(f"{letter}{number}" for number in range(3000)) for letter in "ab")
    assert [span.mark for span in word_changes(f"x {before} y", f"x {after} y")] == [" ", "-", "+", " "]
