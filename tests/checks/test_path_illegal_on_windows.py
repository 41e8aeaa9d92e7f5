"""No Windows checkout could hold these names, so no golden case does."""

import pytest
from trees import found_in, tree_of

CODE = "path-illegal-on-windows"


@pytest.mark.parametrize(
    ("path", "shown", "why"),
    [
        ("app/rules/aux.md", "app/rules/aux.md", "is the name of a device"),
        ("app/rules/COM1.notes.md", "app/rules/COM1.notes.md", "is the name of a device"),
        ("app/rules/when: now.md", "app/rules/when: now.md", "contains `:`"),
        ("app/rules/why?.md", "app/rules/why?.md", "contains `?`"),
        ("app/rules/a\\b.md", "app/rules/a\\b.md", "contains `\\`"),
        ("app/rules/caf\udce9.md", "app/rules/caf<U+DCE9>.md", "is not UTF-8"),
        ("app/rules/notes.", "app/rules/notes.", "ends in a dot"),
        ("app/rules/notes ", "app/rules/notes ", "ends in a space"),
    ],
)
def test_name_that_windows_refuses_is_found(path: str, shown: str, why: str) -> None:
    expected = f"{ascii(path)[1:-1]}: error `{shown}` {why}, which Windows does not allow"
    assert found_in(tree_of(path, "app/rules/use-utc.md"), CODE) == [expected]


def test_folder_is_told_once_at_its_first_file() -> None:
    tree = tree_of("con/rules/a.md", "con/rules/b.md", "con/time/c.md")
    expected = ["con/rules/a.md: error `con` is the name of a device, which Windows does not allow"]
    assert found_in(tree, CODE) == expected


def test_name_with_a_graver_fault_is_not_called_badly_written() -> None:
    assert found_in(tree_of("app/rules/when: now.md", "app/rules/caf\udce9.md"), "bad-name") == []


def test_names_close_to_the_reserved_ones_are_fine() -> None:
    tree = tree_of("app/rules/console.md", "app/rules/com10.md", "app/nul-safety/a.md", "app/rules/a con.md")
    assert found_in(tree, CODE) == []


def test_control_and_invisible_characters_in_names_have_a_code_of_their_own() -> None:
    tree = tree_of("a/b/x\ty.md", "app/rules/c\u200bd.md", "app/rules/é 時.md")
    assert found_in(tree, CODE) == []
    assert found_in(tree, "invisible-characters") == [
        "a/b/x\\ty.md: error the name `a/b/x<U+0009>y.md` contains control character U+0009, so nothing reads it",
        "app/rules/c\\u200bd.md: error the name `app/rules/c<U+200B>d.md` contains zero width space U+200B",
    ]
