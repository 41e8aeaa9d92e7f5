"""Text from files as Markdown that shows it and does nothing else: no markup, no link, no mention."""

from __future__ import annotations

import re

from mdmem.model.text import visible

# What CommonMark, GitHub or GitLab reads as markup; an underscore within a word is none, nor a colon but in a URL.
_SPECIAL = re.compile(r"[<>|`*~\[\]\\]|(?<![^\W_])_|_(?![^\W_])")
_URL = re.compile(r":(?=//)")
# What a span of code may hold as it is, in a table, too.
_SIMPLE = re.compile(r"[^\s`<>|\\](?:[^`<>|\\]*[^\s`<>|\\])?")
# A mention or a reference is looked for after entities are read; only a character in between ends it.
_REFERENCE = re.compile(r"(?<=[@#!$%&])(?=\S)|(?<=\b[Gg][Hh])(?=-\d)|(?<=\b[Ww]{3})(?=\.)")
# The name of a commit becomes a link to it; in code it does not, and can be copied.
_COMMIT = re.compile(r"\b([0-9a-f]{7,40})\b")
_NOTHING = "\u200b"


def prose(message: str) -> str:
    """Return a message in one line; what stands in backticks becomes code, and names nobody."""
    parts = visible(message).split("`")
    if len(parts) % 2 == 0:
        # A backtick without its partner is a character like any other.
        parts[-2:] = ["`".join(parts[-2:])]
    return "".join(code(part) if number % 2 else _plain(part) for number, part in enumerate(parts))


def code(text: str) -> str:
    """Return a text as code, in which no mention and no reference counts."""
    shown = visible(text)
    return f"`{shown}`" if _SIMPLE.fullmatch(shown) else html_code(text)


def html_code(text: str) -> str:
    """Return a text as code where no Markdown is read, as in the line that opens a block of HTML."""
    return f"<code>{_ENTITY.sub(lambda found: f'&#{ord(found[0])};', visible(text))}</code>"


_ENTITY = re.compile(r"[&<>|`*_~\[\]\\:]")


def fenced(text: str, language: str) -> str:
    """Return a text of several lines as a block of code that nothing in it ends."""
    shown = "\n".join(visible(line) for line in text.split("\n"))
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", shown)), default=0))
    return f"{fence}{language}\n{shown}\n{fence}"


def _plain(text: str) -> str:
    return "".join(code(part) if number % 2 else _escaped(part) for number, part in enumerate(_COMMIT.split(text)))


def _escaped(text: str) -> str:
    marked = _SPECIAL.sub(r"\\\g<0>", _REFERENCE.sub(_NOTHING, text))
    return _URL.sub("&#58;", marked).replace(_NOTHING, f"&#{ord(_NOTHING)};")
