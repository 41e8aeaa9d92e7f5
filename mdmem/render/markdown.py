"""Text from files as Markdown that shows it and does nothing else: no markup, no link, no mention."""

from __future__ import annotations

import re

from mdmem.entry.model import visible

# Everything that CommonMark, GitHub or GitLab reads as markup, the colon of a bare address included.
_SPECIAL = re.compile(r"[&<>|`*_~\[\]\\:]")
# A mention or a reference is looked for after entities are read; only a character in between ends it.
_REFERENCE = re.compile(
    r"(?<=[@#!$%&])(?=\S)"
    r"|(?<=\b[Gg][Hh])(?=-\d)"
    r"|(?<=\b[Ww]{3})(?=\.)"
    # The name of a commit becomes a link to it.
    r"|(?<=\b[0-9a-f]{3})(?=[0-9a-f]{4,37}\b)"
)
_NOTHING = "\u200b"
_NOTHING_SHOWN = f"&#{ord(_NOTHING)};"


def prose(message: str) -> str:
    """Return a message in one line; what stands in backticks becomes code, and names nobody."""
    parts = visible(message).split("`")
    if len(parts) % 2 == 0:
        # A backtick without its partner is a character like any other.
        parts[-2:] = ["`".join(parts[-2:])]
    return "".join(code(part) if number % 2 else _plain(part) for number, part in enumerate(parts))


def code(text: str) -> str:
    """Return a text as code, in which no mention and no reference counts."""
    return f"<code>{_entities(visible(text))}</code>"


def _plain(text: str) -> str:
    return _entities(_REFERENCE.sub(_NOTHING, text)).replace(_NOTHING, _NOTHING_SHOWN)


def _entities(text: str) -> str:
    return _SPECIAL.sub(lambda found: f"&#{ord(found[0])};", text)
