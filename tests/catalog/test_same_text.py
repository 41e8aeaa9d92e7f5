"""Whether two bodies say the same, and where they begin to differ."""

from __future__ import annotations

import pytest

from mdmem.store.catalog.changes import ComparableText, first_difference, says_the_same, seen_lines

A, B = "app/rules/a", "app/rules/b"
THERE = frozenset({A, B, "app/rules/c"})


def same(before: str, after: str, moves: dict[str, str] | None = None, now: frozenset[str] = THERE) -> bool:
    return says_the_same(ComparableText(A, before, THERE, moves or {}), ComparableText(A, after, now))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        # Blanks that nobody sees.
        *(("One.\nTwo.\n", after, True) for after in ("One.\nTwo.", "\nOne.  \r\nTwo.\t\r\n\r\n", "One.\nTwo.\n")),
        # Every other change.
        *(
            ("One.\nTwo.\n", f"{after}\n", False)
            for after in ("One. Two.", "    One.\nTwo.", "One.\n\nTwo.", "one.\nTwo.", "")
        ),
        # A link that led nowhere may be mended, and a short address be written in full.
        ("[see: app/rules/gone]", "[see: app/rules/b]", True),
        ("[see: app/rules/gone]", "[see: app/rules/lost]", False),
        ("[see: app/rules/b]", "[see: app/rules/gone]", False),
        ("See [[b]].", "See [[app/rules/b]].", True),
        # The words beside a link count.
        ("Use [[b]].", "Avoid [[app/rules/b]].", False),
        ("Use [[b]].", "Use [[b]] and [[c]].", False),
    ],
)
def test_bodies_say_the_same(before: str, after: str, expected: bool) -> None:
    assert same(before, after) is expected


def test_link_that_follows_a_move_is_the_same() -> None:
    moved = "app/times/b"
    before, after = "See [see: app/rules/b] and [b](b.md).\n", "See [see: app/times/b] and [b](../times/b.md).\n"
    assert same(before, after, {B: moved}, THERE - {B} | {moved})
    assert not same(before, after, {}, THERE | {moved})


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("One.\nTwo.\n", "One.\nThree.\n", (1, "Three.")),
        ("One.\n", "\n\nOther.\n", (2, "Other.")),
        ("One.\n", "One.\n\nTwo.\n", (2, "Two.")),
        ("One.\nTwo.\n", "One.\n", (0, "One.")),
        ("One.\n", "", (0, "")),
    ],
)
def test_first_difference_is_a_line_of_the_new_text(before: str, after: str, expected: tuple[int, str]) -> None:
    assert first_difference(before, after) == expected


def test_seen_lines_of_nothing_are_none() -> None:
    assert seen_lines(" \n\r\n") == []
