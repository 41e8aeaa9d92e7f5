"""Test parsing: fields, links and sections, refused input and its place, and that nothing raises."""

import json
import re
from pathlib import Path

import frontmatter
import pytest
from builders import write
from golden import DATA, GoldenCase, each_case, read_cases, read_rows
from hypothesis import given
from hypothesis import strategies as st

from mdmem.markdown.body import sections_of, sentences_in
from mdmem.markdown.front_matter import Fields, FrontMatterError, body_of, has_front_matter
from mdmem.markdown.parse import (
    Document,
    body_links,
    first_heading,
    handler,
    may_have_links,
    parse_document,
    rationale_of,
    without_code,
)
from mdmem.markdown.yaml_loader import FRONT_MATTER_LIMIT, StrictHandler
from mdmem.model.finding import Finding, Place

PATH = "w/r/e.md"


def parse(content: str | bytes) -> Document:
    """Return the document of a file's content."""
    return parse_document(PATH, content.encode() if isinstance(content, str) else content)


def test_parse_reads_crlf_and_a_byte_order_mark() -> None:
    document = parse(b"\xef\xbb\xbf---\r\ntype: note\r\ntags:\r\n- a\r\n---\r\ntext\r\n")
    assert (document.fields, document.body, document.findings) == ({"type": "note", "tags": ["a"]}, "text\r\n", ())
    assert (document.place("type").line, document.place("type").column, document.body_line) == (2, 7, 6)


def test_place_counts_lines_from_the_top_of_the_file() -> None:
    document = parse("---\ntype: note\ntags: [a, bc]\n---\none\ntwo three\n")
    tag, key, body = document.place("tags", 1), document.place("tags", of_key=True), document.body_place(8, 5)
    assert (tag.path, tag.line, tag.column, tag.width) == (PATH, 3, 11, 2)
    assert (key.line, key.column, key.width) == (3, 1, 4)
    assert (body.line, body.column, body.width) == (6, 5, 5)
    assert document.text_place(4) == Place(PATH, 2, 1, 0)
    assert document.place("status") == Place(PATH, 1, 1, 0), "the opening fence"


@pytest.mark.parametrize("body", ["Title\n=======\n", "<<<<<<< alone\n", "=======\n>>>>>>> x\n<<<<<<< y\n"])
def test_marks_that_are_no_conflict_are_text(body: str) -> None:
    assert parse(f"---\ntype: note\n---\n{body}").findings == ()


PIECES = ["---\n", "---", "\r\n", "type: note", ": ", "- ", "? ", "&a ", "*a", *"\n[]{}'\"!|# \t\x00\x85\ufeff%🙂a\\"]
TEXT_LIKE = st.lists(st.sampled_from(PIECES), max_size=30)


@given(st.binary(max_size=200))
def test_parse_never_raises_on_arbitrary_bytes(content: bytes) -> None:
    assert parse(content).findings


@given(TEXT_LIKE.map("".join))
def test_what_looks_like_front_matter_is_read_or_has_findings_that_lie_in_the_file(front: str) -> None:
    text = f"---\n{front}\n---\nbody\n"
    document, lines = parse(text), text.split("\n")
    assert document.fields is not None or document.findings
    for place in (finding.place for finding in document.findings):
        assert 1 <= place.line <= len(lines)
        assert 1 <= place.column <= len(lines[place.line - 1]) + 1


@pytest.mark.parametrize(("body", "heading"), read_rows("document/headings.txt"))
def test_heading_is_the_first_one_outside_code(body: str, heading: str) -> None:
    assert (first_heading(body) or "none") == heading


@pytest.mark.parametrize(
    ("body", "prose"),
    [
        ("a `b` c\n", "a     c\n"),
        ("a ``b ` c`` d\n", "a           d\n"),
        ("one ` alone\n", "one ` alone\n"),
        ("```py\nx\n```\ny\n", "     \n \n   \ny\n"),
        ("~~~\n```\n~~~\ny\n", "   \n   \n   \ny\n"),
        ("```\nx\n~~~\ny\n", "   \n \n   \n \n"),
        ("``` x ``` y\n", "          y\n"),
        ("    ```\nx\n", "    ```\nx\n"),
    ],
)
def test_code_is_blanked_out_with_every_character_in_place(body: str, prose: str) -> None:
    assert without_code(body) == prose


@given(st.text(alphabet="`~ \n#a", max_size=60))
def test_blanking_out_code_moves_nothing(body: str) -> None:
    prose = without_code(body)
    assert [at for at, one in enumerate(prose) if one == "\n"] == [at for at, one in enumerate(body) if one == "\n"]
    assert all(new in (old, " ") for old, new in zip(body, prose, strict=True))


def test_frontmatter_itself_reads_with_the_handler(tmp_path: Path) -> None:
    file = write(tmp_path, "e.md", "---\ntype: note\nversion: 0012\ndraft: no\n---\n\nThe text.\n")
    post = frontmatter.load(file, handler=StrictHandler())
    assert (post.metadata, post.content) == ({"type": "note", "version": "0012", "draft": "no"}, "The text.")


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
    assert rationale_of(f"We use UTC.\n\nRationale: {rationale}\n") == rationale


def said_of(text: str) -> str:
    """Return front matter and body as JSON, or what is wrong with the fence."""
    try:
        return json.dumps(handler().split(text), ensure_ascii=False)
    except FrontMatterError as error:
        return "".join(f"{one.place.line}: {one.code}: {one.message}; {one.help}" for one in error.findings)


@each_case("document/split.txt")
def test_split_keeps_every_byte_or_names_what_is_wrong_with_a_fence(case: GoldenCase) -> None:
    assert (said_of(case.before),) == case.says


