"""Write text as YAML values that every YAML parser reads as the same text."""

from __future__ import annotations

import json
import re

_PLAIN = re.compile(r"[^\W_][^\n:#\[\]{},&*!|'\"%`]*[^\s:#\[\]{},&*!|'\"%`]|[^\W_]", re.UNICODE)
# Other YAML 1.1 parsers read these words as booleans, numbers and so on. In quotes they are text for every parser.
_TYPED = re.compile(
    r"(?i)(?:y|n|yes|no|on|off|true|false|null|~|[-+.]?[\d_.:e+-]+|0[box][\da-f_]+"
    r"|[-+]?\.(?:inf|nan)|\d{4}-\d\d?-\d\d?[t ]+\d\d?:.*)\Z"
)
# In a front matter these characters are allowed only as escapes.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
# Dates, date-times and numbers, which are written without quotes in fields of these kinds.
_BARE = re.compile(r"\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d[\d:.]*(?:[Zz]|[+-]\d\d:?\d\d)?)?|\d+(?:\.\d+)?")
# A value with one of these at its start, inside or at its end needs quotes.
_UNFIT = re.compile(r"""\A[-?:,\[\]{}#&*!|>'"%@`~=<\s]|:(?:\s|\Z)|\s#|\s\Z""")
_FLOW = re.compile(r"[,\[\]{}]")


def scalar(text: str) -> str:
    """Return a text as a YAML value, with quotes only if a YAML parser would otherwise misread the text."""
    if _PLAIN.fullmatch(text) and not _TYPED.fullmatch(text) and not _CONTROL.search(text):
        return text
    return quoted(text)


def quoted(text: str) -> str:
    """Return a text in double quotes, on one line."""
    return _CONTROL.sub(lambda found: f"\\u{ord(found.group()):04x}", json.dumps(text, ensure_ascii=False))


def in_quotes(value: str) -> str:
    """Return some YAML source in quotes, so that every character, including backslashes, is kept."""
    if '"' in value or "\\" in value:
        return "'" + value.replace("'", "''") + "'"
    return f'"{value}"'


def is_bare(text: str) -> bool:
    """Return whether a text looks like a date, a date-time or a number."""
    return _BARE.fullmatch(text) is not None


def restyled(text: str, style: str | None, *, is_typed: bool = False, in_flow: bool = False) -> str:
    """Return a text on one line in the style of an old value, or in quotes if that style cannot express the text.

    `style` is the style of the YAML node: a quote character, or None for a plain value. With `is_typed`, dates and
    numbers have no quotes.
    """
    if style == '"':
        return quoted(text)
    if style == "'":
        return quoted(text) if _CONTROL.search(text) else "'" + text.replace("'", "''") + "'"
    if is_typed and is_bare(text):
        return text
    unfit = not text or _UNFIT.search(text) or _CONTROL.search(text) or _TYPED.fullmatch(text)
    if unfit or (in_flow and _FLOW.search(text)):
        return scalar(text)
    return text


def compose_entry(fields: dict[str, str], body: str) -> str:
    """Return the text of a whole entry: the fields in the given order, then the body with one final newline."""
    lines = [f"{key}: {value if key.endswith('_at') else scalar(value)}" for key, value in fields.items()]
    return "\n".join(["---", *lines, "---", "", body.strip("\n"), ""])
