"""Names that fold to one: a checkout on macOS or Windows could not have the golden case."""

from trees import ListedTree, found_in, tree_of

from mdmem.store.tree import TreeFile

CODE = "name-collision"
COMPOSED, DECOMPOSED = "caf\u00e9", "cafe\u0301"


def test_two_entries_that_differ_in_case_are_found_once() -> None:
    assert found_in(tree_of("app/rules/Use-UTC.md", "app/rules/use-utc.md", "app/rules/use-utc-2.md"), CODE) == [
        "app/rules/use-utc.md: error `app/rules/use-utc.md` and `app/rules/Use-UTC.md` differ only in case"
    ]


def test_two_rooms_that_differ_in_case_are_found_once_for_all_that_is_below() -> None:
    tree = tree_of("app/Rules/a.md", "app/Rules/b.md", "app/rules/a.md", "app/rules/b.md")
    assert found_in(tree, CODE) == ["app/rules/a.md: error `app/rules` and `app/Rules` differ only in case"]


def test_an_entry_and_a_stray_file_collide_too() -> None:
    assert found_in(tree_of("app/rules/a.MD", "app/rules/a.md"), CODE) == [
        "app/rules/a.md: error `app/rules/a.md` and `app/rules/a.MD` differ only in case"
    ]


def test_letters_beyond_ascii_collide() -> None:
    assert len(found_in(tree_of("app/rules/Ärger.md", "app/rules/ärger.md"), CODE)) == 1


def test_same_name_in_two_rooms_is_fine() -> None:
    assert found_in(tree_of("app/rules/use-utc.md", "app/time/Use-UTC.md", "app/time/straße.md"), CODE) == []


def test_file_renamed_on_disk_and_not_yet_in_the_index_is_fine() -> None:
    assert found_in(tree_of("app/rules/use-utc.md"), CODE, tracked=["app/rules/Use-UTC.md"]) == []


def test_index_is_asked_where_the_disk_folds_names() -> None:
    tracked = ["app/rules/Use-UTC.md", "app/rules/use-utc.md", "src/Main.c", "src/main.c"]
    assert found_in(tree_of("app/rules/use-utc.md"), CODE, tracked=tracked) == [
        "app/rules/use-utc.md: error `app/rules/use-utc.md` and `app/rules/Use-UTC.md` differ only in case"
    ]


def test_index_is_not_asked_where_git_lists_the_tree() -> None:
    tree = ListedTree((TreeFile("app/rules/use-utc.md", digest="0" * 40),))
    assert found_in(tree, CODE, tracked=["app/rules/Use-UTC.md", "app/rules/use-utc.md"]) == []


def test_entry_in_both_forms_is_found_once() -> None:
    assert found_in(tree_of(f"app/rules/{COMPOSED}.md", f"app/rules/{DECOMPOSED}.md"), CODE) == [
        "app/rules/caf\\xe9.md: error `app/rules/caf\\xe9.md` and `app/rules/cafe\\u0301.md` look the same"
    ]


def test_room_in_both_forms_is_found_once_for_all_that_is_below() -> None:
    tree = tree_of(f"app/{COMPOSED}/a.md", f"app/{DECOMPOSED}/a.md", f"app/{DECOMPOSED}/b.md")
    assert found_in(tree, CODE) == ["app/caf\\xe9/a.md: error `app/caf\\xe9` and `app/cafe\\u0301` look the same"]


def test_twins_of_another_case_differ_in_case() -> None:
    (found,) = found_in(tree_of(f"app/rules/{COMPOSED}.md", "app/rules/CAFE\u0301.md"), CODE)
    assert found.endswith("differ only in case")


def test_name_in_one_form_only_is_fine() -> None:
    assert found_in(tree_of(f"app/rules/{DECOMPOSED}.md", "app/rules/cafe.md"), CODE) == []
