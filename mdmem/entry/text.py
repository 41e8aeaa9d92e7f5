"""What an entry says, as text: its content with the fields that belong to it, its summary, and how large they are."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mdmem.entry.model import Entry, EntryType

BYTES_A_TOKEN = 4
_SUMMARY_BYTES = 480
_HEADING = re.compile(r"#{1,6}(?:\s|\Z)")
# A row of one repeated mark underlines the line above it: reStructuredText and setext headings.
_MARKS = re.compile(r"([=\-~^\"'*#.])\1{2,}\Z")


def tokens_of(size: int) -> int:
    """Return the tokens that so many bytes of UTF-8 count for."""
    return -(-size // BYTES_A_TOKEN)


def content_of(entry: Entry, body: str) -> str:
    """Return an entry's body with the fields that are part of what it says."""
    return "\n\n".join(part for part in (body.strip(), *stated_fields(entry)) if part)


def summary_of(entry: Entry, body: str) -> str:
    """Return the first paragraph of an entry and, for a pattern, its steps."""
    first = _first_paragraph(body)
    return "\n\n".join(part for part in (first, *stated_fields(entry)) if part)


def stated_fields(entry: Entry) -> list[str]:
    """Return what the fields of an entry say beside its body; empty ones among them."""
    if entry.type is EntryType.PATTERN:
        return [
            f"When: {entry.trigger}" if entry.trigger else "",
            "\n".join(f"{number}. {step}" for number, step in enumerate(entry.repeatable_steps, 1)),
            _bullets("Not when:", entry.exclusions),
        ]
    relations = tuple(f"{relation.type} {relation.to}" for relation in entry.relations)
    return [
        f"Objective: {entry.objective}" if entry.objective else "",
        _bullets("Done:", entry.actions_taken),
        _bullets("Decided:", entry.decisions_made),
        _bullets("Open:", entry.open_items),
        _bullets("Next:", entry.next_actions),
        _bullets("Relations:", relations),
    ]


def _bullets(head: str, items: Sequence[str]) -> str:
    return "\n".join([head, *(f"- {item}" for item in items)]) if items else ""


# To the end where nothing closes it: a search from each of thousands that are open would take hours.
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


def _first_paragraph(body: str) -> str:
    """Return the first paragraph that is text, cut at a word; headings and their underlines are none."""
    blocks = re.split(r"\n[ \t]*\r?\n", _COMMENT.sub("", body))
    paragraphs = [_without_heading([line.strip() for line in block.strip().splitlines()]) for block in blocks]
    # `..` begins a directive of reStructuredText, and a list of links is a table of contents.
    said = [" ".join(lines) for lines in paragraphs if lines and not lines[0].startswith((".. ", "- [", "* ["))]
    # What ends in a colon announces what follows.
    whole = next((text for text in said if not text.endswith(":")), said[0] if said else "")
    return _cut(whole)


def _without_heading(lines: list[str]) -> list[str]:
    if lines and (_HEADING.match(lines[0]) or _MARKS.match(lines[0])):
        lines = lines[1:]
    return lines[2:] if len(lines) > 1 and _MARKS.match(lines[1]) else lines


def _cut(text: str) -> str:
    if len(text.encode()) <= _SUMMARY_BYTES:
        return text
    cut = text.encode()[:_SUMMARY_BYTES].decode("utf-8", "ignore")
    sentence = max(cut.rfind(". "), cut.rfind("! "), cut.rfind("? "))
    if sentence > _SUMMARY_BYTES // 2:
        return cut[: sentence + 1]
    return cut[: cut.rfind(" ") if " " in cut else len(cut)].rstrip(" ,;:") + " …"
