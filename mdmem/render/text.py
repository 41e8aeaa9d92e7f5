"""Build pieces of sentences, and escape texts from files for a line, JSON, XML and Markdown."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import date
from enum import Enum
from pathlib import Path
from textwrap import indent as _indent
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from mdmem.model.text import ACTING, needs_joiner, visible, visible_text

# A link may lead nowhere, and a successor may be deprecated, so whether anything replaced the entry is not known.
UNREPLACED = "no supersession here leads to a current entry"
_FEW_WINGS = 3


def count(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun in the right form."""
    return f"{number} {noun if number == 1 else plural or f'{noun}s'}"


def entries(number: int) -> str:
    """Return a number of entries in words."""
    return count(number, "entry", "entries")


def first_of(items: Sequence[str], most: int, separator: str = ", ") -> str:
    """Return the first items in a line, and the number of the others."""
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return f"{separator.join(items[:most])}{more}"


def indent(text: str, by: int = 2) -> str:
    """Indent every line that is not blank."""
    return _indent(text, " " * by)


def unheld(words: Sequence[str], wings: Sequence[str]) -> str:
    """Return that some words are in no entry of the searched wings."""
    of = f"of {' or '.join(wings)}" if 0 < len(wings) <= _FEW_WINGS else "searched"
    return f"In no entry {of}: {', '.join(words)}."


def one_line(text: str) -> str:
    """Return a text from a file in one line, so that it cannot pass for a line of ours."""
    return text if text.isprintable() else " ".join(text.split())


# Python represents a byte of a file name that is not UTF-8 as half of a surrogate pair.
_SURROGATE = re.compile("[\ud800-\udfff]")
# XML 1.0 forbids these, and `visible_text` leaves them.
_NOT_XML = re.compile("[\ud800-\udfff\ufffe\uffff]")


def json_text(content: Any, *, indent: int | None = 2) -> str:
    """Return JSON in valid UTF-8, with escapes for the characters that a terminal would act on.

    A record is an object with its fields, a date is its ISO form, an enum its value.
    """
    return escaped(json.dumps(content, ensure_ascii=False, indent=indent, default=_json_value))


def _json_value(value: object) -> Any:
    if isinstance(value, Struct):
        return asdict(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Path):
        return str(value)
    raise TypeError(type(value).__name__)


def escaped(json_form: str) -> str:
    """Return JSON with escapes for the characters that are not UTF-8 or that a terminal would act on."""
    acting = ACTING.sub(lambda found: found[0] if needs_joiner(found) else _escape(found), json_form)
    return _SURROGATE.sub(_escape, acting)


def _escape(found: re.Match[str]) -> str:
    return re.sub("....", r"\\u\g<0>", found[0].encode("utf-16-be", "surrogatepass").hex())


def replace_surrogates(text: str) -> str:
    """Return a text in valid UTF-8, for readers that refuse a lone surrogate even as an escape."""
    return _SURROGATE.sub("\ufffd", text)


def for_xml(text: str) -> str:
    """Return a text without the characters that XML forbids or that a terminal would act on."""
    return _NOT_XML.sub("\ufffd", visible_text(text))


# CommonMark, GitHub and GitLab interpret these. An underscore within a word is plain, and so is a colon outside a URL.
_SPECIAL = re.compile(r"[<>|`*~\[\]\\]|(?<![^\W_])_|_(?![^\W_])")
_URL = re.compile(r":(?=//)")
# A span of code may contain this unchanged, even in a table.
_SIMPLE = re.compile(r"[^\s`<>|\\](?:[^`<>|\\]*[^\s`<>|\\])?")
# GitHub looks for mentions after it decodes entities, so a character is put in between.
_REFERENCE = re.compile(r"(?<=[@#!$%&])(?=\S)|(?<=\b[Gg][Hh])(?=-\d)|(?<=\b[Ww]{3})(?=\.)")
# The name of a commit would become a link; as code it can be copied.
_COMMIT = re.compile(r"\b([0-9a-f]{7,40})\b")
_NOTHING = "\u200b"


def prose(message: str) -> str:
    """Return a message in one line of Markdown; backticks make code, and nobody is mentioned."""
    parts = visible(message).split("`")
    if len(parts) % 2 == 0:
        # A backtick without a partner is a plain character.
        parts[-2:] = ["`".join(parts[-2:])]
    return "".join(code(part) if number % 2 else _plain(part) for number, part in enumerate(parts))


def code(text: str) -> str:
    """Return a text as code, in which mentions and references have no effect."""
    shown = visible(text)
    return f"`{shown}`" if _SIMPLE.fullmatch(shown) else html_code(text)


def html_code(text: str) -> str:
    """Return a text as code in HTML, as for the line that opens a block of HTML."""
    return f"<code>{_ENTITY.sub(lambda found: f'&#{ord(found[0])};', visible(text))}</code>"


_ENTITY = re.compile(r"[&<>|`*_~\[\]\\:]")


def fit_lines(lines: Sequence[str], room: int, cut: str) -> str:
    """Return the lines that fit into a number of characters; `cut` is the sentence with the number of the others."""
    if not lines or room <= 0:
        return ""
    if sum(len(line) + 1 for line in lines) <= room:
        return "\n".join(lines)
    room -= len(cut.format(len(lines))) + 1
    shown = 0
    while (room := room - len(lines[shown]) - 1) >= 0:
        shown += 1
    return "\n".join([*lines[:shown], cut.format(len(lines) - shown)])


def _plain(text: str) -> str:
    return "".join(
        code(part) if number % 2 else _escape_markdown(part) for number, part in enumerate(_COMMIT.split(text))
    )


def _escape_markdown(text: str) -> str:
    marked = _SPECIAL.sub(r"\\\g<0>", _REFERENCE.sub(_NOTHING, text))
    return _URL.sub("&#58;", marked).replace(_NOTHING, f"&#{ord(_NOTHING)};")
