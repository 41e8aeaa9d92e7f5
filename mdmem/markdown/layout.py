"""Find places in a front matter, and create edits of the file's bytes from these places."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from mdmem.errors import MdmemError
from mdmem.markdown.front_matter import Fields, is_scalar
from mdmem.markdown.parse import Document, handler
from mdmem.model.entry import Kind
from mdmem.model.fields import FIELDS, names_of
from mdmem.model.finding import Edit

if TYPE_CHECKING:
    import yaml


class UnpatchableError(MdmemError, ValueError):
    """A file cannot be patched without changing more than was asked for. The message says what to do by hand."""


def apply_edits(data: bytes, edits: Sequence[Edit]) -> bytes:
    """Return the bytes with all edits applied. Insertions at one offset keep their order; overlaps raise ValueError."""
    parts, end = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if not end <= edit.start <= edit.end <= len(data):
            raise ValueError(
                f"the edit of bytes {edit.start} to {edit.end} overlaps another edit, or reaches beyond the file"
            )
        parts += [data[end : edit.start], edit.content]
        end = edit.end
    return b"".join((*parts, data[end:]))


def replace_span(document: Document, start: int, end: int, text: str) -> tuple[Edit, ...]:
    """Return the edit that replaces a range of characters, or nothing if the text is the same.

    Raises UnpatchableError if the new text is not valid Unicode.
    """
    old = document.text[start:end]
    if old == text:
        return ()
    mark = codecs.BOM_UTF8 if document.data.startswith(codecs.BOM_UTF8) else b""
    first = len(mark + document.text[:start].encode())
    try:
        return (Edit(document.path, first, first + len(old.encode()), text.encode()),)
    except UnicodeEncodeError as error:
        raise UnpatchableError(
            f"{document.path}: the new text contains an invalid character (half of a surrogate pair); replace it"
        ) from error


def replace_in_body(document: Document, offset: int, width: int, text: str) -> tuple[Edit, ...]:
    """Return the edit that replaces `width` characters in the body; line breaks become those of the line above."""
    start = len(document.text) - len(document.body) + offset
    above = document.text.rfind("\n", 0, start)
    line_break = "\r\n" if above > 0 and document.text[above - 1] == "\r" else "\n"
    content = text.replace("\r\n", "\n").replace("\n", line_break)
    return replace_span(document, start, start + width, content)


_NUMBERS = frozenset(names_of(Kind.VERSION, Kind.SHARE))
_RANKS = {field.name: rank for rank, field in enumerate(FIELDS)}
_COLON = re.compile(r"[ \t]*:")
_BETWEEN_KEYS = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\r?\n)*[ \t]*\Z")
_COMMENT = re.compile(r"(?:^|[ \t])#[ \t]*([^\r\n]*)", re.MULTILINE)


class Layout(Struct, frozen=True):
    """A front matter without its fences (`front`), its fields, and the line break after the opening fence.

    Offsets count characters of `front`. `colon`, `lines` and `comments` raise KeyError for a missing key.
    """

    path: str
    front: str
    fields: Fields
    opening: str

    @property
    def offset(self) -> int:
        """Return the offset of the front matter in the document's text."""
        return len("---") + len(self.opening)

    def line_start(self, index: int) -> int:
        """Return the offset of the start of the line that contains a character."""
        return self.front.rfind("\n", 0, index) + 1

    def next_line(self, index: int) -> int:
        """Return the offset of the line after a character. Every line of a front matter ends with a line break."""
        return self.front.index("\n", index) + 1

    def line_break(self, index: int) -> str:
        """Return the line break (LF or CRLF) before the line that contains a character."""
        start = self.line_start(index)
        if not start:
            return self.opening
        return "\r\n" if self.front.endswith("\r\n", 0, start) else "\n"

    def colon(self, name: str) -> int:
        """Return the offset just after the colon of a key; raises UnpatchableError if no colon follows the key."""
        found = _COLON.match(self.front, self.fields.nodes[name][0].end_mark.index)
        if found is None:
            raise self.refusal("has a key that is not followed by a colon", "write one `key: value` a line")
        return found.end()

    def lines(self, name: str) -> tuple[int, int]:
        """Return the start and end offset of the lines of a key and its value, without the comments above and below."""
        key, value = self.fields.nodes[name]
        end = max(content_end(self.front, value), self.colon(name))
        return self.line_start(key.start_mark.index), self.next_line(end)

    def insert_offset(self, name: str) -> int:
        """Return the offset at which to insert a key, so that the keys stay in the order of mdmem's fields."""
        names = above = list(self.fields)
        ranked = sorted((other for other in names if other in _RANKS), key=rank_of)
        if ranked and name in _RANKS:
            lower = [other for other in ranked if rank_of(other) < rank_of(name)]
            above = lower or names[: names.index(ranked[0])]
        if above:
            return self.lines(above[-1])[1]
        return 0 if names else len(self.front)

    def indent(self) -> str:
        """Return the blanks before each key; empty if the keys are at the margin."""
        first = next(iter(self.fields), None)
        return " " * self.fields.nodes[first][0].start_mark.column if first is not None else ""

    def comments(self, name: str) -> list[str]:
        """Return the comments on the lines of a key. A `#` inside a value does not count."""
        at, end = self.lines(name)
        found = []
        for node in sorted(_scalars(*self.fields.nodes[name]), key=lambda node: node.start_mark.index):
            start, behind = node.start_mark.index, content_end(self.front, node)
            if node.style in ("|", ">"):
                # PyYAML's span of a block scalar includes the comment on its first line.
                start = min(self.next_line(start), behind)
            found += _COMMENT.findall(self.front[at:start])
            at = max(at, behind)
        return [comment.rstrip() for comment in (*found, *_COMMENT.findall(self.front[at:end]))]

    def refusal(self, fact: str, help_: str) -> UnpatchableError:
        """Return the error for a file that cannot be patched."""
        return UnpatchableError(f"{self.path} {fact}, so it was not changed; {help_}")

    def comment_lost(self, name: str) -> UnpatchableError:
        """Return the error for a patch that would delete a comment of a key."""
        return self.refusal(f"has a comment in `{name}` that would be lost", "change it by hand")


