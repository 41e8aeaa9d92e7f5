"""Reading front matter strictly: text, places, and everything that is refused."""

import json
import re

import pytest
from golden import DATA, GoldenCase, each_case, read_cases

from markdown.reading import read_fields
from mdmem.markdown.yaml_loader import FRONT_MATTER_LIMIT
from mdmem.model.finding import Finding, Place


def only_trouble(text: str) -> Finding:
    """Return the single fault of a front matter."""
    _, troubles = read_fields(text)
    assert len(troubles) == 1, troubles
    return troubles[0]


def said_of(text: str) -> tuple[str, ...]:
    """Return the fields as JSON, where there are any, and the faults."""
    fields, troubles = read_fields(text)
    read = () if fields is None else (json.dumps(fields, ensure_ascii=False),)
    return (
        *read,
        *(f"{one.place.line - 1}:{one.place.column}: {one.code}: {one.message}; {one.help}" for one in troubles),
    )


@each_case("document/front_matter.txt")
def test_front_matter_is_read_or_refused_at_its_place(loader: str, case: GoldenCase) -> None:
    assert said_of(case.before) == case.says


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_place_is_known_of_every_key_and_value(loader: str, newline: str) -> None:
    fields, _ = read_fields(
        newline.join(["type: note", "", "# why", 'title: "Größe 🙂"', "tags:", "  - a", "  - bcd", ""])
    )
    assert fields is not None
    keys = {name: fields.place(name, of_key=True) for name in fields}
    assert keys == {"type": Place("", 2, 1, 4), "title": Place("", 5, 1, 5), "tags": Place("", 6, 1, 4)}
    assert fields.place("type") == Place("", 2, 7, 4)
    assert fields.place("title") == Place("", 5, 8, 9)
    assert fields.place("tags", 1) == Place("", 8, 5, 3)


def test_place_counts_characters_when_one_lies_outside_the_basic_plane(loader: str) -> None:
    fields, _ = read_fields("x-a: {🙂🙂: b}\ntags: [🙂, b]\n")
    assert fields is not None
    assert fields.place("tags", 1) == Place("", 3, 11, 1)


def test_place_is_the_key_when_the_value_is_empty(loader: str) -> None:
    fields, _ = read_fields("type: note\nowner:\n")
    assert fields is not None
    assert fields.place("owner") == Place("", 3, 1, 5)


def test_fault_is_as_wide_as_what_it_is_about(loader: str) -> None:
    assert only_trouble("type: note\ntype: decision\n").place.width == len("type")


def test_alias_bomb_is_refused_before_it_expands(loader: str) -> None:
    lines = ["x-0: &a0 [l, o, l]", *(f"x-{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12))]
    fields, troubles = read_fields("\n".join(lines) + "\n")
    assert fields is None
    assert {trouble.code for trouble in troubles} == {"anchor-or-alias"}


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


def test_size_is_bounded_in_bytes() -> None:
    text = "x-a: " + "ü" * (FRONT_MATTER_LIMIT // 2) + "\n"
    assert len(text) < FRONT_MATTER_LIMIT
    assert only_trouble(text).code == "front-matter-too-large"


def test_cause_is_what_the_reader_says_when_it_is_a_rare_one(loader: str) -> None:
    (trouble,) = read_fields("- a\ntype: note\n")[1]
    assert trouble.code == "yaml-syntax"
    assert trouble.message.startswith("the YAML parser says: ")
    assert trouble.place.line == 3


def test_help_of_a_one_line_cause_can_be_typed_as_it_is() -> None:
    cases = [case for case in read_cases(DATA / "document" / "front_matter.txt") if case.before.count("\n") == 1]
    found = [re.search(r": yaml-syntax: .*; write (\S+:.*)", said) for case in cases for said in case.says]
    advised = [match[1] for match in found if match]
    assert len(advised) >= 10
    assert [text for text in advised if read_fields(f"{text}\n")[1] != ()] == []
