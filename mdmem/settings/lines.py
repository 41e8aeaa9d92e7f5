"""Where a file of settings states what: the line of a key, or of a value."""

from __future__ import annotations

import re
from collections.abc import Iterator

_TABLE = re.compile(r"\s*\[+([^\]#]+)\]")
_KEY = re.compile(r"""\s*([\w."' -]+?)\s*=""")
_QUOTES = str.maketrans("", "", "\"' ")


def line_of(key: str, content: bytes, value: str) -> int:
    """Return the line that sets a key or part of it, or the innermost table above it, or of a value from there on."""
    lines = content.decode("utf-8", "replace").removeprefix("\ufeff").splitlines()
    keys = [f"{name}." for name in dotted_keys(lines)]
    wanted = f"{key}."
    setting = (number for number, name in enumerate(keys) if name.startswith(wanted))
    above = max(range(len(keys)), key=lambda number: len(keys[number]) * wanted.startswith(keys[number]), default=0)
    found = next(setting, above)
    quoted = (f'"{value}"', f"'{value}'")
    below = (number for number, line in enumerate(lines[found:], found) if any(text in line for text in quoted))
    return (next(below, found) if value else found) + 1


def dotted_keys(lines: list[str]) -> Iterator[str]:
    """Yield, for each line, the key or the table that it sets, in full, or an empty text."""
    table = ""
    for line in lines:
        head, stated = _TABLE.match(line), _KEY.match(line)
        if head:
            table = f"{head[1].translate(_QUOTES)}."
        yield table[:-1] if head else table + stated[1].translate(_QUOTES) if stated else ""
