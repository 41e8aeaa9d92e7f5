"""Whether two bodies say the same, and where they begin to differ."""

from __future__ import annotations

import pytest

from mdmem.store.catalog.changes import ComparableText, first_difference, says_the_same, seen_lines

A, B = "app/rules/a", "app/rules/b"
THERE = frozenset({A, B, "app/rules/c"})


def same(before: str, after: str, moves: dict[str, str] | None = None, now: frozenset[str] = THERE) -> bool:
    return says_the_same(ComparableText(A, before, THERE, moves or {}), ComparableText(A, after, now))


@pytest.mark.parametrize("after", ["One.\nTwo.", "\nOne.  \r\nTwo.\t\r\n\r\n", "One.\nTwo.\n"])
def test_blanks_that_nobody_sees_do_not_count(after: str) -> None:
    assert same("One.\nTwo.\n", after)


@pytest.mark.parametrize("after", ["One. Two.\n", "    One.\nTwo.\n", "One.\n\nTwo.\n", "one.\nTwo.\n", ""])
def test_every_other_change_counts(after: str) -> None:
    assert not same("One.\nTwo.\n", after)


def test_link_that_follows_a_move_is_the_same() -> None:
    moved = "app/times/b"
    before, after = "See [see: app/rules/b] and [b](b.md).\n", "See [see: app/times/b] and [b](../times/b.md).\n"
    assert same(before, after, {B: moved}, THERE - {B} | {moved})
    assert not same(before, after, {}, THERE | {moved})


def test_link_that_led_nowhere_may_be_mended() -> None:
    assert same("[see: app/rules/gone]", "[see: app/rules/b]")
    assert not same("[see: app/rules/gone]", "[see: app/rules/lost]")
    assert not same("[see: app/rules/b]", "[see: app/rules/gone]")


def test_short_address_may_be_written_in_full() -> None:
    assert same("See [[b]].", "See [[app/rules/b]].")


def test_words_beside_a_mended_link_count() -> None:
    assert not same("Use [[b]].", "Avoid [[app/rules/b]].")
    assert not same("Use [[b]].", "Use [[b]] and [[c]].")


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
