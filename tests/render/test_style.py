"""Wrap lines to the width of a terminal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.render.style import fitted


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("one two three", 20, "one two three"),
        ("one two three", 8, "one two\n  three"),
        ("  one two three", 10, "  one two\n    three"),
        ("a nav/rules/long/address b", 10, "a\n  nav/rules/long/address\n  b"),
    ],
)
def test_lines_are_broken_at_words(text: str, width: int, shown: str) -> None:
    assert fitted(text, width) == shown


@given(st.text("ab \n\t\u6771", max_size=60), st.integers(1, 30))
def test_no_word_is_lost(text: str, width: int) -> None:
    assert fitted(text, width).split() == text.split()
