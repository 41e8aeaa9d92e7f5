"""What a sentence says that its own entry does to another: told in its word, never guessed."""

import pytest

from mdmem.markdown.sections import naming
from mdmem.model.relations import relation_of


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("This ADR extends ADR 7.", "extends it"),
        ("This proposal would effectively replace ADR 7 and ADR 8.", "replaces it"),
        ("This record clarifies and updates ADR-0007, and no other.", "updates it"),
        ("This document proposes to lift some of the restrictions of ADR 7.", "lifts a limit of it"),
        ("We amend the second clause of ADR 7.", "amends a part of it"),
        ("This decision extends ADR 7's list.", "extends a part of it"),
        ("This KEP builds on top of ADR 7.", "builds on it"),
        ("ADR 7 is superseded by this record.", "supersedes it"),
        ("This ADR does not change ADR 7.", ""),
        ("This change does not follow ADR 7.", ""),
        ("ADR 9 extends ADR 7.", ""),
        ("We keep the queue, which replaced ADR 7.", ""),
        ("The changes of ADR 7 hold.", ""),
        ("This ADR is rejected in favour of ADR 7.", ""),
        ("This ADR amends ADR 6 and ADR 7.", "amends it"),
        ("This ADR, unlike ADR 9, which replaces ADR 7, keeps it.", ""),
        ("This ADR would have replaced ADR 7.", ""),
        ("This ADR previously extended ADR 7.", ""),
        ("This ADR changes ADR 6, not ADR 7.", ""),
        ("This ADR removes a need, and ADR 7 stays.", ""),
        ("This ADR lifts no limit of ADR 7.", ""),
        ("No part of this ADR changes ADR 7.", ""),
        ("ADR 7 is not changed by this ADR.", ""),
        ("ADR 7 was removed in this year.", ""),
        ("If we change ADR 7, tools break.", ""),
        ("Should this ADR replace ADR 7?", ""),
        ("İİİİİ: this ADR extends ADR 7.", "extends it"),
    ],
)
def test_relation_is_told_where_a_sentence_says_it_of_its_own_entry(sentence: str, told: str) -> None:
    named = naming(("adr-0007",))
    assert named is not None
    assert relation_of(sentence, named) == told


@pytest.mark.parametrize(
    "sentence",
    [
        f"We {'only ' * 5000}keep what would change ADR 7.",
        f"This ADR {'needs and ' * 5000}keeps, extends ADR 9; ADR 7.",
        f"Why this changes ADR 7{'?' * 50_000}a",
        f"This note of changes: {'ADR 7 ' * 5000}",
    ],
    ids=["two-readings", "lists", "marks", "names"],
)
def test_sentence_of_any_length_is_read_in_linear_time(sentence: str) -> None:
    named = naming(("adr-0007",))
    assert named is not None
    assert relation_of(sentence, named) == ""
