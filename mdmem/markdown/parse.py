"""Parse a file into front matter, body and findings."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct

from mdmem.markdown.fields import FenceError, Fields, FrontMatterError, Trouble
from mdmem.model.finding import Finding, Place

if TYPE_CHECKING:
    from mdmem.markdown.yaml_loader import StrictHandler


@cache
def handler() -> StrictHandler:
    """Return the handler; most questions read no front matter, and need no PyYAML."""
    from mdmem.markdown.yaml_loader import StrictHandler

    return StrictHandler()


def line_at(text: str, offset: int) -> int:
    """Return the number of the line that holds the character at an offset, from 1; a line ends at a line feed."""
    return bisect_left(_ends(text), offset) + 1


# One body may have thousands of findings, each of which would count the lines before it.
@lru_cache(maxsize=4)
def _ends(text: str) -> tuple[int, ...]:
    ends, at = [], text.find("\n")
    while at >= 0:
        ends.append(at)
        at = text.find("\n", at + 1)
    return tuple(ends)


SIZE_LIMIT = 1024 * 1024
_HEADING = re.compile(r"#{1,6}[ \t]+([^ \t\r\n].*)")
_LATER_HEADING = re.compile(rf"\n{_HEADING.pattern}")
_CODE_FENCE = re.compile(r"^ {0,3}(`{3,}(?=[^`\n]*$)|~{3,})(.*)$", re.MULTILINE)
_BACKTICKS = re.compile("`+")
# All three lines of a conflict, in order: a row of `=` alone is a heading's underline.
_CONFLICT = tuple(re.compile(rf"^{mark}\r?$", re.MULTILINE) for mark in ("<{7}(?: .*)?", "={7}", ">{7}(?: .*)?"))
_TELLING = frozenset({"type", "status", "created_at", "title", "tags", "applies_to", "supersedes", "superseded_by"})
_RULE = re.compile(r"\s*---")
_SECOND = re.compile(
    r"\s*^---\r?\n([A-Za-z_-]+:.*\n(?:(?:[A-Za-z_-]+:|[ \t#]|-[ \t]).*\n|\r?\n)*)---\r?$", re.MULTILINE
)


class Document(Struct, frozen=True):
    """One file as it was seen: nothing is interpreted yet.

    `fields` is None where the front matter cannot be read; `text` is without a byte order mark.
    """

    path: str
    data: bytes
    text: str
    fields: Fields | None
    body: str
    body_line: int
    findings: tuple[Finding, ...]

    def place(self, name: str, item: int | None = None, *, of_key: bool = False) -> Place:
        """Return where a field, or one item of its list, stands; the opening fence for a field that is absent."""
        if self.fields is None or name not in self.fields:
            return Place(self.path)
        line, column, width = self.fields.place(name, item, of_key=of_key)
        return Place(self.path, line + 1, column, width)

    def body_place(self, offset: int, width: int = 0) -> Place:
        """Return where a character of the body stands in the file."""
        start = self.body.rfind("\n", 0, offset) + 1
        return Place(self.path, self.body_line - 1 + line_at(self.body, offset), offset - start + 1, width)

    def text_place(self, offset: int, width: int = 0) -> Place:
        """Return where a character of the file's text stands."""
        start = self.text.rfind("\n", 0, offset) + 1
        return Place(self.path, line_at(self.text, offset), offset - start + 1, width)


