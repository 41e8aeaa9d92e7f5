"""Whether a record is new, a duplicate, a successor, or for a person to decide."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.markdown.parse import rationale_of, with_rationale
from mdmem.markdown.similarity import DedupOutcome, DedupVerdict, Known, Subject, judge

ONE = Subject("Use UTC", "Clocks differ.")


def words(count: int, *, start: int = 0) -> str:
    return " ".join(f"w{number}" for number in range(start, start + count))


def judged(subject: Subject, known: Sequence[Known]) -> DedupVerdict:
    return judge(subject, known, lambda: known)


def test_record_is_new_when_nothing_is_known() -> None:
    assert judged(ONE, []) == DedupVerdict(DedupOutcome.NEW)


@pytest.mark.parametrize("same", [Subject("USE  utc", "clocks\ndiffer."), Subject("Use UTC", "Clocks differ.")])
def test_record_is_skipped_when_it_differs_in_case_and_blanks_alone(same: Subject) -> None:
    assert judged(same, [Known("app/rules/utc", ONE)]) == DedupVerdict(
        DedupOutcome.DUPLICATE_SKIP, "app/rules/utc", 1.0
    )


@pytest.mark.parametrize(
    ("shared", "outcome"),
    [
        (14, DedupOutcome.SUPERSEDE),
        (13, DedupOutcome.MANUAL_REVIEW),
        (10, DedupOutcome.MANUAL_REVIEW),
        (9, DedupOutcome.NEW),
    ],
)
def test_record_is_judged_by_the_share_of_words_when_twenty_are_in_either(shared: int, outcome: DedupOutcome) -> None:
    # The two have 20 words together: 14 is exactly .70, 10 exactly .50.
    known = Known("app/rules/a", Subject(words(shared), ""))
    assert judged(Subject(words(20), ""), [known]).outcome is outcome


def test_person_decides_when_an_equal_record_has_ended() -> None:
    ended = Known("app/rules/old", ONE, ended=True, head="app/rules/new")
    assert judged(ONE, [ended]) == DedupVerdict(DedupOutcome.MANUAL_REVIEW, "app/rules/new", 1.0)


def test_person_decides_when_a_near_record_has_ended_without_a_head() -> None:
    ended = Known("app/rules/old", Subject(words(18), ""), ended=True)
    assert judged(Subject(words(20), ""), [ended]) == DedupVerdict(DedupOutcome.MANUAL_REVIEW, "app/rules/old", 0.9)


def test_record_in_force_decides_when_an_ended_one_is_nearer() -> None:
    known = [Known("app/rules/old", Subject(words(19), ""), ended=True), Known("app/rules/now", Subject(words(15), ""))]
    assert judged(Subject(words(20), ""), known) == DedupVerdict(DedupOutcome.SUPERSEDE, "app/rules/now", 0.75)


def test_full_text_is_not_asked_when_a_fingerprint_is_equal() -> None:
    def never() -> list[Known]:
        raise AssertionError

    assert judge(ONE, [Known("app/rules/utc", ONE)], never).outcome is DedupOutcome.DUPLICATE_SKIP


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
