"""Where front matter ends: an exact fence, and what every other beginning is called."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.document.split import FenceError, body_of, has_front_matter, split_text


@pytest.mark.parametrize(
    ("text", "front", "body"),
    [
        ("---\na: b\n---\ntext\n", "a: b\n", "text\n"),
        ("---\r\na: b\r\n---\r\ntext\r\n", "a: b\r\n", "text\r\n"),
        ("---\n---\n", "", ""),
        ("---\na: b\n---", "a: b\n", ""),
        ("---\na: b\n---\n\n\n  text", "a: b\n", "\n\n  text"),
        ("---\na: b\n---\n---\nc\n", "a: b\n", "---\nc\n"),
        ("---\na: |\n  ---\n---\nc\n", "a: |\n  ---\n", "c\n"),
        ("---\na: ----\n----x\n---\nc", "a: ----\n----x\n", "c"),
    ],
)
def test_split_keeps_every_byte(text: str, front: str, body: str) -> None:
    assert split_text(text) == (front, body)


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("", "empty-file", 1),
        (" \n\r\n\t\n", "empty-file", 1),
        ("# A title\n", "front-matter-missing", 1),
        ("\n---\na: b\n---\n", "fence-variant", 1),
        ("--- \na: b\n---\n", "fence-variant", 1),
        ("----\na: b\n----\n", "fence-variant", 1),
        ("+++\na = 1\n+++\n", "fence-variant", 1),
        ("—\na: b\n—\n", "fence-variant", 1),
        ("\u200b---\na: b\n---\n", "fence-variant", 1),
        ("---\na: b\n", "fence-unterminated", 1),
        ("---", "fence-unterminated", 1),
        ("---\na: b\n---- \ntext\n", "fence-variant", 3),
        ("---\r\na: b\r\n...\r\ntext\r\n", "fence-variant", 3),
        ("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "git-lfs-pointer", 1),
    ],
)
def test_split_names_what_is_wrong_with_a_fence(text: str, code: str, line: int) -> None:
    with pytest.raises(FenceError) as caught:
        split_text(text)
    assert (caught.value.code, caught.value.line) == (code, line)


@given(st.text(alphabet="-\r\n: ab\u200b+.", max_size=40))
def test_split_loses_nothing_but_the_fences(text: str) -> None:
    try:
        front, body = split_text(text)
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
