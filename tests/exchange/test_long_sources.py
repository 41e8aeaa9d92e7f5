"""Texts of a stranger that a search from each of their letters would take hours for."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mdmem.exchange.body import write_body
from mdmem.exchange.decision import decision_record, plain_title
from mdmem.exchange.instructions import globs_of
from mdmem.exchange.keys import read_keys
from mdmem.exchange.record import Cut, ForeignRecord, SourceFile
from mdmem.exchange.references import References
from mdmem.exchange.status import read_status
from mdmem.exchange.text import without_comments, without_own
from mdmem.markdown.headings import sections_of
from mdmem.setup.seal import region_of

_MANY = 100_000


def record_of(body: str) -> ForeignRecord:
    """Return a decision record of a body."""
    return decision_record(SourceFile("docs/adr/0001-x.md", body.encode(), {}, body, "\n"))


@pytest.mark.parametrize(
    "read",
    [
        lambda: without_own("<!-- mdmem export : " * _MANY),
        lambda: region_of("<!-- mdmem export : " * _MANY),
        lambda: without_comments("<!--" * _MANY),
        lambda: plain_title("[" * _MANY),
        lambda: plain_title("[a](" * _MANY),
        lambda: read_status("superseded by " + " " * _MANY + "x"),
        lambda: read_status("superseded by " + "a" * _MANY),
        lambda: read_status("superseded by " + "[[" * _MANY),
        lambda: read_status("<!--" * _MANY),
        lambda: read_keys([("supersedes", "a" * _MANY), ("amends", "[" * _MANY)]),
        lambda: globs_of("," * _MANY + "{"),
        lambda: globs_of(3 * f"{{{_MANY * 'a,'}}}"),
        lambda: sections_of("# a" + " " * _MANY + "b"),
        lambda: [one.name for one in sections_of("# a" + "-" * _MANY + "b")],
    ],
)
def test_text_is_read_once(read: Callable[[], object]) -> None:
    read()


def test_patterns_beyond_the_limit_are_said() -> None:
    globs, said = globs_of("src/{" + ",".join(map(str, range(70))) + "}/**,!x")
    assert (len(globs), globs[-1]) == (64, "src/63/**")
    assert said == (
        "`applies_to` cannot express the pattern `!x`",
        "it has more than 64 patterns; those after `src/63/**` are omitted",
    )


def test_many_cuts_and_links_are_made_in_one_pass() -> None:
    links = "[a](b.md) [[b]]\n" * 5_000
    lines = "- Status: accepted\n" * 5_000
    record = record_of(f"# T\n\n{lines}\n## Context\n\n{links}")
    body, _ = write_body(record, "shop/notes/x.md", References([]), place=str, cuts=record.cuts)
    assert body.startswith("## Context\n\n[a](../../docs/adr/b.md) [[b]]\n")


@pytest.mark.parametrize(
    ("body", "cut", "left"),
    [
        ("one\n\ntwo\n\nthree\n", "two\n", "one\n\nthree\n"),
        ("one\ntwo\n\nthree\n", "two\n", "one\n\nthree\n"),
        (" \r\n\r\ntwo\r\n\r\nthree\r\n", "two\r\n", "three\r\n"),
        ("one\n\ntwo", "two", "one\n\n"),
    ],
)
def test_what_is_cut_takes_the_blank_lines_behind_it_along(body: str, cut: str, left: str) -> None:
    start = body.index(cut)
    record = record_of(body)
    made, _ = write_body(record, "x.md", References([]), place=str, cuts=[Cut(start, start + len(cut))])
    assert made == left


@pytest.mark.parametrize(
    ("line", "heading"),
    [
        ("# a", "a"),
        ("##", ""),
        ("# a #", "a"),
        ("# a # ##  ", "a #"),
        ("# a#", "a#"),
        ("# #", "#"),
        ("#\ta\r", "a"),
    ],
)
def test_closing_marks_are_no_part_of_a_heading(line: str, heading: str) -> None:
    assert [one.heading for one in sections_of(f"{line}\n\nx\n") if one.level] == [heading]
