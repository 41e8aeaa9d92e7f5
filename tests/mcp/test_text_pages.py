"""A text page by page: sections stay whole, what is quoted stays quoted, and nothing is lost."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.errors import UsageError
from mdmem.mcp.pages import Page, bytes_of, text_page_of
from mdmem.mcp.texts import quoted

_CURSOR = re.compile(r"^truncated: true; cursor: ([\w-]+)")


def section(number: int, kind: str = "note", *, size: int = 300) -> str:
    return f"### {kind}: Title {number}\n\n`w/r/e{number}`; in scope\n\n> {'x' * size}"


def pages(text: str, *, limit: int = 1_000) -> list[Page]:
    found = [text_page_of(text, limit=limit)]
    while cut := _CURSOR.match(found[-1].text):
        found.append(text_page_of(text, limit=limit, cursor=cut[1]))
    return found


def test_a_text_that_fits_is_one_page_as_it_is() -> None:
    assert text_page_of("a\n\nb", limit=1_000) == Page("a\n\nb")


def test_sections_stay_whole_and_a_page_is_filled() -> None:
    text = "\n\n".join(["head", *(section(number) for number in range(7))])
    found = [page.text for page in pages(text)]
    assert [page.count("### ") for page in found] == [2, 2, 2, 1]
    assert [number for number in range(7) if not any(section(number) in page for page in found)] == []


def test_the_first_line_says_what_is_left_and_how_many_invariants() -> None:
    kinds = ["invariant"] * 4 + ["note"]
    proposed = ["## Proposed (not binding)", section(9, "invariant")]
    text = "\n\n".join([*(section(number, kind) for number, kind in enumerate(kinds)), *proposed])
    assert pages(text)[0].text.splitlines()[0].endswith("; invariants_remaining: 2; remaining: 5")


def test_a_section_larger_than_a_page_goes_on_below_its_heading() -> None:
    text = "### note: Long\n\n" + quoted("\n\n".join(f"line {number} {'x' * 90}" for number in range(40)))
    found = [page.text for page in pages(text)]
    headings = [line for page in found for line in page.splitlines() if line.startswith("###")]
    assert headings == [f"### note: Long (part {number} of {len(headings)})" for number in range(1, len(headings) + 1)]
    assert [number for number in range(40) if not any(f"> line {number} " in page for page in found)] == []


_BODIES = st.lists(st.text("ab #>\n`-é", max_size=1_500), max_size=8)


@given(_BODIES, st.integers(600, 4_000))
def test_no_page_is_too_large_and_no_line_of_an_entry_stands_unquoted(bodies: list[str], limit: int) -> None:
    text = "\n\n".join(f"### note: T{number}\n\n{quoted(body)}" for number, body in enumerate(bodies))
    found = [page.text for page in pages(text, limit=limit)]
    assert max(map(bytes_of, found)) <= limit
    free = [line for page in found for line in page.splitlines() if line and not line.startswith(">")]
    assert [line for line in free if not line.startswith(("### note: T", "truncated: true; "))] == []
    said = sum(len(body.replace("\n", "").replace(" ", "")) for body in bodies)
    shown = "".join(line[1:] for page in found for line in page.splitlines() if line.startswith(">"))
    assert len(shown.replace(" ", "")) == said


@pytest.mark.parametrize("cursor", ["", "1", "0-000000000000"])
def test_a_cursor_that_is_none_is_refused(cursor: str) -> None:
    with pytest.raises(UsageError, match="call again without it"):
        text_page_of(section(1) * 9, limit=1_000, cursor=cursor)
