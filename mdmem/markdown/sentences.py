"""Split a body into sentences of prose.

Code, tables, quotes, status lines, banners and lists of links are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from mdmem.markdown.parse import blank
from mdmem.record import StoredRecord

# An unclosed comment extends to the end. Otherwise a text with thousands of unclosed comments takes hours.
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
# A comment or fenced code. One pattern for both, because a comment may contain a fence, and code may contain `<!--`.
_NOT_TEXT = re.compile(
    rf"{_COMMENT.pattern}|^ {{0,3}}(?:(?P<ticks>`{{3,}}(?=[^`\n]*$))|(?P<tildes>~{{3,}}+))"
    r"(?:.*?^ {0,3}(?(ticks)(?P=ticks)`*|(?P=tildes)~*)[ \t]*\r?$|.*)",
    re.DOTALL | re.MULTILINE,
)
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\r?\n)+")
_ITEM = re.compile(r"\n[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+")
# A sentence does not end at an abbreviation, at an initial, or before a lower-case letter.
_STOPPED = (
    r"(?<![.!?].)(?<!\be\.g.)(?<!\bi\.e.)(?<!\bvs.)(?<!\bcf.)(?<!\s[A-Z].)"
    r"[.!?]*+(?:[\"')\]*_`]|[\u2019\u201d])*+(?=\s+[^\sa-z])"
)
_WIDE = "。！？"
_END = re.compile(rf"[.!?{_WIDE}](?:(?<=[.!?]){_STOPPED}|(?<=[{_WIDE}])[{_WIDE}]*+[」』”]*+)")
# Not prose: fields and targets of reStructuredText, images, tags, rows of marks, tables and quotes.
_NO_PROSE = re.compile(
    r":[\w -]+:(?:\s|\Z)|\[?!\[|</?[a-zA-Z!]|\[[^\]\n]*\]:\s|\+[-=]|([=\-~*_#])\1++[\s=\-~*_]*+\Z|[|>]|\.\.(?:\s|\Z)"
)
_FIELD = re.compile(
    r"(?:[-*+][ \t]+)?[*_]{0,2}(?:status|state|date|created|(?:last )?(?:updated|modified)"
    r"|proposed|accepted|approved|adopted|rejected|author|owner|decider"
    r"|decision[ -]maker|consulted|informed|approver|reviewer|editor|champion|stakeholder|tag|category|issue|ticket"
    r"|technical story|discussion|supersede[ds](?: by)?|replace[ds](?: by)?|amend(?:s|ed by)|related|translation"
    r"|language|version|number|type|due date|link)s?[*_]{0,2}[ \t]*:",
    re.IGNORECASE,
)
_LINK = re.compile(r"\[[^\[\]\n]*\]\([^()\n]*\)|\[\[[^\[\]\n]*\]\]|<?https?://[^\s>]*>?")
# Links of Markdown and of reStructuredText.
_TARGET = re.compile(r"\[([^\[\]]+)\]\([^()\s]*\)|`([^`<>]*[^`<>\s])\s*<[^`<>]*>`__?")
_WORD = re.compile(r"[^\W_]+")
_BOLD_LINE = re.compile(r"(\*\*|__)[^*_\n]*\1:?\Z")
# A line with a link and at most this number of words is only a pointer to another page.
_FEW = 3
_CODE_INDENT = 4


class Sentence(StoredRecord, frozen=True):
    """A sentence on one line, with its start and end offset in the body; excerpts also use it for code and table rows.

    Sentences with the same `block` belong to one paragraph. `is_item` is true for the first sentence of a list item.
    """

    start: int
    end: int
    text: str
    block: int
    is_item: bool = False

    @property
    def bare(self) -> Sentence:
        """Return the sentence with links reduced to their texts."""
        text = without_targets(self.text)
        return self if text == self.text else self.with_changes(text=text)

    @property
    def size(self) -> int:
        """Return the number of bytes of the sentence, plus one for the space after it."""
        return size_of(self.text) + 1


def size_of(text: str) -> int:
    """Return the number of bytes of a text. The text may contain file names that are not UTF-8."""
    return len(text.encode("utf-8", "surrogateescape"))


def without_comments(text: str) -> str:
    """Return a text without HTML comments."""
    return _COMMENT.sub("", text) if "<!--" in text else text


def without_targets(text: str) -> str:
    """Return a text with links reduced to their texts."""
    return _TARGET.sub(r"\1\2", text) if "](" in text or ">`" in text else text


def sentences_in(body: str, start: int, end: int) -> Iterator[Sentence]:
    """Yield the sentences of prose between two offsets of a body."""
    text = _NOT_TEXT.sub(lambda found: blank(found[0]), body[start:end])
    is_held = False
    gaps = [found.span() for found in _BLANK_LINES.finditer(text)]
    starts, ends = [0, *(end for _, end in gaps)], [*(start for start, _ in gaps), len(text)]
    places = [(first, last) for first, last in zip(starts, ends, strict=True) if text[first:last].strip()]
    for number, (first, last) in enumerate(places):
        block = text[first:last]
        stripped = block.lstrip(" \t\r\n")
        indent = len(block) - len(stripped)
        # The content of a directive or of `::` is indented below it.
        held, is_held = is_held and indent > 0, stripped.startswith("..") or stripped.endswith("::")
        if held or indent >= _CODE_INDENT or not _is_prose(stripped.rstrip()):
            is_held = is_held or held
            continue
        for begin, stop, sentence, is_item in _sentences_of(block):
            yield Sentence(start + first + begin, start + first + stop, sentence, start + number, is_item)


def said(sentences: Iterable[Sentence]) -> str:
    """Join sentences to a text, with a blank line between paragraphs and a new line for each list item."""
    text, block = "", -1
    for one in sentences:
        if text:
            text += "\n" if one.is_item else " " if one.block == block else "\n\n"
        text, block = text + one.text, one.block
    return text


def fitting(sentences: Iterable[Sentence], limit: int) -> list[Sentence]:
    """Return as many of the first sentences as together have at most `limit` bytes."""
    left, fit = limit, []
    for one in sentences:
        left -= one.size
        if left < -1:
            break
        fit.append(one)
    return fit


def cut_at_word(text: str, limit: int) -> str:
    """Return a text of at most `limit` bytes; a longer text is cut between two words and ends with ` …`."""
    if size_of(text) <= limit:
        return text
    cut = text.encode("utf-8", "surrogateescape")[: max(0, limit - 4)].decode("utf-8", "ignore")
    return cut[: cut.rfind(" ") if " " in cut else len(cut)].rstrip(" ,;:") + " …"


def _is_prose(block: str) -> bool:
    first, *rest = block.split("\n")
    if _NO_PROSE.match(first.rstrip()) or _BOLD_LINE.match(block):
        return False
    links = len(_LINK.findall(block)) if "](" in block or "[[" in block or "://" in block else 0
    # Little more than links to other pages.
    if links and len(_WORD.findall(_LINK.sub("", block))) <= max(_FEW, links):
        return False
    is_table = bool(rest) and "|" in first and not rest[0].strip(" \t\r|:-")
    is_stated = _FIELD.match(first) is not None and all(
        _FIELD.match(line) or line.startswith((" ", "\t", "**", "__")) for line in rest
    )
    return not is_table and not is_stated and _WORD.search(block) is not None


def _sentences_of(block: str) -> Iterator[tuple[int, int, str, bool]]:
    """Yield each sentence of a paragraph as start, end, text, and whether it is the start of a list item."""
    # Start after the item's number, because the full stop of the number does not end a sentence.
    begin = {found.start(): found.end() - 1 for found in _ITEM.finditer(f"\n{block}")}
    edges = sorted({0, *begin, len(block)})
    for left, right in pairwise(edges):
        start = left
        ends = [found.end() for found in _END.finditer(block, begin.get(left, left), right)]
        for end in (*ends, right):
            if text := " ".join(block[start:end].split()):
                yield start, end, text, start in begin
            start = end
