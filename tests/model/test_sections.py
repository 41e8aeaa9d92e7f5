"""The sections and the sentences of a body."""

from __future__ import annotations

from golden import GoldenCase, each_case
from hypothesis import given
from hypothesis import strategies as st

from mdmem.markdown.body import sections_of, sentences_in


@each_case("entry/sections.txt")
def test_sections_of(case: GoldenCase) -> None:
    found = [f"{one.level} {one.heading} : {(one.text.split() or [''])[0]}" for one in sections_of(case.before)]
    assert [line.strip() for line in found] == case.after.splitlines()


PARTS = ["# One\n", "Two\n===\n", "```\n", "<!--", "-->", "\n", "a b. C d.\n", "~~~\n", "\r\n"]


@given(st.lists(st.sampled_from(PARTS)))
def test_sections_are_the_body_whatever_it_is(parts: list[str]) -> None:
    body = "".join(parts)
    found = sections_of(body)
    assert "".join(body[slice(*one.span)] for one in found).strip() == body.strip()
    assert all(one.text == body[one.start : one.span[1]] for one in found)


def test_full_stop_of_an_items_number_ends_no_sentence() -> None:
    body = "# Decision\n\nOrders are sent:\n\n1. Only once.\n2. Never at night.\n"
    assert [one.text for one in sentences_in(body, 12, len(body))][1:] == ["1. Only once.", "2. Never at night."]


def test_comment_and_code_hide_each_others_marks() -> None:
    for hidden in ("<!--\n```\n-->", "```html\n<!-- open\n```", "```\n<!--\n```\n\n<!--\n~~~\n-->"):
        body = f"{hidden}\n\nReal prose.\n"
        assert [one.text for one in sentences_in(body, 0, len(body))] == ["Real prose."]
