"""Colours and the width of a terminal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.render.ink import Ink, fitted, fitted_page, sent


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("one two three", 20, "one two three"),
        ("one two three", 8, "one two\n  three"),
        ("  one two three", 10, "  one two\n    three"),
        ("a nav/rules/long/address b", 10, "a\n  nav/rules/long/address\n  b"),
        ("gro\u00df und klein", 8, "gro\u00df und\n  klein"),
        ("\u6771\u4eac \u6771\u4eac \u6771\u4eac", 10, "\u6771\u4eac \u6771\u4eac\n  \u6771\u4eac"),
        (" " * 30, 10, " " * 30),
    ],
)
def test_lines_are_broken_at_words(text: str, width: int, shown: str) -> None:
    assert fitted(text, width) == shown


def test_colours_take_no_columns() -> None:
    text = Ink(color=True).bold("one two three")
    assert sent(fitted(text, 13)) == "\x1b[1mone two three\x1b[0m"


@given(st.text("ab \n\t\u6771", max_size=60), st.integers(1, 30))
def test_no_word_is_lost(text: str, width: int) -> None:
    assert fitted(text, width).split() == text.split()


def test_a_page_keeps_tables_and_code_and_lays_out_paragraphs_once() -> None:
    kept = "| a long row | of a table |\n\n    code that is long\n\n```\nmore code, long\n```"
    page = f"# A heading that is long\n\none two\nthree four\n- item and\n  more of it\n\n{kept}"
    shown = "# A heading that is long\n\none two three\nfour\n- item and more\n  of it\n\n"
    assert fitted_page(page, 15) == shown + kept
