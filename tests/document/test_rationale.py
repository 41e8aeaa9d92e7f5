"""The rationale of a decision, in its text and as it is written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.markdown.parse import rationale_of, with_rationale


@pytest.mark.parametrize(
    ("body", "rationale"),
    [
        ("We use UTC.\n\nRationale: clocks differ.\n", "clocks differ."),
        ("We use UTC.\n\n## Rationale\n\nClocks differ.\n\n## Notes\n\nMore.\n", "Clocks differ."),
        ("Rationale: one.\n\nTwo.\n# Next\nThree.\n", "one.\n\nTwo."),
        ("We use UTC since clocks differ.\n", "We use UTC since clocks differ."),
    ],
)
def test_rationale_is_read_from_its_line_or_heading_else_the_body(body: str, rationale: str) -> None:
    assert rationale_of(body) == rationale


@given(st.text(st.characters(exclude_characters="#\r", exclude_categories=["C", "Z"]), min_size=1))
def test_rationale_that_was_written_is_read_back(rationale: str) -> None:
    assert rationale_of(with_rationale("We use UTC.", rationale)) == rationale
