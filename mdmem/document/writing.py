"""Front matter from values, for a file that does not exist yet."""

from __future__ import annotations

import json
import re

_PLAIN = re.compile(r"[^\W_][^\n:#\[\]{},&*!|>'\"%@`]*[^\s:#\[\]{},&*!|>'\"%@`]|[^\W_]", re.UNICODE)
# YAML 1.1 readers other than ours give these words another type; quotes keep them text for everybody.
_TYPED = re.compile(r"(?i)(?:y|n|yes|no|on|off|true|false|null|~|[-+.]?[\d_.:e+-]+)\Z")


def scalar(text: str) -> str:
    """Return a text as a YAML value that every reader takes for that text."""
    if _PLAIN.fullmatch(text) and not _TYPED.fullmatch(text):
        return text
    return json.dumps(text, ensure_ascii=False)


def compose_entry(fields: dict[str, str], body: str) -> str:
    """Return a whole entry: the fields in the order given, then the body with one final newline."""
    lines = [f"{key}: {value if key.endswith('_at') else scalar(value)}" for key, value in fields.items()]
    return "\n".join(["---", *lines, "---", "", body.strip("\n"), ""])
