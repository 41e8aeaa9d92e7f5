"""Where an answer comes from when the memory cannot be read: docs, README, then the workspace."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mdmem.regular_file import read_regular
from mdmem.state import leads_away

LIMIT = 20
_WIDTH = 240
# Markdown that carries no statement: fences, rules, table borders.
_NO_TEXT = re.compile(r"^[\s`~|=*_-]*$")

# Returns path, line and text of workspace lines that hold any of the words; the number is the limit.
SearchLines = Callable[[Sequence[str], int], list[tuple[str, int, str]]]


@dataclass(frozen=True, slots=True)
class Passage:
    """One line outside the memory that may answer."""

    path: str
    line: int
    text: str


def fall_back(base: Path, words: Sequence[str], *, search_lines: SearchLines) -> tuple[str, tuple[Passage, ...]]:
    """Return the first source that has something to say (docs, readme, workspace) and its passages.

    Without words a document answers with its first lines; the workspace is searched for words only.
    """
    for source, path in (("docs", "docs/architecture.md"), ("readme", "README.md")):
        passages = tuple(_passages(base, path, words))[:LIMIT]
        if passages:
            return source, passages
    found = search_lines(words, LIMIT) if words else []
    return "workspace", tuple(Passage(path, line, _short(text)) for path, line, text in found)


def _passages(base: Path, path: str, words: Sequence[str]) -> Iterator[Passage]:
    place = base / path
    if leads_away(base, path):
        return
    try:
        # A link may lead out of the repository.
        text = read_regular(place, follow=False).decode("utf-8", "replace")
    except OSError:
        return
    wanted = [word.casefold() for word in words]
    for number, line in enumerate(text.splitlines(), 1):
        if _NO_TEXT.match(line):
            continue
        if not wanted or any(word in line.casefold() for word in wanted):
            yield Passage(path, number, _short(line))


def search_files(base: Path, words: Sequence[str], limit: int) -> list[tuple[str, int, str]]:
    """Return matching lines of the Markdown and text files below a folder that is in no repository."""
    found: list[tuple[str, int, str]] = []
    for suffix in ("*.md", "*/*.md", "*.txt", "*.rst"):
        for path in sorted(base.glob(suffix)):
            name = path.relative_to(base).as_posix()
            found += [(passage.path, passage.line, passage.text) for passage in _passages(base, name, words)]
            if len(found) >= limit:
                return found[:limit]
    return found


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1].rstrip() + "…"
