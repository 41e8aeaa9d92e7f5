"""Front matter from values, for a file that does not exist yet."""

from __future__ import annotations

import json
import re

_PLAIN = re.compile(r"[^\W_][^\n:#\[\]{},&*!|>'\"%@`]*[^\s:#\[\]{},&*!|>'\"%@`]|[^\W_]", re.UNICODE)
# YAML 1.1 readers other than ours give these words another type; quotes keep them text for everybody.
_TYPED = re.compile(r"(?i)(?:y|n|yes|no|on|off|true|false|null|~|[-+.]?[\d_.:e+-]+|0[box][\da-f_]+)\Z")
# A front matter may not hold these as they are, only as escapes.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def scalar(text: str) -> str:
    """Return a text as a YAML value that every reader takes for that text."""
    if _PLAIN.fullmatch(text) and not _TYPED.fullmatch(text) and not _CONTROL.search(text):
        return text
    return _CONTROL.sub(lambda found: f"\\u{ord(found.group()):04x}", json.dumps(text, ensure_ascii=False))


def compose_entry(fields: dict[str, str], body: str) -> str:
    """Return a whole entry: the fields in the order given, then the body with one final newline."""
    lines = [f"{key}: {value if key.endswith('_at') else scalar(value)}" for key, value in fields.items()]
    return "\n".join(["---", *lines, "---", "", body.strip("\n"), ""])
