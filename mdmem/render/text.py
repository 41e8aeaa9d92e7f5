"""Build parts of sentences, colour them, and escape texts from files for the terminal, JSON, XML and Markdown."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from datetime import date
from enum import Enum
from functools import partialmethod
from pathlib import Path
from textwrap import indent as _indent
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from mdmem.model.finding import Severity
from mdmem.model.text import ACTING, needs_joiner, visible, visible_text

# Does not say "nothing replaced it", since a link may be broken, and a successor may be deprecated.
UNREPLACED = "no current entry replaces it"


def count(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun in the singular or plural; the plural ends in `s` unless it is given."""
    return f"{number} {noun if number == 1 else plural or f'{noun}s'}"


def entries(number: int) -> str:
    """Return `1 entry` or `N entries`."""
    return count(number, "entry", "entries")


def indent(text: str) -> str:
    """Indent every line that is not blank by two spaces."""
    return _indent(text, "  ")


def one_line(text: str) -> str:
    """Return a text from a file on one line. Then none of its lines can look like a line of mdmem's output."""
    return text if text.isprintable() else " ".join(text.split())


def shorten(text: str, most: int = 200) -> str:
    """Return a text as one line of at most `most` characters, cut between words, with control characters escaped."""
    flat = visible(" ".join(text.split()))
    if len(flat) <= most:
        return flat
    # A cut just before a space is between two words as well.
    words, _, _ = flat[:most].rpartition(" ")
    return f"{words or flat[: most - 1]}…"


# Python represents a byte of a file name that is not UTF-8 as half of a surrogate pair.
_SURROGATE = re.compile("[\ud800-\udfff]")
# XML 1.0 forbids these characters, and `visible_text` does not escape them.
_NOT_XML = re.compile("[\ud800-\udfff\ufffe\uffff]")


def json_text(content: Any, *, indent: int | None = 2) -> str:
    """Return values as JSON in valid UTF-8, with escapes for the control characters that a terminal would act on."""

    def plain(value: object) -> Any:
        if isinstance(value, (Struct, Mapping)):
            return asdict(value) if isinstance(value, Struct) else dict(value)
        if isinstance(value, date):
            return value.isoformat()
        if isinstance(value, (Enum, Path)):
            return value.value if isinstance(value, Enum) else str(value)
        raise TypeError(type(value).__name__)

    return escaped(json.dumps(content, ensure_ascii=False, indent=indent, default=plain))


def dump(content: Mapping[str, Any], *, indent: int | None = 2) -> str:
    """Return values as a JSON document, with the version of the schema as its first key."""
    return json_text({"schema": 1, **content}, indent=indent)


def escaped(json_form: str) -> str:
    """Escape the characters of a JSON text that are not valid UTF-8 or that a terminal would act on."""
    acting = ACTING.sub(lambda found: found[0] if needs_joiner(found) else _escape(found), json_form)
    return _SURROGATE.sub(_escape, acting)


def _escape(found: re.Match[str]) -> str:
    return re.sub("....", r"\\u\g<0>", found[0].encode("utf-16-be", "surrogatepass").hex())


def valid_unicode(text: str) -> str:
    """Replace lone surrogates by U+FFFD, since some JSON parsers refuse surrogates even as escapes."""
    return _SURROGATE.sub("\ufffd", text)


def for_xml(text: str) -> str:
    """Replace characters that XML forbids by U+FFFD, and those that a terminal would act on by their number."""
    return _NOT_XML.sub("\ufffd", visible_text(text))


# CommonMark, GitHub and GitLab interpret these characters. An underscore within a word has no effect.
_SPECIAL = re.compile(r"[<>|`*~\[\]\\]|(?<![^\W_])_|_(?![^\W_])")
_URL = re.compile(r":(?=//)")
# Text that can be put between backticks without escapes, even in a table.
_SIMPLE = re.compile(r"[^\s`<>|\\](?:[^`<>|\\]*[^\s`<>|\\])?")
# GitHub searches for mentions after it has decoded entities, so an invisible character is put after these.
_REFERENCE = re.compile(r"(?<=[@#!$%&])(?=\S)|(?<=\b[Gg][Hh])(?=-\d)|(?<=\b[Ww]{3})(?=\.)")
_NOTHING = "\u200b"
_ENTITY = re.compile(r"[&<>|`*_~\[\]\\:]")


