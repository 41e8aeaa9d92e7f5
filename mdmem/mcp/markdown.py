"""Text of entries in Markdown that the server assembles: shown as what it is, and never more than a client takes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

from mdmem.mcp.answers import plain
from mdmem.model.finding import Finding
from mdmem.model.text import visible

# The strictest clients take no more characters of one answer.
LARGEST = 40_000
# What a heading and the remark on a cut take at most.
MARGIN = 2_000
_LONGEST = 300
_SHOWN_PROBLEMS = 20


class Block(Struct, frozen=True):
    """A part of a text that may be given in full or, where that does not fit, in one line."""

    line: str
    full: str


def code(text: str) -> str:
    """Return a text in one line as code, in which no markup counts; a long one is cut."""
    line = visible(" ".join(plain(text).split()))
    line = line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
    fence = "`" * (max((len(run) for run in re.findall(r"`+", line)), default=0) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") or not line else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def codes(texts: Iterable[str]) -> str:
    """Return texts as code, joined by commas."""
    return ", ".join(code(text) for text in texts)


def problem_lines(problems: Sequence[Finding]) -> list[str]:
    """Return the files that cannot be read, which stand before all else, as a list; some of many."""
    if not problems:
        return []
    lines = [f"- {code(one.place.path)}: {code(one.message)}" for one in problems[:_SHOWN_PROBLEMS]]
    more = len(problems) - len(lines)
    lines += [f"- and {more} more; `mdmem check` names them all"] if more else []
    return [f"{len(problems)} of the files here cannot be read in full, and may bind:", "", *lines, ""]


def fitted(blocks: Sequence[Block], room: int) -> tuple[list[str], int, int]:
    """Return the blocks as they fit into so many characters, how many are in full, and how many are in at all.

    Each gets its line first, so that none is without a word as long as there is room for words.
    """
    given = 0
    for block in blocks:
        if len(block.line) + 1 > room:
            break
        room -= len(block.line) + 1
        given += 1
    in_full = 0
    for block in blocks[:given]:
        if len(block.full) - len(block.line) > room:
            break
        room -= len(block.full) - len(block.line)
        in_full += 1
    texts = [block.full for block in blocks[:in_full]] + [block.line for block in blocks[in_full:given]]
    return texts, in_full, given
