from __future__ import annotations

from mdmem.checks.missing_targets import Nearest

ADDRESSES = (
    "react/anti-patterns/index-as-key",
    "react/forms/uncontrolled-forms-by-default",
    "ros2/anti-patterns/index-as-key",
    "ros2/rules/adr-12",
    "shop/forms/checkout",
)


def test_typo_in_the_entry_id_finds_the_one_of_its_wing() -> None:
    found = Nearest(ADDRESSES).to("react/anti-patterns/indx-as-key", "shop/forms/checkout")
    assert found == ("react/anti-patterns/index-as-key",)


def test_same_entry_id_elsewhere_comes_before_like_ones_and_the_own_wing_first() -> None:
    found = Nearest(ADDRESSES).to("ros2/conventions/index-as-key.md", "shop/forms/checkout")
    assert found == ("ros2/anti-patterns/index-as-key", "react/anti-patterns/index-as-key")


def test_short_link_is_looked_for_in_the_wing_of_its_entry() -> None:
    assert Nearest(ADDRESSES).to("uncontroled-forms-by-default", "react/rules/a") == (
        "react/forms/uncontrolled-forms-by-default",
    )


def test_another_number_is_no_typo() -> None:
    assert Nearest(ADDRESSES).to("ros2/rules/adr-13", "ros2/rules/a") == ()


def test_the_entry_itself_is_never_meant() -> None:
    assert Nearest(ADDRESSES).to("shop/forms/checkot", "shop/forms/checkout") == ()
