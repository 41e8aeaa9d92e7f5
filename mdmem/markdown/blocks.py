"""What a part of a body is made of: paragraphs, items, code and tables, each with what it announces."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from itertools import accumulate, chain, pairwise
from math import fsum
from textwrap import dedent

from msgspec import Struct

from mdmem.markdown.sentences import Paragraph, comments_blanked, cut_at_word, is_links, size_of


class BlockKind(Enum):
    """What a block is."""

    PROSE = "prose"
    ITEM = "item"
    CODE = "code"
    TABLE = "table"


# In bytes: what is announced is whole up to here, and of a longer list each item's first sentence stands.
_WHOLE, _ITEM_BYTES = 700, 320
# A longer paragraph is taken by its sentences.
_LONG = 420

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,3}[.)]|\(?[a-z0-9]{1,3}\))[ \t]+\S")
_TABLE = re.compile(r"[ \t]*(?:\||\+[-=]{2,}|={2,}[ \t]+={2,})")
_DIRECTIVE = re.compile(r"[ \t]*\.\.[ \t]+(?:(?P<name>[\w-]+)::|\[|_|\S)")
_CODES = frozenset(("code", "code-block", "sourcecode", "parsed-literal", "literal", "doctest", "productionlist"))
# Rows of marks, fields of directives, quotes of people, pictures and tags.
_EMPTY = re.compile(r"[ \t]*(?::[\w -]+:(?:\s|\Z)|</?[a-zA-Z!]|\[[^\]\n]*\]:\s|([=\-~*_#])\1+[\s=\-~*_]*\Z)")


class BodyBlock(Struct, frozen=True):
    """One block and its place in a body; `joins`: it goes on with the paragraph of the one before."""

    start: int
    end: int
    kind: BlockKind
    indent: int
    text: str
    joins: bool = False

    @property
    def announces(self) -> bool:
        """Say whether it says that something follows."""
        return self.text.endswith(":")


class Group(Struct, frozen=True):
    """Blocks that say nothing apart from each other: one, or what announces with what it announces."""

    blocks: tuple[BodyBlock, ...]

    @property
    def start(self) -> int:
        """Return where it begins."""
        return self.blocks[0].start

    @property
    def end(self) -> int:
        """Return where it ends."""
        return self.blocks[-1].end

    @property
    def joins(self) -> bool:
        """Say whether it goes on with the paragraph before."""
        return self.blocks[0].joins

    def told(self, worth: Callable[[str], float], limit: int) -> str:
        """Return it as text: whole where that is short, else what is `worth` most to the question, never cut in two."""
        text, limit = "\n".join(one.text for one in self.blocks), min(limit, _WHOLE)
        if size_of(text) <= limit:
            return text
        head = [
            one.text for one in self.blocks[:1] if len(self.blocks) > 1 or one.kind in (BlockKind.PROSE, BlockKind.ITEM)
        ]
        rest = self.blocks[len(head) :]
        if not rest:
            return cut_at_word(text, limit)
        head = [cut_at_word(one, limit // 2) for one in head]
        room = limit - sum(size_of(one) + 1 for one in head)
        if rest[0].kind is BlockKind.ITEM:
            return "\n".join([*head, *_items(rest, worth, room)])
        return "\n".join([*head, _lines_around(rest[0].text.split("\n"), worth, room)])


def groups_in(body: str, start: int, end: int) -> list[Group]:
    """Return what a part of a body is made of, in its order."""
    blocks = list(_Reading(comments_blanked(body[start:end]), start).blocks())
    found: list[Group] = []
    at = 0
    while at < len(blocks):
        past = _announced(blocks, at) if blocks[at].announces else at + 1
        if past == at + 1 and blocks[at].kind is BlockKind.PROSE and size_of(blocks[at].text) > _LONG:
            found += (Group((one,)) for one in _by_sentence(blocks[at], body))
        else:
            found.append(Group(tuple(blocks[at:past])))
        at = past
    return found


def _by_sentence(block: BodyBlock, body: str) -> Iterator[BodyBlock]:
    sentences = Paragraph(block.start, block.end, 0, body[block.start : block.end]).sentences()
    for number, one in enumerate(sentences):
        yield BodyBlock(one.start, one.end, BlockKind.PROSE, block.indent, one.text, joins=number > 0)


def _announced(blocks: Sequence[BodyBlock], at: int) -> int:
    """Return the place behind the last of what a block announces."""
    edge, past = blocks[at].indent, at + 1
    if past < len(blocks) and blocks[past].kind in (BlockKind.CODE, BlockKind.TABLE):
        return past + 1
    if past < len(blocks) and blocks[past].kind is BlockKind.ITEM:
        edge = blocks[past].indent
        while past < len(blocks) and (blocks[past].kind is BlockKind.ITEM or blocks[past].indent > edge):
            if blocks[past].indent < edge:
                break
            past += 1
        return past
    if past < len(blocks) and blocks[past].indent > edge:
        return past + 1
    return past


def _items(blocks: Sequence[BodyBlock], worth: Callable[[str], float], room: int) -> list[str]:
    """Return the items of a list that fit: the best one whole, the first sentence of the others, then more whole."""
    edge = blocks[0].indent
    begin = [at for at, one in enumerate(blocks) if one.kind is BlockKind.ITEM and one.indent <= edge]
    whole = ["\n".join(one.text for one in blocks[at:past]) for at, past in pairwise((*begin, len(blocks)))]
    short = [_first_sentence(blocks[at].text) for at in begin]
    worths = [worth(text) for text in whole]
    order = sorted(range(len(whole)), key=lambda at: (-worths[at], at))
    better = [at for at in order if worths[at] > fsum(worths) / len(worths)]
    given: dict[int, str] = {}
    for at, text in chain(((at, whole[at]) for at in better[:1]), ((at, short[at]) for at in order)):
        if at not in given and size_of(text) < room:
            given[at] = text
            room -= size_of(text) + 1
    for at in better:
        if at in given and size_of(whole[at]) - size_of(given[at]) < room:
            room -= size_of(whole[at]) - size_of(given[at])
            given[at] = whole[at]
    kept = sorted(given)
    gaps = {at for before, at in pairwise((-1, *kept)) if at > before + 1}
    told = [text for at in kept for text in (("…",) if at in gaps else ()) + (given[at],)]
    return [*told, *(("…",) if kept[-1:] != [len(whole) - 1] else ())]


def _first_sentence(text: str) -> str:
    first = next(Paragraph(0, len(text), 0, text).sentences(), None)
    return cut_at_word(first.text if first else text, _ITEM_BYTES)


def _lines_around(lines: Sequence[str], worth: Callable[[str], float], room: int) -> str:
    """Return the lines of code, or the rows of a table, that hold words, each with its neighbours."""
    asked = {near for at, line in enumerate(lines) if worth(line) for near in (at - 1, at, at + 1)}
    told: list[str] = []
    before = -1
    for at in (at for at in sorted(asked | {0} if asked else range(len(lines))) if 0 <= at < len(lines)):
        text = ("…\n" if at > before + 1 else "") + lines[at]
        room -= size_of(text) + 1
        if room < 0:
            return "\n".join([*told, "…"])
        told.append(text)
        before = at
    return "\n".join(told)


class _Reading(Struct):
    """The lines of a part of a body, which begins at `start`, read from the first to the last."""

    text: str
    start: int

    def blocks(self) -> Iterator[BodyBlock]:
        """Yield its blocks."""
        lines = self.text.splitlines(keepends=True)
        places = list(accumulate(map(len, lines), initial=self.start))
        at, literal = 0, -1
        while at < len(lines):
            line = lines[at]
            if not line.strip():
                at += 1
                continue
            kind, past = _kind_at(lines, at, literal)
            literal = -1
            last = "".join(lines[at:past]).rstrip()
            indent = _indent(line)
            if kind is not None and (text := _told(lines[at:past], kind)):
                yield BodyBlock(places[at], places[past], kind, indent, text)
            if last.endswith("::") or (kind is None and _is_code(line)):
                literal = indent
            at = past


def _kind_at(lines: Sequence[str], at: int, literal: int) -> tuple[BlockKind | None, int]:
    """Return what begins at a line, None where it says nothing, and the line behind it."""
    line = lines[at]
    if fence := _FENCE.match(line):
        closed = (past for past in range(at + 1, len(lines)) if lines[past].strip().startswith(fence[1]))
        return BlockKind.CODE, next(closed, len(lines) - 1) + 1
    if literal >= 0 and _indent(line) > literal:
        return BlockKind.CODE, _past_indented(lines, at, literal)
    if line.lstrip().startswith(">>>"):
        return BlockKind.CODE, _past_paragraph(lines, at)
    if _TABLE.match(line):
        return BlockKind.TABLE, _past_paragraph(lines, at)
    if _DIRECTIVE.match(line) or _EMPTY.match(line):
        return None, at + 1
    kind = BlockKind.ITEM if _ITEM.match(line) else BlockKind.PROSE
    return kind, _past_paragraph(lines, at, is_prose=True)


def _is_code(line: str) -> bool:
    named = _DIRECTIVE.match(line)
    return named is not None and named["name"] in _CODES


def _past_indented(lines: Sequence[str], at: int, edge: int) -> int:
    past = last = at + 1
    while past < len(lines) and (not lines[past].strip() or _indent(lines[past]) > edge):
        last = past + 1 if lines[past].strip() else last
        past += 1
    return last


def _past_paragraph(lines: Sequence[str], at: int, *, is_prose: bool = False) -> int:
    past = at + 1
    while past < len(lines) and lines[past].strip():
        if is_prose and (_ITEM.match(lines[past]) or _FENCE.match(lines[past]) or _TABLE.match(lines[past])):
            break
        past += 1
    return past


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _told(lines: Sequence[str], kind: BlockKind) -> str:
    """Return lines as text, code and tables as they stand but for what indents them all, prose in one line."""
    text = "".join(lines)
    if kind in (BlockKind.CODE, BlockKind.TABLE):
        kept = [line for line in dedent(text).strip("\n").split("\n") if not _FENCE.match(line)]
        return "\n".join(line.rstrip() for line in kept)
    joined = " ".join(text.split())
    joined = joined[:-1] if joined.endswith("::") else joined
    return "" if is_links(joined) or joined == ":" else joined