def parse_document(path: str, data: bytes) -> Document:
    """Return the document that bytes hold; never raises: what is wrong is a finding."""
    if len(data) > SIZE_LIMIT:
        size = f"{len(data) / SIZE_LIMIT:.1f} MiB"
        return _unread(
            path,
            data,
            "file-too-large",
            f"the file is {size}, over the limit of 1 MiB",
            "split it; one entry is one rule",
        )
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return _not_utf8(path, data, error)
    text = text.removeprefix("\ufeff")
    conflict = _merge_marker(path, text)
    try:
        front, body = handler().split(text)
    except FenceError as error:
        broken = Finding(error.code, str(error), Place(path, error.line), error.help)
        # What a conflict entails is no fault of its own.
        return Document(path, data, text, None, text, 1, conflict or (broken,))
    fields, troubles = _load(front)
    body_line = text.count("\n", 0, len(text) - len(body)) + 1
    if conflict and conflict[0].place.line < body_line:
        return Document(path, data, text, None, body, body_line, conflict)
    found = (
        *conflict,
        *(_finding(path, trouble) for trouble in troubles),
        *_second_front_matter(path, body, body_line),
    )
    return Document(path, data, text, fields, body, body_line, found)


def _load(front: str) -> tuple[Fields | None, tuple[Trouble, ...]]:
    try:
        fields = handler().load(front)
    except FrontMatterError as error:
        return None, error.troubles
    return fields, fields.troubles


def first_heading(body: str) -> str | None:
    """Return the text of the first Markdown heading outside code, or None."""
    found = _heading_in(body)
    if found is None:
        return None
    if body.find("```", 0, found.start()) < 0 and body.find("~~~", 0, found.start()) < 0:
        return _without_closing(found.group(1))
    fence = _CODE_FENCE.search(body)
    if fence and fence.start() < found.start(1):
        found = _heading_in(without_fenced(body))
    return _without_closing(found.group(1)) if found else None


def _heading_in(text: str) -> re.Match[str] | None:
    # What begins with two literal characters is found eight times as fast as what begins a line.
    return _HEADING.match(text) or _LATER_HEADING.search(text)


def _without_closing(heading: str) -> str:
    """Drop the marks that close a heading: `Title ##`, but not `About C#`."""
    heading = heading.rstrip()
    bare = heading.rstrip("#")
    return bare.rstrip() if bare[-1:] in (" ", "\t") else heading


def without_code(body: str) -> str:
    """Return the body with fenced code and code spans blanked out, every character at its old offset."""
    if "`" not in body and "~~~" not in body:
        return body
    if "```" in body or "~~~" in body:
        body = without_fenced(body)
    if "`" not in body:
        return body
    return "\n".join(without_spans(line) if "`" in line else line for line in body.split("\n"))


def without_spans(line: str) -> str:
    """Blank out spans of code: from a run of backticks to the next as long as it, in the same line."""
    if "`" not in line:
        return line
    runs = _BACKTICKS.findall(line)
    if runs.count(runs[0]) == len(runs):
        parts = line.split(runs[0])
        parts[1 : len(runs) : 2] = [" " * (len(part) + 2 * len(runs[0])) for part in parts[1 : len(runs) : 2]]
        # What opens last and is not closed stays as it is.
        return "".join(parts) if len(runs) % 2 == 0 else f"{''.join(parts[:-1])}{runs[0]}{parts[-1]}"
    found, end = list[str](), 0
    for start, stop in _code_spans(line):
        found += (line[end:start], " " * (stop - start))
        end = stop
    return "".join((*found, line[end:]))


def _code_spans(line: str) -> Iterator[tuple[int, int]]:
    """Yield where the spans of code stand in a line.

    Each run is looked at twice, however many open what nothing closes.
    """
    runs = [found.span() for found in _BACKTICKS.finditer(line)]
    closing: dict[int, int] = {}
    ends = [0] * len(runs)
    for number in range(len(runs) - 1, -1, -1):
        start, stop = runs[number]
        ends[number] = closing.get(stop - start, number)
        closing[stop - start] = number
    number = 0
    while number < len(runs):
        last = ends[number]
        if last != number:
            yield runs[number][0], runs[last][1]
            number = last
        number += 1


def _blank(text: str) -> str:
    return "\n".join(" " * len(line) for line in text.split("\n"))


