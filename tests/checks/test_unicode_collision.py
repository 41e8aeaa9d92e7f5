"""Twins in NFC and NFD: macOS could not hold the golden case."""

from trees import found_in, tree_of

CODE = "unicode-collision"
COMPOSED, DECOMPOSED = "caf\u00e9", "cafe\u0301"


def test_entry_in_both_forms_is_found_once() -> None:
    assert found_in(tree_of(f"app/rules/{COMPOSED}.md", f"app/rules/{DECOMPOSED}.md"), CODE) == [
        "app/rules/caf\\xe9.md: error `app/rules/caf\\xe9.md` and `app/rules/cafe\\u0301.md` look the same"
    ]


def test_room_in_both_forms_is_found_once_for_all_that_is_below() -> None:
    tree = tree_of(f"app/{COMPOSED}/a.md", f"app/{DECOMPOSED}/a.md", f"app/{DECOMPOSED}/b.md")
    assert found_in(tree, CODE) == ["app/caf\\xe9/a.md: error `app/caf\\xe9` and `app/cafe\\u0301` look the same"]


def test_twins_are_no_case_collision_and_twins_of_another_case_are() -> None:
    assert found_in(tree_of(f"app/rules/{COMPOSED}.md", f"app/rules/{DECOMPOSED}.md"), "case-collision") == []
    other_case = tree_of(f"app/rules/{COMPOSED}.md", "app/rules/CAFE\u0301.md")
    assert len(found_in(other_case, "case-collision")) == 1
    assert found_in(other_case, CODE) == []


def test_name_in_one_form_only_is_fine() -> None:
    assert found_in(tree_of(f"app/rules/{DECOMPOSED}.md", "app/rules/cafe.md"), CODE) == []
