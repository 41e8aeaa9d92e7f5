"""Split a document into keys, values and addresses, even if its front matter is invalid."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from enum import StrEnum, auto

from msgspec import Struct

from mdmem.markdown.front_matter import FENCE, has_front_matter
from mdmem.markdown.parse import SIZE_LIMIT, body_links, without_code
from mdmem.model.entry import Kind
from mdmem.model.fields import FIELDS


class TokenKind(StrEnum):
    """The kind of a token; CODE is the code of a check."""

    KEY = auto()
    VALUE = auto()
    ADDRESS = auto()
    CODE = auto()


class Token(Struct, frozen=True):
    """An address, a wing, a glob or another word of a text with a meaning for the editor.

    `key` is the field that contains it ("" in the body). `is_path` means that it is written as a relative path.
    """

    kind: TokenKind
    start: int
    end: int
    text: str
    key: str = ""
    is_path: bool = False


class FieldBlock(Struct, frozen=True):
    """A key of the front matter with its items, from the start of its line to the line of the next key."""

    key: Token
    start: int
    end: int
    items: tuple[Token, ...]


class ParsedText(Struct, frozen=True):
    """The fields of the front matter, the offsets of its start and end, and the links in the body.

    `front` is None if there is no front matter. In code, `links` are the addresses of entries.
    """

    fields: tuple[FieldBlock, ...] = ()
    front: tuple[int, int] | None = None
    links: tuple[Token, ...] = ()

    @property
    def tokens(self) -> Iterator[Token]:
        """Yield every token, in the order of the text."""
        for field in self.fields:
            yield field.key
            yield from field.items
        yield from self.links

    def token_at(self, offset: int) -> Token | None:
        """Return the token at an offset, or None; the offset just after a token still belongs to it."""
        return next((token for token in self.tokens if token.start <= offset <= token.end), None)

    def field_at(self, offset: int) -> FieldBlock | None:
        """Return the field whose lines contain an offset, or None."""
        number = bisect_right(self.fields, offset, key=lambda field: field.start) - 1
        return self.fields[number] if number >= 0 and offset < self.fields[number].end else None


# A key, or a word at the start of a line that may become a key. Both end the value of the key above.
_KEY = re.compile(r"^(?P<indent> *)(?:(?P<key>[^\W\d][\w-]*)[ \t]*:(?=[ \t\r\n]|\Z)|\w)", re.MULTILINE)
_UNCLOSED = re.compile(r"^[ \t]*\r?$|\Z", re.MULTILINE)
_QUOTED = r"\"(?:[^\"\\\n]|\\.)*\"?|'(?:[^'\n]|'')*'?"
_QUOTE = re.compile(_QUOTED)
_COMMENT = r"(?:(?<=\s)|^)#[^\n]*"
_FLOW_ITEM = re.compile(rf"(?P<none>{_COMMENT})|(?P<item>{_QUOTED}|[^\s,\[\]][^,\[\]\r\n]*)", re.MULTILINE)
_BLOCK_ITEM = re.compile(
    rf"(?P<none>{_COMMENT}|^[ \t]*-(?=[ \t\r\n]|\Z))|(?P<item>{_QUOTED}|[^\s][^\r\n]*)", re.MULTILINE
)
_TRAILING_COMMENT = re.compile(r"\s#.*\Z")
_TO = re.compile(rf"\bto[ \t]*:[ \t]+(?P<item>{_QUOTED}|[^\s,}}]+)")
_IGNORED = re.compile(r"(?:^[ \t]+|[{,][ \t]*)(?P<item>[a-z0-9]+(?:-[a-z0-9]+)*)[ \t]*:(?=[ \t\r\n]|\Z)", re.MULTILINE)
_KINDS = {field.name: field.kind for field in FIELDS}
_TOKEN_KINDS = {Kind.LINKS: TokenKind.ADDRESS, Kind.RELATIONS: TokenKind.ADDRESS, Kind.PAIRS: TokenKind.CODE}
LIST_KINDS = frozenset({Kind.LINKS, Kind.GLOBS, Kind.WINGS, Kind.TEXTS})


def parse_text(text: str) -> ParsedText:
    """Return the tokens of a text, whose front matter may be invalid or incomplete; none for a very long text."""
    if len(text) > SIZE_LIMIT:
        return ParsedText()
    has_bom = text.startswith("\ufeff")
    if not has_front_matter(text[has_bom : has_bom + 5]):
        return ParsedText(links=tuple(_body_tokens(text, 0)))
    start = text.find("\n") + 1 or len(text)
    fence = FENCE.search(text, start)
    # Front matter without a closing fence ends at the first blank line.
    end = fence.start() if fence else next(_UNCLOSED.finditer(text, start)).start()
    body = min(len(text), fence.end() + 1) if fence else end
    keys = list(_KEY.finditer(text, start, end))
    indent = len(keys[0]["indent"]) if keys else 0
    # A key with more indentation is part of the value of the key above.
    keys = [key for key in keys if len(key["indent"]) <= indent]
    fields = []
    for number, key in enumerate(keys):
        following = keys[number + 1].start() if number + 1 < len(keys) else end
        name = key["key"]
        if name is not None:
            token = Token(TokenKind.KEY, *key.span("key"), name, name)
            fields.append(FieldBlock(token, key.start(), following, tuple(_items(text, name, key.end(), following))))
    return ParsedText(tuple(fields), (start, end), tuple(_body_tokens(text, body)))


def _body_tokens(text: str, body: int) -> Iterator[Token]:
    for link in body_links(without_code(text[body:])):
        start = body + link.offset
        yield Token(TokenKind.ADDRESS, start, start + link.width, link.target, is_path=link.is_path)


def _items(text: str, name: str, start: int, end: int) -> Iterator[Token]:
    kind = _KINDS.get(name)
    token_kind = _TOKEN_KINDS.get(kind, TokenKind.VALUE) if kind is not None else TokenKind.VALUE
    spans: Iterable[tuple[int, int]] = ()
    if kind is Kind.RELATIONS or kind is Kind.PAIRS:
        pattern = _TO if kind is Kind.RELATIONS else _IGNORED
        spans = (found.span("item") for found in pattern.finditer(text, start, end))
    elif kind in LIST_KINDS:
        pattern = _FLOW_ITEM if text[start:end].lstrip().startswith("[") else _BLOCK_ITEM
        spans = (found.span("item") for found in pattern.finditer(text, start, end) if found["item"])
    elif text[start:end].strip():
        value = text[start:end]
        lead = start + len(value) - len(value.lstrip())
        quoted = _QUOTE.match(text, lead, end)
        spans = [(lead, quoted.end() if quoted else start + len(value.rstrip()))]
    for first, last in spans:
        item = text[first:last]
        quote = item[0] if item[0] in "'\"" else ""
        item = item.rstrip() if quote else _TRAILING_COMMENT.sub("", item).rstrip()
        is_closed = quote and len(item) > 1 and item.endswith(quote)
        last = first + len(item) - (1 if is_closed else 0)
        first += len(quote)
        yield Token(token_kind, first, last, text[first:last], name)
