"""Findings as Markdown: a table that text from files cannot break, and that pings nobody, in 65,000 characters."""

import re

import pytest

from mdmem.model.finding import Place, Severity
from mdmem.render.text import code, prose
from render.reports import RULE, checked, finding, fix, rendered


def rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith(("| error", "| warning"))]


def test_table_has_the_worst_first_and_marks_the_new() -> None:
    found = (finding("title-missing", "m", severity=Severity.WARNING), finding("dangling-link", "m", new=True))
    text = rendered("markdown", checked(*found, base="main", shows_old=True))
    assert text.startswith("## mdmem: 1 error, 1 warning\n")
    place = "`memory/nav/rules/a.md:3`"
    assert rows(text) == [
        f"| error **new** | `dangling-link` | {place} | m |",
        f"| warning | `title-missing` | {place} | m |",
    ]


def test_help_and_fix_stand_in_a_block_that_opens() -> None:
    text = rendered("markdown", checked(finding(fix=fix())))
    block = text[text.index("<details><summary>How to fix") :]
    assert "write an address; or remove the link (`mdmem check --fix`)" in block
    assert block.endswith("\n\n</details>")


def test_unread_files_are_listed() -> None:
    assert "incomplete</summary>\n\n- `memory/x`" in rendered("markdown", checked(incomplete=("x",)))


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("a | b", r"a \| b"),
        ("<b>&amp;", r"\<b\>&&#8203;amp;"),
        ("`a|b` and `@ada`", "<code>a&#124;b</code> and `@ada`"),
        ("@ada #12", "@&#8203;ada #&#8203;12"),
        ("one ` alone", r"one \` alone"),
        ("`a` and ` b", r"`a` and \` b"),
        ("[x](y) **z** https://e", r"\[x\](y) \*\*z\*\* https&#58;//e"),
        ("a_b _c_ d: e", r"a_b \_c\_ d: e"),
        ("in b89d4577e1", "in `b89d4577e1`"),
        ("a\nb", r"a\<U+000A\>b"),
    ],
)
def test_prose_shows_markup_as_it_is_written(written: str, shown: str) -> None:
    assert prose(written) == shown


def test_code_is_never_ended_by_what_it_holds() -> None:
    assert code("</code>`|") == "<code>&#60;/code&#62;&#96;&#124;</code>"


@pytest.mark.parametrize("length", [1, 400, pytest.param(5_000, marks=pytest.mark.long)])
def test_too_many_findings_are_counted_and_what_is_left_out_is_said(length: int) -> None:
    many = [finding(message="m" * length, help="h" * length, place=Place(RULE, line)) for line in range(1, 2001)]
    text = rendered("markdown", checked(*many))
    assert len(text) <= 65_000
    left_out = int(re.findall(r"\n\n(\d+) more left out", text)[0])
    assert (len(rows(text)) + left_out, text.count("<details>")) == (2000, text.count("</details>"))
