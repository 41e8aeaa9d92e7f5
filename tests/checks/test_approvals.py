"""Who counts as the same person or team."""

import pytest

from mdmem.checks.rules.change import names_the_same

ADA = "Ada <ada@example.org>"


@pytest.mark.parametrize(
    "other", [ADA, "ada", " ADA ", "Ada@Example.org", "A. L. <ada@example.org>", "<ada@example.org>"]
)
def test_same_by_the_whole_the_name_or_the_email(other: str) -> None:
    assert names_the_same(ADA, other)
    assert names_the_same(other, ADA)


@pytest.mark.parametrize("other", ["", "Ad", "example.org", "Ada <ada@example.com>", "ada@example.com", "Ada's team"])
def test_others_are_not_the_same(other: str) -> None:
    assert not names_the_same(ADA, other)
    assert not names_the_same(other, ADA)


def test_team_is_named_by_its_text() -> None:
    assert names_the_same("navigation-team", "Navigation-Team")
    assert not names_the_same("navigation-team", "navigation")