@given(st.text(alphabet="-\r\n: ab\u200b+.", max_size=40))
def test_split_loses_nothing_but_the_fences(text: str) -> None:
    try:
        front, body = handler().split(text)
    except FrontMatterError:
        return
    fences = [(f"---{start}\n", f"---{end}") for start in ("", "\r") for end in ("", "\r", "\n", "\r\n")]
    assert has_front_matter(text)
    assert text in [opening + front + closing + body for opening, closing in fences]


@pytest.mark.parametrize(
    ("content", "body"),
    [
        (b"---\na: b\n---\ntext\n", "text\n"),
        (b"\xef\xbb\xbf---\na: b\n---\ntext\n", "text\n"),
        (b"only text\n", "only text\n"),
        (b"---\na: \xff\n---\nt\xfcxt\n", "t\ufffdxt\n"),
    ],
)
def test_body_is_read_when_the_file_changed_into_something_else(content: bytes, body: str) -> None:
    assert body_of(content) == body


@pytest.mark.parametrize(("prose", "links"), [*read_rows("document/links.txt"), (without_code("`[[w/r/e]]`"), "none")])
def test_link_is_found_at_its_place(prose: str, links: str) -> None:
    found = (f"{'file' if one.is_path else 'entry'} {one.offset}+{one.width} {one.target}" for one in body_links(prose))
    assert (" ".join(found) or "none") == links


SIGNS = [*"[]() \n`a<>|", "](", "[[", "]]", "]:", "[see:", "``", "```\n", "b.md", '"t"']


@given(st.lists(st.sampled_from(SIGNS), max_size=20).map("".join))
def test_body_that_can_hold_no_reference_holds_none(body: str) -> None:
    assert may_have_links(body) or not list(body_links(without_code(body)))


@each_case("entry/sections.txt")
def test_sections_of(case: GoldenCase) -> None:
    found = [f"{one.level} {one.heading} : {(one.text.split() or [''])[0]}" for one in sections_of(case.before)]
    assert [line.strip() for line in found] == case.after.splitlines()


PARTS = ["# One\n", "Two\n===\n", "```\n", "<!--", "-->", "\n", "a b. C d.\n", "~~~\n", "\r\n"]


@given(st.lists(st.sampled_from(PARTS)))
def test_sections_are_the_body_whatever_it_is(parts: list[str]) -> None:
    body = "".join(parts)
    found = sections_of(body)
    assert "".join(body[slice(*one.span)] for one in found).strip() == body.strip()
    assert all(one.text == body[one.start : one.span[1]] for one in found)


def test_full_stop_of_an_items_number_ends_no_sentence() -> None:
    body = "# Decision\n\nOrders are sent:\n\n1. Only once.\n2. Never at night.\nb. By a carrier.\n"
    items = ["1. Only once.", "2. Never at night.", "b. By a carrier."]
    assert [one.text for one in sentences_in(body, 12, len(body))][1:] == items


def test_comment_and_code_hide_each_others_marks() -> None:
    for hidden in ("<!--\n```\n-->", "```html\n<!-- open\n```", "```\n<!--\n```\n\n<!--\n~~~\n-->"):
        body = f"{hidden}\n\nReal prose.\n"
        assert [one.text for one in sentences_in(body, 0, len(body))] == ["Real prose."]
    # An omitted literal block of reStructuredText leaves a mark.
    body = "It gives::\n\n    1\n\nReal prose.\n"
    assert [one.text for one in sentences_in(body, 0, len(body))] == ["It gives: …", "Real prose."]
    # A note of reStructuredText is prose, another directive is not.
    body = ".. note:: One.\n\n    Two.\n\n.. figure:: a.png\n\n    Drawn.\n\n.. warning::\n    Three.\n\nReal prose.\n"
    assert [one.text for one in sentences_in(body, 0, len(body))] == ["One.", "Two.", "Three.", "Real prose."]


def read_fields(text: str) -> tuple[Fields | None, tuple[Finding, ...]]:
    """Return the fields of a front matter, if they are certain, and its faults."""
    try:
        fields = handler().load(text)
    except FrontMatterError as error:
        return None, error.findings
    return fields, fields.findings


def only_trouble(text: str) -> Finding:
    """Return the single fault of a front matter."""
    _, troubles = read_fields(text)
    assert len(troubles) == 1, troubles
    return troubles[0]


def read_of(text: str) -> tuple[str, ...]:
    """Return the fields as JSON, where there are any, and the faults."""
    fields, troubles = read_fields(text)
    read = () if fields is None else (json.dumps(fields, ensure_ascii=False),)
    said = (f"{one.place.line - 1}:{one.place.column}: {one.code}: {one.message}; {one.help}" for one in troubles)
    return (*read, *said)


@each_case("document/front_matter.txt")
def test_front_matter_is_read_or_refused_at_its_place(loader: str, case: GoldenCase) -> None:
    assert read_of(case.before) == case.says


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_place_is_known_of_every_key_and_value(loader: str, newline: str) -> None:
    lines = ["type: note", "", "# why", 'title: "Größe 🙂"', "tags:", "  - a", "  - bcd", "see: [🙂, b]", "owner:", ""]
    fields, _ = read_fields(newline.join(lines))
    assert fields is not None
    keys = {name: fields.place(name, of_key=True) for name in ("type", "title", "tags")}
    assert keys == {"type": Place("", 2, 1, 4), "title": Place("", 5, 1, 5), "tags": Place("", 6, 1, 4)}
    assert fields.place("type") == Place("", 2, 7, 4)
    assert fields.place("title") == Place("", 5, 8, 9)
    assert fields.place("tags", 1) == Place("", 8, 5, 3)
    assert fields.place("see", 1) == Place("", 9, 10, 1), "a character outside the basic plane is one"
    assert fields.place("owner") == Place("", 10, 1, 5), "the key of an empty value"


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
