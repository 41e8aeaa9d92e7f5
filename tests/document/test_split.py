"""Where front matter ends: an exact fence, and what every other beginning is called."""

import json

import pytest
from golden import GoldenCase, each_case
from hypothesis import given
from hypothesis import strategies as st

from mdmem.markdown.front_matter import FenceError, body_of, has_front_matter
from mdmem.markdown.parse import handler


def said_of(text: str) -> str:
    """Return front matter and body as JSON, or what is wrong with the fence."""
    try:
        return json.dumps(handler().split(text), ensure_ascii=False)
    except FenceError as fault:
        return f"{fault.line}: {fault.code}: {fault}; {fault.help}"


@each_case("document/split.txt")
def test_split_keeps_every_byte_or_names_what_is_wrong_with_a_fence(case: GoldenCase) -> None:
    assert (said_of(case.before),) == case.says


@given(st.text(alphabet="-\r\n: ab\u200b+.", max_size=40))
def test_split_loses_nothing_but_the_fences(text: str) -> None:
    try:
        front, body = handler().split(text)
    except FenceError:
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
