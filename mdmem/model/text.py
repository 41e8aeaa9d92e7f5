"""Make text safe to print: write invisible characters and control characters as their number, such as `<U+200B>`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from hashlib import sha256

# Control characters, direction marks and zero-width characters. Line feeds and tabs are not in the set.
ACTING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_ESCAPES = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}
_JOINERS = "\u200c\u200d"


def visible(text: str) -> str:
    """Return a text with every unprintable character replaced by its number, such as `<U+000A>` for a line feed."""
    return text if text.isprintable() else "".join(one if one.isprintable() else _number(one) for one in text)


def visible_text(text: str) -> str:
    """Return a text of several lines with control characters and invisible characters replaced by their number.

    Line feeds and tabs stay, and CR LF becomes LF. Zero-width joiners stay where a script or an emoji needs them.
    """

    def numbered(found: re.Match[str]) -> str:
        is_line_end = found[0] == "\r" and text.startswith("\n", found.end())
        return found[0] if needs_joiner(found) else "" if is_line_end else _number(found[0])

    # The pattern is slow on megabytes of text, and printable text needs no search.
    is_plain = text.replace("\n", "").replace("\t", "").isprintable()
    return text if is_plain else ACTING.sub(numbered, text)


def one_line(text: str) -> str:
    """Return a text as `visible_text` does, but also replace line feeds by `<U+000A>`."""
    return visible_text(text).replace("\n", "<U+000A>")


def c_escaped(text: str, quote: str) -> str:
    """Return a text with C's escapes for a quote, for backslashes and for the bytes of unprintable characters."""

    def escaped(one: str) -> str:
        octal = (f"\\{byte:03o}" for byte in one.encode("utf-8", "surrogateescape"))
        return one if one.isprintable() else _ESCAPES.get(one) or "".join(octal)

    return "".join(map(escaped, re.sub(rf"[{quote}\\]", r"\\\g<0>", text)))


def shell_word(text: str) -> str:
    """Return a text as one word of a shell command; if it has unprintable characters, in the form `$'…'` of bash."""
    return shlex.quote(text) if text.isprintable() else "$'" + c_escaped(text, "'") + "'"


def needs_joiner(found: re.Match[str]) -> bool:
    """Return whether a match of `ACTING` is a zero-width joiner after a character of a script that uses joiners."""
    before = found.string[found.start() - 1 : found.start()]
    # Arabic and Indic scripts and emoji need joiners. In other scripts a joiner is only an invisible character.
    return found[0] in _JOINERS and ("\u0590" <= before <= "\u1fff" or before >= "\u2190")


def kind_of(value: object) -> str:
    """Return the word that messages use for the type of a value: list, mapping or value."""
    return "list" if isinstance(value, list) else "mapping" if isinstance(value, dict) else "value"


def cut_line(text: str, most: int) -> str:
    """Return a text on one line, of at most `most` characters. A longer text is cut and ends in `…`."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def text_hash(text: str) -> str:
    """Return the SHA-256 of a text in hexadecimal digits. The text may contain half of a surrogate pair."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _number(character: str) -> str:
    return f"<U+{ord(character):04X}>"


def first_of(items: Sequence[str], most: int, separator: str = ", ") -> str:
    """Return the first items (`most` of them) as one line, with ` and N more` if there are others."""
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return f"{separator.join(items[:most])}{more}"


def without_values(sentence: str) -> str:
    """Return a sentence without what it quotes, by which sentences of the same kind differ."""
    return re.sub(r"`[^`]*`", "`…`", sentence)
