"""The tokens of a text, be it an entry, half of one, or no entry at all."""

from pathlib import Path

import pytest

from mdmem.lsp.tokens import TokenKind, parse_text
from mdmem.markdown.parse import parse_document
from mdmem.model.entry import Kind
from mdmem.model.fields import FIELDS

EXAMPLES = Path(__file__).parents[2] / "example-wings"
_LISTS = {field.name for field in FIELDS if field.kind in (Kind.LINKS, Kind.GLOBS, Kind.NAMES, Kind.TEXTS)}


def tokens(text: str) -> str:
    return "; ".join(f"{token.kind.value} {token.key}={token.text}" for token in parse_text(text).tokens)


def test_lists_are_read_as_the_parser_reads_them() -> None:
    read = 0
    for path in sorted(EXAMPLES.glob("*/*/*.md")):
        document = parse_document("a/b/c.md", path.read_bytes())
        for field in parse_text(document.text).fields:
            if field.key.text in _LISTS:
                value = (document.fields or {})[field.key.text]
                stated = value if isinstance(value, list) else [value]
                assert [item.text for item in field.items] == stated, f"{path}: {field.key.text}"
                read += 1
    assert read > 100


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("---\nsta\nsee: [a/b/c, 'd/e/f'\n", "key see=see; address see=a/b/c; address see=d/e/f"),
        ("---\r\nsee:\r\n  - a/b/c # why\r\n---\r\n", "key see=see; address see=a/b/c"),
        (
            "---\nrelations: [{type: part-of, to: a/b/c}]\n---\n",
            "key relations=relations; address relations=a/b/c",
        ),
        ("---\nignore:\n  local-path: it is meant\n---\n", "key ignore=ignore; code ignore=local-path"),
        ('---\ntitle: "A # b"  # c\n---\n', "key title=title; value title=A # b"),
        (
            "\ufeff---\nreason: >-\n  see: no\n  key\n---\n[[x/y/z]]",
            "key reason=reason; value reason=>-\n  see: no\n  key; address =x/y/z",
        ),
        ("no entry [see: a/b/c]", "address =a/b/c"),
        ("", ""),
        ("---", ""),
    ],
)
def test_broken_and_odd_texts_are_parsed(text: str, expected: str) -> None:
    assert tokens(text) == expected


def test_the_offsets_of_a_token_are_those_of_its_text() -> None:
    text = '---\ntitle: Ü😀\nsee: ["a/b/c"]\n---\n\n😀 [see: ä/b/c] `[see: x/y/z]`\n'
    assert all(text[token.start : token.end] == token.text for token in parse_text(text).tokens)
    found = parse_text(text).token_at(text.index("a/b/c") + 5)
    assert found is not None
    assert found.kind is TokenKind.ADDRESS
