"""Reading front matter strictly: text, places, and everything that is refused."""

import pytest

from mdmem.document.yaml_loader import FRONT_MATTER_LIMIT, Trouble, read_fields


def only_trouble(text: str) -> Trouble:
    """Return the single fault of a front matter."""
    _, troubles = read_fields(text)
    assert len(troubles) == 1, troubles
    return troubles[0]


@pytest.mark.parametrize(
    "written",
    ["no", "0012", "12:30", "1.10", "2026-03-05", "1e3", "0x1F", "yes", "on", ".5", "1_000", "=", "<<"],
)
def test_scalar_is_the_text_that_was_written(loader: str, written: str) -> None:
    assert read_fields(f"version: {written}\n") == ({"version": written}, ())


@pytest.mark.parametrize("written", ["", "~", "null"])
def test_scalar_is_none_when_the_value_is_empty(loader: str, written: str) -> None:
    assert read_fields(f"owner: {written}\n") == ({"owner": None}, ())


def test_scalar_is_text_when_a_word_for_nothing_is_quoted(loader: str) -> None:
    assert read_fields('owner: ""\nfocus: "null"\n') == ({"owner": "", "focus": "null"}, ())


def test_list_items_are_text(loader: str) -> None:
    assert read_fields("tags: [no, 0012]\nsee:\n- 1.0\n- on\n") == ({"tags": ["no", "0012"], "see": ["1.0", "on"]}, ())


def test_nested_values_are_text(loader: str) -> None:
    fields, troubles = read_fields("relations: [{type: no, to: 1.0}]\nignore: {expired: 12:30}\n")
    assert (fields, troubles) == ({"relations": [{"type": "no", "to": "1.0"}], "ignore": {"expired": "12:30"}}, ())


def test_mapping_is_empty_when_there_is_no_key(loader: str) -> None:
    assert read_fields("# only a comment\n") == ({}, ())


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_place_is_known_of_every_key_and_value(loader: str, newline: str) -> None:
    fields, _ = read_fields(
        newline.join(["type: note", "", "# why", 'title: "Größe 🙂"', "tags:", "  - a", "  - bcd", ""])
    )
    assert fields is not None
    keys = {name: fields.place(name, of_key=True) for name in fields}
    assert keys == {"type": (1, 1, 4), "title": (4, 1, 5), "tags": (5, 1, 4)}
    assert fields.place("type") == (1, 7, 4)
    assert fields.place("title") == (4, 8, 9)
    assert fields.place("tags", 1) == (7, 5, 3)


def test_place_counts_characters_when_one_lies_outside_the_basic_plane(loader: str) -> None:
    fields, _ = read_fields("x-a: {🙂🙂: b}\ntags: [🙂, b]\n")
    assert fields is not None
    assert fields.place("tags", 1) == (2, 11, 1)


def test_place_is_the_key_when_the_value_is_empty(loader: str) -> None:
    fields, _ = read_fields("type: note\nowner:\n")
    assert fields is not None
    assert fields.place("owner") == (2, 1, 5)


def test_place_is_the_start_when_the_key_is_absent(loader: str) -> None:
    fields, _ = read_fields("type: note\n")
    assert fields is not None
    assert fields.place("owner") == (1, 1, 0)


def test_equal_keys_are_refused_with_both_lines(loader: str) -> None:
    fields, troubles = read_fields("type: note\ntitle: a\ntype: decision\n")
    assert fields is None
    assert troubles == (
        Trouble("duplicate-key", "`type` stands twice, first in line 2", "keep one of the two", 3, 1, 4),
    )


def test_equal_keys_are_refused_when_one_is_quoted(loader: str) -> None:
    assert only_trouble('type: note\n"type": note\n').code == "duplicate-key"


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("ignore: {expired: a, expired: b}\n", 1, 22),
        ("ignore:\n  expired: a\n  expired: b\n", 3, 3),
        ("relations:\n- type: a\n  to: b\n- type: a\n  to: b\n  type: c\n", 6, 3),
        ("x-y: {deep: [{a: 1, a: 2}]}\n", 1, 21),
    ],
)
def test_equal_keys_are_refused_inside_a_value(loader: str, text: str, line: int, column: int) -> None:
    trouble = only_trouble(text)
    assert (trouble.code, trouble.line, trouble.column) == ("duplicate-key", line, column)
    assert read_fields(text)[0] is None