def prose(message: str) -> str:
    """Escape a message for Markdown as one line; text in backticks becomes code, and mentions have no effect."""
    parts = visible(message).split("`")
    if len(parts) % 2 == 0:
        # The last backtick has no partner, so it is a plain character.
        parts[-2:] = ["`".join(parts[-2:])]
    for number, part in enumerate(parts):
        marked = _SPECIAL.sub(r"\\\g<0>", _REFERENCE.sub(_NOTHING, part))
        plain = _URL.sub("&#58;", marked).replace(_NOTHING, f"&#{ord(_NOTHING)};")
        parts[number] = code(part) if number % 2 else plain
    return "".join(parts)


def code(text: str) -> str:
    """Return a text as code in Markdown, so that mentions and references have no effect."""
    shown = visible(text)
    if _SIMPLE.fullmatch(shown):
        return f"`{shown}`"
    return f"<code>{_ENTITY.sub(lambda found: f'&#{ord(found[0])};', shown)}</code>"


def fit_lines(lines: Sequence[str], limit: int, cut: str) -> str:
    """Return the lines that fit into `limit` characters, then `cut`, whose `{}` becomes the number of omitted lines."""
    if sum(len(line) + 1 for line in lines) <= limit:
        return "\n".join(lines)
    left = limit - len(cut.format(len(lines))) - 1
    shown = 0
    while (left := left - len(lines[shown]) - 1) >= 0:
        shown += 1
    return "\n".join([*lines[:shown], cut.format(len(lines) - shown)])


def repeats(address: str, title: str) -> bool:
    """Return whether an entry-id has all words of a title in their order, so that the title adds nothing."""
    words = iter(address.rpartition("/")[2].split("-"))
    # Each test consumes the words up to the one that it finds. The `s` after an apostrophe is not a word.
    return all(word in words or word == "s" for word in re.findall(r"\w+", title.casefold()))


# A placeholder for the escape character of our colours until the text is printed. It is random for each process, so
# that no text from a file, a commit or a client can contain it.
_SEALED = os.urandom(10).hex()
# A command in a sentence that needs the root. The line for a hook does not, since the hook is for every clone.
_COMMAND = re.compile(r"(?:(?<=`)|(?<=&& )|(?<=next: ))mdmem(?= (?!--root|guide|check --staged|init [^-]))")


class Style(Struct, frozen=True):
    """How to print a result: as Markdown or as plain text, and with or without colours.

    A colour is a placeholder until `printable` or `with_colors` turns it into an escape sequence. `shown` are the
    entries whose text is in the answer, so that lines that mention them do not repeat their titles. `program` is
    `mdmem`, with `--root` if the user gave it. With `is_whole`, many findings are not shortened to a table.
    """

    color: bool = False
    is_markdown: bool = False
    shown: frozenset[str] = frozenset()
    program: str = "mdmem"
    is_whole: bool = False

    def heading(self, text: str) -> str:
        """Return a heading inside an answer."""
        return f"## {text}" if self.is_markdown else self.bold(text)

    def foot(self, text: str) -> str:
        """Return a remark below an answer."""
        return f"_{text}_" if self.is_markdown else self.dim(text)

    def typed(self, text: str) -> str:
        """Return mdmem's own text with `program` in its commands, so that they work as they are printed."""
        # Inside a quoted name that looks like a command, the quotes of an odd root would end those of the name.
        if "'" in self.program and "'" in text:
            return text
        return _COMMAND.sub(lambda _: self.program, text)

    def severity(self, severity: Severity, text: str) -> str:
        """Return the text in the colour of a severity."""
        return self._in({Severity.ERROR: "1;31", Severity.WARNING: "33", Severity.INFO: "36"}[severity], text)

    def _in(self, code: str, text: str) -> str:
        return f"{_SEALED}[{code}m{text}{_SEALED}[0m" if self.color else text

    bold, dim = partialmethod(_in, "1"), partialmethod(_in, "2")
    warn, added, removed = partialmethod(_in, "33"), partialmethod(_in, "32"), partialmethod(_in, "31")


def printable(text: str) -> str:
    """Return a text to print on a terminal: mdmem's colours stay, and all other control characters are escaped."""
    return visible_text(text).replace(_SEALED, "\x1b")


def with_colors(text: str) -> str:
    """Return a text to send to a program: mdmem's colours become escape sequences, and nothing else is changed."""
    return text.replace(_SEALED, "\x1b")