def _scalars(*nodes: Any) -> Iterator[yaml.ScalarNode]:
    for node in nodes:
        if is_scalar(node):
            yield node
        else:
            yield from _scalars(*(node if isinstance(node, tuple) else node.value))


def is_typed(name: str) -> bool:
    """Return whether a field contains dates or numbers, which are written without quotes."""
    return name.endswith("_at") or name in _NUMBERS


def rank_of(name: str) -> int:
    """Return the position of a key in the order of the fields; keys that are no fields come last."""
    return _RANKS.get(name, len(_RANKS))


def layout_of(document: Document) -> Layout:
    """Return a document's `Layout`. Raises UnpatchableError if it cannot be parsed, or a key does not start a line."""
    if document.fields is None:
        help_ = "fix the errors that `mdmem check` reports"
        raise UnpatchableError(f"{document.path} has front matter that cannot be parsed; {help_}")
    front = handler().split(document.text)[0]
    opening = document.text[len("---") : document.text.index("\n") + 1]
    layout = Layout(document.path, front, document.fields, opening)
    nodes = [document.fields.nodes[name][0] for name in document.fields]
    above = front[: nodes[0].start_mark.index] if nodes else front
    indents = {front[layout.line_start(key.start_mark.index) : key.start_mark.index] for key in nodes}
    if not _BETWEEN_KEYS.match(above) or len(indents) > 1 or "".join(indents).strip():
        raise layout.refusal("has keys that do not start their line", "write one `key: value` a line")
    return layout


def content_end(front: str, node: Any) -> int:
    """Return the offset at which a value's source ends; PyYAML's own mark may include the comments below it."""
    start, end = int(node.start_mark.index), int(node.end_mark.index)
    if is_scalar(node) and node.style not in ("|", ">"):
        return end
    if not is_scalar(node):
        last = node.value[-1] if node.value and not node.flow_style else None
        return end if last is None else content_end(front, last[1] if isinstance(last, tuple) else last)
    source = front[start:end]
    # Blank lines at the end belong to a block scalar only if its header has the `+` indicator.
    keeps = "+" in source[:3]
    return start + len(source.removesuffix("\n").removesuffix("\r") if keeps else source.rstrip(" \t\r\n"))
