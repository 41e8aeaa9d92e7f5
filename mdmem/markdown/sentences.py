"""The sentences of a body that are prose: no code, table, quote, status line, banner or list of links."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, pairwise

from mdmem.record import StoredRecord

# To the end where nothing closes it: a search from each of thousands that are open would take hours.
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_CODE = re.compile(
    r"^ {0,3}(?:(?P<ticks>`{3,})(?![^\n]*`)|(?P<tildes>~{3,}))[^\n]*"
    r"(?:\n.*?(?:^ {0,3}(?(ticks)(?P=ticks)`*|(?P=tildes)~*)[ \t]*\r?$)|.*\Z)",
    re.DOTALL | re.MULTILINE,
)
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\r?\n)+")
# Behind the end of a line: to look for the start of one takes three times as long.
_ITEM = re.compile(r"\n[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+")
# An abbreviation, an initial and a small letter behind the full stop end none. What stands before is looked at behind
# the mark: a pattern that begins with looking back takes twenty times as long.
_STOPPED = (
    r"(?<![.!?].)(?<!\be\.g.)(?<!\bi\.e.)(?<!\bvs.)(?<!\bcf.)(?<!\s[A-Z].)"
    r"[.!?]*+(?:[\"')\]*_`]|[\u2019\u201d])*+(?=\s+[^\sa-z])"
)
_END = re.compile(rf"[.!?]{_STOPPED}")
# A class of signs that are no Latin takes as long to compile as all else here.
_WIDE = "。！？"
_WIDE_END = re.compile(rf"[.!?{_WIDE}](?:(?<=[.!?]){_STOPPED}|(?<=[{_WIDE}])[{_WIDE}]*+[」』”]*+)")
# Fields and targets of reStructuredText, pictures, tags, rows of marks.
_NO_PROSE = re.compile(r":[\w -]+:(?:\s|\Z)|\[?!\[|</?[a-zA-Z!]|\[[^\]\n]*\]:\s|\+[-=]|([=\-~*_#])\1++[\s=\-~*_]*+\Z")
_ROWS = frozenset("=-~*_#")
_BULLETS, _BLANKS, _MARKS = {"-", "*", "+"}, {" ", "\t"}, {"*", "_"}
# To compile a pattern of them takes as long as to cut up a body.
_NAMED = (
    "status|state|date|created|updated|last modified|last updated|author|authors|owner|owners|decider|deciders"
    "|decision maker|decision makers|decision-maker|decision-makers|consulted|informed|approver|approvers|reviewer"
    "|reviewers|editor|editors|champion|champions|stakeholder|stakeholders|tag|tags|category|issue|issues|ticket"
    "|tickets|technical story|discussion|discussions|supersedes|superseded|supersedes by|superseded by|replaces"
    "|replaced|replaces by|replaced by|amends|amended by|related|translation|translations|language|languages|version"
    "|number|type|due date|link|links"
)
_FIELD_NAMES = frozenset(_NAMED.split("|"))
_LINK = re.compile(r"\[[^\[\]\n]*\]\([^()\n]*\)|\[\[[^\[\]\n]*\]\]|<?https?://[^\s>]*>?")
# Of Markdown and of reStructuredText.
_TARGET = re.compile(r"\[([^\[\]]+)\]\([^()\s]*\)|`([^`<>]+?)\s*<[^`<>]*>`__?")
_WORD = re.compile(r"[^\W_]+")
_BOLD_LINE = re.compile(r"(\*\*|__)[^*_\n]*\1:?\Z")
# So many words beside a link say no more than where it leads.
_FEW = 3
_CODE_INDENT = 4
_FOLLOWING = re.compile(r"\b(?:the following|as follows)\b")


# Thousands are made for an answer, in a third of the time of a data class.
class Sentence(StoredRecord, frozen=True):
    """A sentence and its place in the body; `block` is its paragraph; `is_item`: it begins an item of a list."""

    start: int
    end: int
    text: str
    block: int
    is_item: bool = False

    @property
    def bare(self) -> Sentence:
        """Return it without where its links lead."""
        text = without_targets(self.text)
        return self if text == self.text else self.with_changes(text=text)

    @property
    def size(self) -> int:
        """Return its bytes, with what parts it from the next."""
        return size_of(self.text) + 1


def size_of(text: str) -> int:
    """Return the bytes of a text."""
    # The name of a file need not be UTF-8.
    return len(text.encode("utf-8", "surrogateescape"))


def without_comments(text: str) -> str:
    """Return a text without HTML comments."""
    return _COMMENT.sub("", text) if "<!--" in text else text


def comments_blanked(text: str) -> str:
    """Return a text with HTML comments blanked out, every character at its place."""
    return _COMMENT.sub(lambda found: _blank(found.group()), text) if "<!--" in text else text


def _blank(text: str) -> str:
    # Line by line: to replace letter by letter takes ten times as long.
    return "\n".join(" " * len(line) for line in text.split("\n"))


def without_targets(text: str) -> str:
    """Return a text in which links are what they say, without where they lead."""
    return _TARGET.sub(r"\1\2", text) if "](" in text or ">`" in text else text


def is_links(text: str) -> bool:
    """Say whether a text does little more than to say where to look."""
    if "](" in text or "[[" in text or "://" in text:
        links = len(_LINK.findall(text))
        return bool(links) and len(_WORD.findall(_LINK.sub("", text))) <= max(_FEW, links)
    return False


class Paragraph(StoredRecord, frozen=True):
    """One of prose, and its place in a body; `number` counts those of its part, the others among them."""

    start: int
    end: int
    number: int
    text: str

    def sentences(self) -> Iterator[Sentence]:
        """Yield its sentences."""
        for start, end, said, is_item in _sentences_of(self.text):
            yield Sentence(self.start + start, self.start + end, said, self.number, is_item)


def sentences_in(
    body: str, start: int, end: int, *, among: Callable[[str], bool] = lambda _block: True
) -> Iterator[Sentence]:
    """Yield the sentences of a part of a body that are prose, of those paragraphs alone that are `among` the wanted."""
    for block in blocks_in(body, start, end, among=among):
        yield from block.sentences()


def blocks_in(
    body: str, start: int, end: int, *, among: Callable[[str], bool] = lambda _block: True
) -> Iterator[Paragraph]:
    """Yield the paragraphs of a part of a body that are prose, and `among` the wanted."""
    text = _blanked(body[start:end])
    is_held = False
    for number, (first, last) in enumerate(_blocks(text)):
        block = text[first:last]
        stripped = block.lstrip(" \t\r\n")
        indent = len(block) - len(stripped)
        # What a directive or `::` holds is indented below it.
        held, is_held = is_held and indent > 0, stripped.startswith("..") or stripped.endswith("::")
        if held or indent >= _CODE_INDENT or not (among(block) and _is_prose(stripped)):
            is_held = is_held or held
        else:
            yield Paragraph(start + first, start + last, start + number, block)


def pieces_of(text: str) -> Iterator[str]:
    """Yield the sentences of what is told of a body, in one line each, without the marks of items and of gaps."""
    for block in _BLANK_LINES.split(text):
        for _, _, told, is_item in _sentences_of(block.strip().removeprefix("… ")):
            if piece := _ITEM.sub("", f"\n{told}", count=1).lstrip("\n") if is_item else told:
                yield piece


def said(sentences: Iterable[Sentence]) -> str:
    """Return sentences as text, paragraphs and items apart."""
    text, block = "", -1
    for one in sentences:
        if text:
            text += "\n" if one.is_item else " " if one.block == block else "\n\n"
        text, block = text + one.text, one.block
    return text


def fitting(sentences: Iterable[Sentence], limit: int) -> list[Sentence]:
    """Return the first sentences that fit together in so many bytes."""
    left, fit = limit, []
    for one in sentences:
        left -= one.size
        if left < -1:
            break
        fit.append(one)
    return fit


def announces(text: str) -> bool:
    """Say whether a sentence says that something follows."""
    # Of a hundred none has the word, and to look for it at each letter takes twenty times as long.
    return text.endswith(":") or (" follow" in text and _FOLLOWING.search(text) is not None)


def is_unkept(one: Sentence, after: Sentence | None) -> bool:
    """Say whether a sentence announces what the next one of its run is not."""
    return after is not None and one.text.endswith(":") and one.block != after.block and not after.is_item


def reach_in(sentences: Sequence[Sentence], limit: int, *, listed: int, counted: int) -> Callable[[int], int | None]:
    """Return what says where a run from a sentence of a paragraph ends at most; None where it may leave the paragraph.

    A run has so many bytes at the `limit`; with what it counts on to it has those `counted`, and it may have so many
    sentences more that are `listed` below one that announces them.
    """
    sizes = [*accumulate((one.size for one in sentences), initial=0)]
    leading = [at for at, one in enumerate(sentences) if announces(one.text) or "first" in one.text.lower()]

    def reach(first: int) -> int | None:
        last = max(first + 1, bisect_right(sizes, sizes[first] + limit + 1) - 1)
        if bisect_left(leading, first) < bisect_left(leading, last):
            # It counts on, or what it announces stands below it.
            last = max(last + listed, bisect_right(sizes, sizes[first] + counted))
        return sentences[last - 1].end if last < len(sentences) else None

    return reach


def cut_at_word(text: str, limit: int) -> str:
    """Return a text of at most so many bytes, cut between words."""
    if size_of(text) <= limit:
        return text
    cut = text.encode("utf-8", "surrogateescape")[: max(0, limit - 4)].decode("utf-8", "ignore")
    return cut[: cut.rfind(" ") if " " in cut else len(cut)].rstrip(" ,;:") + " …"


def cut_at_paragraph(text: str, limit: int) -> str:
    """Return a text of at most so many bytes, cut at a paragraph, else at a sentence, else between words."""
    if size_of(text) <= limit:
        return text
    head = text.encode("utf-8", "surrogateescape")[: limit - 4].decode("utf-8", "ignore")
    # Half a code block is worse than none.
    whole = _blanked(head, fill="x")
    for pattern, least in ((_BLANK_LINES, limit // 2), (_end_in(whole), limit // 4)):
        ends = [found.start() if pattern is _BLANK_LINES else found.end() for found in pattern.finditer(whole)]
        if ends and size_of(head[: ends[-1]]) >= least:
            return head[: ends[-1]].rstrip() + " …"
    return cut_at_word(text, limit)


def _blanked(text: str, fill: str = " ") -> str:
    """Return a text with comments and code blanked out, every character at its place."""

    def blank(found: re.Match[str]) -> str:
        return fill * len(found.group()) if fill != " " else _blank(found.group())

    if "<!--" in text:
        text = _COMMENT.sub(blank, text)
    return _CODE.sub(blank, text) if "```" in text or "~~~" in text else text


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for gap in _BLANK_LINES.finditer(text):
        if not text[start : gap.start()].isspace():
            yield start, gap.start()
        start = gap.end()
    if not text[start:].isspace():
        yield start, len(text)


def _is_prose(block: str) -> bool:
    block = block.rstrip()
    if not block or _is_no_prose(block.partition("\n")[0].rstrip()):
        return False
    if block.startswith(("**", "__")) and _BOLD_LINE.match(block):
        return False
    if is_links(block):
        return False
    lines = block.split("\n")
    is_table = len(lines) > 1 and "|" in lines[0] and not lines[1].strip(" \t\r|:-")
    is_stated = _is_field(block) and all(_is_field(line.strip()) or line[:1] in " \t" for line in lines)
    return not is_table and not is_stated and _WORD.search(block) is not None


def _is_no_prose(line: str) -> bool:
    """Say whether what begins with a line is a table, a quote, a directive, or what a pattern tells."""
    first, second = line[:1], line[1:2]
    if first.isalnum() or (first in _ROWS and first != second):
        return False
    if first == ".":
        return second == "." and (len(line) == 2 or line[2].isspace())
    return first in ("|", ">") or _NO_PROSE.match(line) is not None


def _is_field(line: str) -> bool:
    """Say whether a line begins with the name of a field, as `**Status**: accepted`."""
    name, colon, _ = line.partition(":")
    name = name.rstrip(" \t") if colon else ""
    if name[:1] in _BULLETS and name[1:2] in _BLANKS:
        name = name[1:].lstrip(" \t")
    for _ in range(2):
        name = name[name[:1] in _MARKS : len(name) - (name[-1:] in _MARKS)]
    return name.lower() in _FIELD_NAMES


def _end_in(text: str) -> re.Pattern[str]:
    is_wide = not text.isascii() and any(mark in text for mark in _WIDE)
    return _WIDE_END if is_wide else _END


def _sentences_of(block: str) -> Iterator[tuple[int, int, str, bool]]:
    # Where the text of each item begins: the full stop of its number ends no sentence.
    begin = {found.start(): found.end() - 1 for found in _ITEM.finditer(f"\n{block}")}
    edges = sorted({0, *begin, len(block)})
    for left, right in pairwise(edges):
        start = left
        ends = [found.end() for found in _end_in(block).finditer(block, begin.get(left, left), right)]
        for end in (*ends, right):
            if text := " ".join(block[start:end].split()):
                yield start, end, text, start in begin
            start = end
