"""Why the YAML reader refused a front matter: the cause a person can mend, at its own line and column."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import yaml
from msgspec import Struct

from mdmem.markdown.scalars import in_quotes

_KEY = re.compile(r"\s*(?:- +)?(?:[\w.-]+:[ \t]+|- +)\Z")
_NO_BLANK = re.compile(r"([\w-]+):(\S.*)")


class Cause(Struct, frozen=True):
    """What is wrong and what to write instead; line and column count from 1 within the front matter."""

    message: str
    help: str
    line: int
    column: int


class _Refusal(Struct, frozen=True):
    """What the reader said, and where: `since` is the start of what it was reading, `at` where it gave up."""

    text: str
    words: str
    since: Any
    at: Any

    def line(self, mark: Any) -> str:
        lines = self.text.split("\n")
        return lines[mark.line].rstrip("\r") if mark.line < len(lines) else ""

    def character(self, mark: Any) -> str:
        return self.line(mark)[mark.column : mark.column + 1]

    def cause(self, mark: Any, message: str, help_: str) -> Cause:
        return Cause(message, help_, mark.line + 1, mark.column + 1)


def cause_of(text: str, error: yaml.MarkedYAMLError) -> Cause:
    """Return the cause of a refusal; the reader's own words where it is none that people meet."""
    at = error.problem_mark or error.context_mark
    refusal = _Refusal(text, f"{error.context or ''}: {error.problem or 'it is no YAML'}", error.context_mark or at, at)
    if at is None:
        return Cause(f"the YAML reader says{refusal.words}", "put quotes round the value", 1, 1)
    for pattern, explain in _CAUSES:
        cause = explain(refusal) if pattern.search(refusal.words) else None
        if cause is not None:
            return cause
    help_ = "put quotes round the value, or mend the indentation"
    return refusal.cause(at, f"the YAML reader says: {error.problem}", help_)


def _tab(refusal: _Refusal) -> Cause | None:
    if refusal.character(refusal.at) != "\t":
        return None
    return refusal.cause(refusal.at, "a tab where YAML wants blanks", "indent with blanks")


def _first_character(refusal: _Refusal) -> Cause | None:
    scanned = refusal.words.startswith(("while scanning an a", "while scanning a block"))
    mark = refusal.since if scanned else refusal.at
    character = refusal.character(mark)
    if not character.strip():
        return None
    named = "a backtick" if character == "`" else f"`{character}`"
    before, value = refusal.line(mark)[: mark.column], refusal.line(mark)[mark.column :].rstrip()
    help_ = f"write {before.strip()} {in_quotes(value)}" if _KEY.match(before) else "put the value in quotes"
    return refusal.cause(mark, f"a plain value cannot start with {named}", help_)


def _open_quote(refusal: _Refusal) -> Cause:
    mark = refusal.since
    return refusal.cause(mark, f"the quote {refusal.character(mark)} is not closed", "close it, or remove it")


def _escape(refusal: _Refusal) -> Cause:
    # One loader stops at the backslash, the other behind it.
    column = refusal.line(refusal.at).rfind("\\", 0, refusal.at.column + 1)
    help_ = "use single quotes, or write two backslashes"
    return Cause("a backslash in double quotes starts an escape", help_, refusal.at.line + 1, column + 1)


def _open_bracket(refusal: _Refusal) -> Cause:
    if refusal.at.line == refusal.since.line:
        help_ = "add it, and put an item that holds a quote or a colon in quotes"
        return refusal.cause(refusal.at, "a comma or the closing bracket is missing", help_)
    return refusal.cause(refusal.since, f"the `{refusal.character(refusal.since)}` is not closed", "close it")


def _no_key(refusal: _Refusal) -> Cause:
    return _no_key_at(refusal, refusal.since)


def _no_key_at(refusal: _Refusal, mark: Any) -> Cause:
    joined = _NO_BLANK.match(refusal.line(mark)[mark.column :])
    if joined:
        return refusal.cause(mark, "no blank follows the colon", f"write {joined[1]}: {joined[2]}")
    help_ = "write `key: value`, or close the front matter above it with `---`"
    return refusal.cause(mark, "the line has no `key:`", help_)


def _second_colon(refusal: _Refusal) -> Cause:
    line = refusal.line(refusal.at)
    key, _, value = line.partition(":")
    if len(key) == refusal.at.column and not line.startswith(" "):
        # A key at the margin is refused only where the lines above it are one plain value: none of them has a key.
        return _no_key_at(refusal, _first_line(refusal.text))
    if len(key) == refusal.at.column:
        return refusal.cause(refusal.at, "an indented key under a plain value", "move the key to the margin")
    help_ = f"write {key.strip()}: {in_quotes(value.strip())}"
    return refusal.cause(refusal.at, "colon and blank inside a plain value", help_)


def _first_line(text: str) -> yaml.Mark:
    lines = enumerate(text.split("\n"))
    number = next((number for number, line in lines if line.strip() and not line.startswith("#")), 0)
    return yaml.Mark("", 0, number, 0, None, 0)


def _text_after(refusal: _Refusal) -> Cause | None:
    before = refusal.line(refusal.at)[: refusal.at.column].rstrip()
    if before.endswith(("'", '"')):
        help_ = "write the quote inside the value twice, or use the other kind of quotes"
        return refusal.cause(refusal.at, "text follows the closing quote", help_)
    if before.endswith(("]", "}")):
        return refusal.cause(refusal.at, "text follows the closing bracket", "write one list: [first, second]")
    if refusal.character(refusal.at) == "-":
        return refusal.cause(refusal.at, "a list item where a key belongs", "write the key of the list above it")
    return None


# What libyaml says, and what the loader in Python says where libyaml is missing.
_CAUSES: tuple[tuple[re.Pattern[str], Callable[[_Refusal], Cause | None]], ...] = (
    (re.compile("cannot start any token|a tab character"), _tab),
    (re.compile("cannot start any token|scanning an (?:alias|anchor)|scanning a block scalar"), _first_character),
    (re.compile("quoted.* unexpected (?:end of stream|document)"), _open_quote),
    (re.compile("quoted.*(?:escape|hex)"), _escape),
    (re.compile("parsing a flow"), _open_bracket),
    (re.compile("could not find expected ':'"), _no_key),
    (re.compile("mapping values are not allowed"), _second_colon),
    (re.compile("did not find expected key|expected <block end>"), _text_after),
    (re.compile("(?:sequence entries|mapping keys) are not allowed|node content"), _first_character),
)
