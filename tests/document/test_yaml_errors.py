"""Why a front matter is refused: each cause that people meet, at its own place, with what to write."""

import pytest

from mdmem.document.yaml_loader import read_fields

CAUSES = [
    ("title: a: b\n", "colon and blank inside a plain value", 'write title: "a: b"', 1, 9),
    ('title: say "hi": b\n', "colon and blank inside a plain value", "write title: 'say \"hi\": b'", 1, 16),
    ("title: a\n  owner: b\n", "an indented key under a plain value", "move the key to the margin", 2, 8),
    ("\ttitle: a\n", "a tab where YAML wants blanks", "indent with blanks", 1, 1),
    ("tags:\n\t- a\n", "a tab where YAML wants blanks", "indent with blanks", 2, 1),
    ("label: @nav\n", "a plain value cannot start with `@`", 'write label: "@nav"', 1, 8),
    ("title: `a` b\n", "a plain value cannot start with a backtick", 'write title: "`a` b"', 1, 8),
    ("title: %d is left\n", "a plain value cannot start with `%`", 'write title: "%d is left"', 1, 8),
    ("title: *all* hands\n", "a plain value cannot start with `*`", 'write title: "*all* hands"', 1, 8),
    ("title: > 5 ms\n", "a plain value cannot start with `>`", 'write title: "> 5 ms"', 1, 8),
    ("title: |x\n", "a plain value cannot start with `|`", 'write title: "|x"', 1, 8),
    ("title: - a\n", "a plain value cannot start with `-`", 'write title: "- a"', 1, 8),
    ("title: ? a\n", "a plain value cannot start with `?`", 'write title: "? a"', 1, 8),
    ("tags:\n- @a\n", "a plain value cannot start with `@`", 'write - "@a"', 2, 3),
    ("@a: b\n", "a plain value cannot start with `@`", "put the value in quotes", 1, 1),
    ('title: "a\n', 'the quote " is not closed', "close it, or remove it", 1, 8),
    ("title: 'a\n", "the quote ' is not closed", "close it, or remove it", 1, 8),
    (
        'title: "C:\\path"\n',
        "a backslash in double quotes starts an escape",
        "use single quotes, or write two backslashes",
        1,
        11,
    ),
    ("type: note\ntags: [a, b\n", "the `[` is not closed", "close it", 2, 7),
    ("x-a: {b: c\n", "the `{` is not closed", "close it", 1, 6),
    (
        'tags: [a, "b" c]\n',
        "a comma or the closing bracket is missing",
        "add it, and put an item that holds a quote or a colon in quotes",
        1,
        15,
    ),
    ("type: note\ntitle:a\nowner: b\n", "no blank follows the colon", "write title: a", 2, 1),
    ("title:a\ntype: note\n", "no blank follows the colon", "write title: a", 1, 1),
    ("# why\ntitle:a\nowner:b\ntype: note\n", "no blank follows the colon", "write title: a", 2, 1),
    (
        "type: note\nWe decided\n",
        "the line has no `key:`",
        "write `key: value`, or close the front matter above it with `---`",
        2,
        1,
    ),
    (
        "We decided\ntype: note\n",
        "the line has no `key:`",
        "write `key: value`, or close the front matter above it with `---`",
        1,
        1,
    ),
    (
        "title: 'it's'\n",
        "text follows the closing quote",
        "write the quote inside the value twice, or use the other kind of quotes",
        1,
        12,
    ),
    ("tags: [a] [b]\n", "text follows the closing bracket", "write one list: [first, second]", 1, 11),
    ("type: note\n- a\n", "a list item where a key belongs", "write the key of the list above it", 2, 1),
]


@pytest.mark.parametrize(("text", "message", "help_", "line", "column"), CAUSES, ids=[repr(row[0]) for row in CAUSES])
def test_cause_is_named_at_its_place(loader: str, text: str, message: str, help_: str, line: int, column: int) -> None:
    fields, troubles = read_fields(text)
    assert fields is None
    assert [(one.code, one.message, one.help, one.line, one.column) for one in troubles] == [
        ("yaml-syntax", message, help_, line, column)
    ]


def test_cause_is_what_the_reader_says_when_it_is_a_rare_one(loader: str) -> None:
    (trouble,) = read_fields("- a\ntype: note\n")[1]
    assert trouble.code == "yaml-syntax"
    assert trouble.message.startswith("the YAML reader says: ")
    assert trouble.line == 2


@pytest.mark.parametrize("row", [row for row in CAUSES if row[2].startswith("write ") and row[0].count("\n") == 1])
def test_help_of_a_one_line_cause_can_be_typed_as_it_is(row: tuple[str, str, str, int, int]) -> None:
    advised = row[2].removeprefix("write ")
    if ":" in advised.split(" ")[0]:
        assert read_fields(f"{advised}\n")[1] == ()