@pytest.mark.parametrize(
    ("text", "code", "line", "column"),
    [
        ("- a\n- b\n", "not-a-mapping", 1, 1),
        ("just words\n", "not-a-mapping", 1, 1),
        ("type: note\n[a]: b\n", "non-text-key", 2, 1),
        ("type: note\nowner: &who Ada\n", "anchor-or-alias", 2, 8),
        ("owner: *who\n", "anchor-or-alias", 1, 8),
        ("owner: !!str Ada\n", "custom-tag", 1, 8),
        ("owner: !!python/object/apply:os.system [id]\n", "custom-tag", 1, 8),
        ("a: b\n--- c\n", "multiple-documents", 2, 1),
        ("title: a\x07b\n", "control-characters", 1, 9),
        ("type: note\ntitle: a\u2028b\n", "control-characters", 2, 9),
        ("title: a\rb\n", "control-characters", 1, 9),
    ],
)
def test_front_matter_is_refused_at_its_place(loader: str, text: str, code: str, line: int, column: int) -> None:
    trouble = only_trouble(text)
    assert (trouble.code, trouble.line, trouble.column) == (code, line, column)
    assert read_fields(text)[0] is None


def test_alias_bomb_is_refused_before_it_expands(loader: str) -> None:
    lines = ["x-0: &a0 [l, o, l]", *(f"x-{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12))]
    fields, troubles = read_fields("\n".join(lines) + "\n")
    assert fields is None
    assert {trouble.code for trouble in troubles} == {"anchor-or-alias"}


def test_merge_key_is_refused(loader: str) -> None:
    codes = {trouble.code for trouble in read_fields("x-base: &b {a: 1}\nx-more:\n  <<: *b\n")[1]}
    assert codes == {"anchor-or-alias"}


@pytest.mark.parametrize(
    "value",
    [
        "[" * 8000,
        "{a: " * 3900,
        "\n  " + "- " * 8000 + "a",
        "\n  " + "-  " * 5300 + "a",
        "\n  " + "? " * 8000 + "a",
        "\n  " + "?  " * 5300 + "a",
        "\n  " + "- ? " * 4000 + "a",
        "\n" + "".join(f"{' ' * depth}a:\n" for depth in range(1, 170)),
        "\n" + "".join(f"{' ' * depth}-\n" for depth in range(1, 170)),
    ],
    ids=["brackets", "braces", "dashes", "wide-dashes", "questions", "wide-questions", "both", "keys", "items"],
)
def test_depth_is_bounded(value: str) -> None:
    text = f"x-deep: {value}\n"
    assert len(text) <= FRONT_MATTER_LIMIT
    assert read_fields(text)[0] is None
    assert "nested-value" in {trouble.code for trouble in read_fields(text)[1]}


def test_depth_of_a_few_levels_is_read(loader: str) -> None:
    assert read_fields("x-deep: [[[{a: {b: [c]}}]]]\n") == ({"x-deep": [[[{"a": {"b": ["c"]}}]]]}, ())


def test_size_is_bounded_in_bytes() -> None:
    text = "x-a: " + "ü" * (FRONT_MATTER_LIMIT // 2) + "\n"
    assert len(text) < FRONT_MATTER_LIMIT
    assert only_trouble(text).code == "front-matter-too-large"


def test_size_at_the_limit_is_read() -> None:
    text = "x-a: ".ljust(FRONT_MATTER_LIMIT - 1, "b") + "\n"
    assert read_fields(text) == ({"x-a": "b" * (FRONT_MATTER_LIMIT - 6)}, ())


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("title: Update #2 done\n", "the value ends at `Update`: YAML reads `#2 done` as a comment", 8),
        ("owner: #team\n", "the value is empty: YAML reads `#team` as a comment", 7),
        ("tags: [a, b #c\n  ]\n", "the value ends at `b`: YAML reads `#c` as a comment", 11),
    ],
)
def test_value_that_a_comment_cuts_is_found(loader: str, text: str, message: str, column: int) -> None:
    trouble = only_trouble(text)
    assert (trouble.code, trouble.message, trouble.column) == ("comment-truncates-value", message, column)


@pytest.mark.parametrize("text", ["title: done # later\n", "title: a#b\n", "title: 'a #b'\n", "title: |\n  a #b\n"])
def test_value_is_whole_when_the_mark_starts_no_word_or_no_comment(loader: str, text: str) -> None:
    assert read_fields(text)[1] == ()


@pytest.mark.parametrize("text", ["see: [[w/r/e]]\n", "see:\n- [[w/r/e]]\n"])
def test_wiki_link_is_named_and_read_as_its_text(loader: str, text: str) -> None:
    fields, troubles = read_fields(text)
    assert fields == {"see": ["w/r/e"]}
    assert [(trouble.code, trouble.help) for trouble in troubles] == [("wiki-link-value", 'write "w/r/e"')]


def test_list_in_a_list_is_no_wiki_link_when_it_holds_two() -> None:
    assert read_fields("see: [[a, b]]\n") == ({"see": [["a", "b"]]}, ())