def without_fenced(body: str) -> str:
    """Return the body with fenced code blanked out; one that nothing closes reaches to the end, as in CommonMark."""
    parts, end, opening = [], 0, None
    for fence in _CODE_FENCE.finditer(body):
        if opening is None:
            parts.append(body[end : fence.start()])
            opening, end = fence, fence.start()
        elif fence[1].startswith(opening[1]) and not fence[2].strip():
            parts.append(_blank(body[end : fence.end()]))
            opening, end = None, fence.end()
    rest = body[end:]
    return "".join((*parts, rest if opening is None else _blank(rest)))


def _unread(path: str, data: bytes, code: str, message: str, help_: str) -> Document:
    return Document(path, data, "", None, "", 1, (Finding(code, message, Place(path), help_),))


def _not_utf8(path: str, data: bytes, error: UnicodeDecodeError) -> Document:
    line = data.count(b"\n", 0, error.start) + 1
    column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
    message = f"byte 0x{data[error.start]:02x} at offset {error.start} is not UTF-8"
    found = Finding("not-utf8", message, Place(path, line, column, 1), "save the file as UTF-8")
    return Document(path, data, "", None, "", 1, (found,))


def _finding(path: str, trouble: Trouble) -> Finding:
    return Finding(
        trouble.code, trouble.message, Place(path, trouble.line + 1, trouble.column, trouble.width), trouble.help
    )


def _merge_marker(path: str, text: str) -> tuple[Finding, ...]:
    if "<<<<<<<" not in text:
        return ()
    start, place = 0, 0
    for number, mark in enumerate(_CONFLICT):
        found = mark.search(text, start)
        if found is None:
            return ()
        start, place = found.end(), place if number else found.start()
    line = text.count("\n", 0, place) + 1
    help_ = "`mdmem resolve` shows how to decide it"
    return (Finding("merge-marker", "the file holds an unresolved merge", Place(path, line, 1, 7), help_),)


def _second_front_matter(path: str, body: str, body_line: int) -> tuple[Finding, ...]:
    found = _SECOND.match(body) if _RULE.match(body) else None
    # Two rules with `Note: …` between them are Markdown; a front matter has at least one of these keys.
    if found is None or not any(line.split(":")[0] in _TELLING for line in found[1].splitlines()):
        return ()
    line = body_line + body.count("\n", 0, body.index("---"))
    return (
        Finding(
            "second-front-matter",
            "a second front matter follows the first",
            Place(path, line, 1, 3),
            "merge the two into one",
        ),
    )


def unreadable_document(path: str, reason: str) -> Document:
    """Return the document that stands for a file which is there and cannot be read."""
    help_ = "make it readable, then run this again"
    return _unread(path, b"", "unreadable", f"cannot be read: {reason.lower()}", help_)


# No blanks after the colon: they may be code that was blanked out.
_LINE = re.compile(r"^Rationale:", re.MULTILINE)
_RATIONALE_HEADING = re.compile(r"^#{1,6}[ \t]+Rationale[ \t]*#*[ \t]*$", re.MULTILINE)
_NEXT = re.compile(r"^#{1,6}[ \t]", re.MULTILINE)


def rationale_of(prose: str) -> str:
    """Return what stands after a line `Rationale:` or a heading of that name, up to the next heading; else everything.

    `prose` is a body with its code blanked out, so that an example of an entry is no rationale.
    """
    start, end = rationale_span(prose)
    return prose[start:end].strip()


def rationale_span(prose: str) -> tuple[int, int]:
    """Return where the reasons begin and end, for who wants them with the code that was blanked out."""
    starts = [found.end() for mark in (_LINE, _RATIONALE_HEADING) if (found := mark.search(prose))]
    if not starts:
        return 0, len(prose)
    start = min(starts)
    end = _NEXT.search(prose, start)
    return start, end.start() if end else len(prose)


def with_rationale(text: str, rationale: str) -> str:
    """Return a body that states a text, then its rationale; `rationale_of` reads it back."""
    parts = (text.strip(), f"Rationale: {rationale.strip()}" if rationale.strip() else "")
    return "\n\n".join(part for part in parts if part) + "\n"
