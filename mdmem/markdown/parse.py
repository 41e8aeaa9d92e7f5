"""Parse a file into front matter, body and findings. Find the links in a body, and the parts that are not code."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from typing import TYPE_CHECKING
from urllib.parse import unquote

from msgspec import Struct
from msgspec.structs import replace

from mdmem.markdown.front_matter import Fields, FrontMatterError
from mdmem.model.finding import Finding, Place, fault

if TYPE_CHECKING:
    from mdmem.markdown.yaml_loader import StrictHandler


SIZE_LIMIT = 1024 * 1024
# A conflict has all three marker lines in this order. A row of `=` alone underlines a heading. Git's markers have seven
# characters, eight in a file that both sides moved, and others with the attribute `conflict-marker-size`.
_MARKER = re.compile(r"^(?:(<{7,}|>{7,})(?: .*)?|(={7,}))\r?$", re.MULTILINE)
_RULE = re.compile(r"\s*---")
_SECOND = re.compile(
    r"\s*^---\r?\n([A-Za-z_-]+:.*\n(?:(?:[A-Za-z_-]+:|[ \t#]|-[ \t]).*\n|\r?\n)*)---\r?$", re.MULTILINE
)
_TYPICAL = frozenset({"type", "status", "created_at", "title", "tags", "applies_to", "supersedes", "superseded_by"})

_HEADING = re.compile(r"^#{1,6}[ \t]+([^ \t\r\n].*)", re.MULTILINE)
# The pattern begins with a line break. Testing for the start of a line at each letter takes three times as long.
_CODE_FENCE = re.compile(r"\n {0,3}(`{3,}(?=[^`\n]*$)|~{3,})(.*)$", re.MULTILINE)
# Beginning with a literal makes the search five times as fast as "`+".
_BACKTICKS = re.compile("``*")
# The pattern does not consume blanks after the colon, because they may be code that was blanked out.
_RATIONALE_LINE = re.compile(r"^Rationale:", re.MULTILINE)
_RATIONALE_HEADING = re.compile(r"^#{1,6}[ \t]+Rationale[ \t]*#*[ \t]*$", re.MULTILINE)
_ANY_HEADING = re.compile(r"^#{1,6}[ \t]", re.MULTILINE)


@cache
def handler() -> StrictHandler:
    """Return the parser for front matter, imported late because most questions parse no file and need no PyYAML."""
    from mdmem.markdown.yaml_loader import StrictHandler

    return StrictHandler()


class Document(Struct, frozen=True):
    """One file, split into front matter and body. The values of the fields are not yet converted from text.

    `fields` is None for invalid front matter. `text` has no byte order mark, and is empty for an unreadable file.
    """

    path: str
    data: bytes
    text: str
    fields: Fields | None
    body: str
    body_line: int
    findings: tuple[Finding, ...]

    def place(self, name: str, item: int | None = None, *, of_key: bool = False) -> Place:
        """Return the place of a field, or of one item of a list. For a missing field, return the opening fence."""
        place = Place("") if self.fields is None else self.fields.place(name, item, of_key=of_key)
        return replace(place, path=self.path)

    def line_start(self, line: int) -> int:
        """Return the offset in the text at which a line starts, or the end of the text; the first line is 1."""
        starts = _line_starts(self.text)
        return starts[line - 1] if line <= len(starts) else len(self.text)

    def body_place(self, offset: int, width: int = 0) -> Place:
        """Return the place in the file of a character in the body."""
        return self.text_place(len(self.text) - len(self.body) + offset, width)

    def text_place(self, offset: int, width: int = 0) -> Place:
        """Return the place of a character of `text`; `offset` and `width` are in characters."""
        starts = _line_starts(self.text)
        line = bisect_right(starts, offset)
        return Place(self.path, line, offset - starts[line - 1] + 1, width)


# Cached, because a file may have thousands of findings and each needs its line number.
@lru_cache(maxsize=4)
def _line_starts(text: str) -> tuple[int, ...]:
    return 0, *(found.end() for found in re.finditer("\n", text))


def parse_document(path: str, data: bytes) -> Document:
    """Return the document parsed from some bytes. Never raises an error: every fault becomes a finding."""

    def placed(found: Finding) -> Finding:
        return fault(found.code, found.message, replace(found.place, path=path), found.help, cause=found.cause)

    if len(data) > SIZE_LIMIT:
        message = f"the file is {len(data) / SIZE_LIMIT:.1f} MiB, over the limit of 1 MiB"
        too_large = Finding("file-too-large", message, Place(path), "split it; one entry is one rule")
        return Document(path, data, "", None, "", 1, (too_large,))
    try:
        text = data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        place = Place(path, line, error.start - data.rfind(b"\n", 0, error.start), 1)
        message = f"byte 0x{data[error.start]:02x} at offset {error.start} is not UTF-8"
        return Document(path, data, "", None, "", 1, (fault("not-utf8", message, place, "save the file as UTF-8"),))
    conflict = _merge_marker(path, text)
    try:
        front, body = handler().split(text)
    except FrontMatterError as error:
        # A merge conflict explains why the front matter is unreadable.
        return Document(path, data, text, None, text, 1, conflict or tuple(map(placed, error.findings)))
    body_line = text.count("\n", 0, len(text) - len(body)) + 1
    if conflict and conflict[0].place.line < body_line:
        return Document(path, data, text, None, body, body_line, conflict)
    fields: Fields | None = None
    try:
        fields = handler().load(front)
        found = fields.findings
    except FrontMatterError as error:
        found = error.findings
    second = _SECOND.match(body) if _RULE.match(body) else None
    # Two horizontal rules with `Note: …` between them are Markdown. A front matter has at least one of these keys.
    if second is not None and not _TYPICAL.isdisjoint(line.split(":")[0] for line in second[1].splitlines()):
        place, help_ = Place("", body_line + body.count("\n", 0, body.index("---")), 1, 3), "merge the two into one"
        found = (*found, Finding("second-front-matter", "a second front matter follows the first", place, help_))
    return Document(path, data, text, fields, body, body_line, (*conflict, *map(placed, found)))


def _merge_marker(path: str, text: str) -> tuple[Finding, ...]:
    starts, halves = dict[int, int](), set[int]()
    for mark in _MARKER.finditer(text) if "<<<<<<<" in text else ():
        row = mark[mark.lastindex or 0]
        if row[0] == "<":
            starts.setdefault(len(row), mark.start())
        elif row[0] == "=" and len(row) in starts:
            halves.add(len(row))
        elif row[0] == ">" and len(row) in halves:
            place = Place(path, text.count("\n", 0, starts[len(row)]) + 1, 1, 7)
            help_ = "`mdmem resolve` shows how to decide it"
            return (Finding("merge-marker", "the file has an unresolved merge conflict", place, help_),)
    return ()


def first_heading(body: str) -> str | None:
    """Return the text of the first Markdown heading outside code, or None."""
    found = _HEADING.search(body)
    if found is not None and _CODE_FENCE.search(f"\n{body[: found.start()]}"):
        found = _HEADING.search(without_fenced(body))
    return without_closing(found[1]) if found is not None else None


def without_closing(heading: str) -> str:
    """Return a heading without its closing marks, as in `Title ##`. In `About C#` the mark belongs to the title."""
    # A single pattern took hours for a line of a million blanks.
    heading = heading.strip(" \t\r\n")
    bare = heading.rstrip("#")
    return bare.rstrip(" \t") if bare.endswith((" ", "\t")) else heading


def without_code(body: str) -> str:
    """Return the body with fenced code and code spans (within a line) replaced by blanks, so that offsets stay."""
    if "`" not in body and "~~~" not in body:
        return body
    text = without_fenced(body)
    runs = [found.span() for found in _BACKTICKS.finditer(text)]
    # Find the next run of the same length for every run in one pass from the end. Unclosed runs stay cheap this way.
    following: dict[int, int] = {}
    closing = [0] * len(runs)
    for number, (start, stop) in reversed([*enumerate(runs)]):
        closing[number] = following.get(stop - start, number)
        following[stop - start] = number
    parts: list[str] = []
    end = number = 0
    while number < len(runs):
        last = closing[number]
        start, stop = runs[number][0], runs[last][1]
        if last != number and text.find("\n", start, stop) < 0:
            parts += (text[end:start], " " * (stop - start))
            end, number = stop, last
        number += 1
    return "".join((*parts, text[end:]))


def without_fenced(body: str) -> str:
    """Return the body with fenced code replaced by blanks. As in CommonMark, an unclosed fence extends to the end."""
    if "```" not in body and "~~~" not in body:
        return body
    parts, end, opening = [], 0, None
    for fence in _CODE_FENCE.finditer(f"\n{body}"):
        if opening is None:
            # The added line break moves offsets by one, and the match includes the line break before the fence.
            parts.append(body[end : fence.start()])
            opening, end = fence, fence.start()
        elif fence[1].startswith(opening[1]) and not fence[2].strip():
            parts.append(blank(body[end : fence.end() - 1]))
            opening, end = None, fence.end() - 1
    rest = body[end:]
    return "".join((*parts, rest if opening is None else blank(rest)))


def blank(text: str) -> str:
    """Return a text with a blank in place of every character except line breaks."""
    # Line by line, because replacing each letter is ten times slower.
    return "\n".join(" " * len(line) for line in text.split("\n"))


def rationale_of(prose: str) -> str:
    """Return the text after `Rationale:` or a heading of that name, up to the next heading, or else the whole text."""
    return prose[slice(*rationale_span(prose))].strip()


def rationale_span(prose: str) -> tuple[int, int]:
    """Return the start and end offset of the text that `rationale_of` returns, before blanks are stripped."""
    starts = [found.end() for mark in (_RATIONALE_LINE, _RATIONALE_HEADING) if (found := mark.search(prose))]
    if not starts:
        return 0, len(prose)
    start = min(starts)
    end = _ANY_HEADING.search(prose, start)
    return start, end.start() if end else len(prose)


# Every pattern begins with a literal bracket, and no part matches beyond the next bracket. Without this rule, a
# malicious line of 20,000 brackets took minutes.
_TITLE = r"(?:[ \t\n]+(?:\"[^\"]*\"|'[^'\n]*'|\([^()\n]*\)))?"
# A path in angle brackets may contain blanks. A path without them may contain parentheses in pairs.
# Both forms may have backslash escapes.
_PATH = r"(?:<(?P<angled>[^<>\n]{1,500}+)>|(?P<file>(?:\\[!-/:-@\[-`{-~]|[^()\s<>\\]|\([^()\s]{0,200}\)){1,500}+))"
_REFERENCE = re.compile(
    r"\[(?:[sS][eE][eE]:\s*(?P<see>[^\[\]\s][^\[\]\n]*)(?:\n\s*)?\](?!\()"
    r"|\[(?P<wiki>[^\[\]\n|#]+)(?:[|#][^\[\]\n]*)?\]\]"
    rf"|(?<!!\[)[^\[\]\n]*\]\({_PATH}{_TITLE}[ \t]*\))"
)
_IMAGE = re.compile(rf"!\[[^\[\]\n]*\]\({_PATH}{_TITLE}[ \t]*\)")
_DEFINITION = re.compile(rf"^ {{0,3}}\[[^\[\]\n^][^\[\]\n]*\]:[ \t]+{_PATH}{_TITLE}[ \t]*\r?$", re.MULTILINE)
_PATHS = ("file", "angled")
# Each pattern begins with a single character, because searching for one is fast.
_MARKS = (re.compile(r"\[(?:\[|see:)", re.IGNORECASE), re.compile(r"\][(:]"))
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_URL = re.compile(r"[a-z][a-z0-9+.-]*:|//|#", re.IGNORECASE)


class BodyLink(Struct, frozen=True):
    """A link in a body to an address, or with `is_path` to a file; `offset` and `width` mark the target as written."""

    target: str
    offset: int
    width: int
    is_path: bool


def may_have_links(body: str) -> bool:
    """Return False if a body certainly has no links. This test is cheap, because code need not be blanked out first."""
    return any(mark.search(body) for mark in _MARKS)


def body_links(prose: str) -> Iterator[BodyLink]:
    """Yield the links of a body whose code is blanked out, in order, except images, web links and links to headings."""
    # Searching every line for a definition takes as long as everything else together.
    patterns = (_REFERENCE, _DEFINITION) if "]:" in prose else (_REFERENCE,)
    found = (link for pattern in patterns for one in pattern.finditer(prose) for link in _links_of(one))
    yield from sorted(found, key=lambda link: link.offset)


def with_masked_targets(body: str, links: Iterable[BodyLink]) -> str:
    """Return a body in which the target of each link is replaced by a NUL character."""
    parts, end = [], 0
    for link in sorted(links, key=lambda one: one.offset):
        parts.append(body[end : link.offset])
        end = link.offset + link.width
    return "\0".join((*parts, body[end:]))


def image_links(prose: str) -> Iterator[BodyLink]:
    """Yield the images of a body whose code is blanked out, in order, without images from the web."""
    for found in _IMAGE.finditer(prose):
        yield from _links_of(found)


def _links_of(found: re.Match[str]) -> Iterator[BodyLink]:
    kind = found.lastgroup or "see"
    text = found.group(kind).strip()
    if kind == "see":
        start = found.start("see")
        for part in re.finditer(r"[^,\s]+", text):
            yield BodyLink(part.group(), start + part.start(), len(part.group()), is_path=False)
    elif not _URL.match(text):
        is_path = kind in _PATHS
        yield BodyLink(path_of(text) if is_path else text, found.start(kind), len(text), is_path)


def path_of(written: str) -> str:
    """Return the path of a Markdown link: without its anchor, with backslash escapes and `%` escapes decoded."""
    return unquote(_ESCAPED.sub(r"\1", written.split("#")[0]))


def without_links(body: str, prose: str, is_cut: Callable[[BodyLink], bool]) -> str:
    """Return a body in which links that `is_cut` selects are reduced to their text; in `prose`, code is blanked out."""
    found = [one for pattern in (_REFERENCE, _IMAGE, _DEFINITION) for one in pattern.finditer(prose)]
    for one in sorted(found, key=lambda match: -match.start()):
        links = list(_links_of(one))
        kept = [link.target for link in links if not is_cut(link)]
        if len(kept) == len(links):
            continue
        written = body[one.start() : one.end()]
        # A link definition has no visible words.
        rest = written.removeprefix("!").removeprefix("[").rpartition("](")[0]
        if one.lastgroup == "see":
            rest = f"[see: {', '.join(kept)}]" if kept else ""
        elif one.lastgroup == "wiki":
            rest = written[2:-2].partition("|")[2]
        body = body[: one.start()] + rest + body[one.end() :]
    return body
