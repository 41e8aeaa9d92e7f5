"""Patterns of files as clients write them, as globs of ours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

_EVERYTHING = frozenset({"*", "**", "**/*", "./**", "/**"})
_PIECE = re.compile(r"([^{}]*)([{}]|\Z)")
_BRACES = re.compile(r"\{([^{}]*)\}")
_MOST = 64


def globs_of(value: Any, *, below: str = "", anywhere: bool = False) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the globs that a value states, and sentences about what is left out; none where every file is meant.

    `below` is the folder that they count from; with `anywhere` a pattern without a slash is one of every folder.
    """
    items = value if isinstance(value, list) else [value]
    written = [part.strip().strip("\"'") for item in items if isinstance(item, str) for part in _parts(item)]
    if any(one in _EVERYTHING for one in written):
        return ((f"{below}/**",) if below else ()), ()
    kept: dict[str, None] = {}
    said = []
    for one in filter(None, written):
        if one.startswith("!") or one.count("{") > 3:
            said.append(f"`{one}` is a pattern that `applies_to` has no word for")
            continue
        # Each choice doubles them.
        for glob in islice(_spelt_out(one.removeprefix("./").lstrip("/")), _MOST + 1):
            plain = f"**/{glob}" if anywhere and "/" not in glob else glob
            kept[f"{below}/{plain}" if below else plain] = None
    if len(kept) > _MOST:
        said.append(f"it has more than {_MOST} patterns; those behind `{[*kept][_MOST - 1]}` are left out")
    return tuple(kept)[:_MOST], tuple(said)


def _parts(text: str) -> Iterator[str]:
    """Yield what stands between the commas of a text, those between braces left alone."""
    held: list[str] = []
    for plain, brace in _PIECE.findall(text):
        first, *others = [plain] if brace == "}" else plain.split(",")
        held.append(first)
        for other in others:
            yield "".join(held)
            held = [other]
        held.append(brace)
    yield "".join(held)


def _spelt_out(glob: str) -> Iterator[str]:
    """Yield one glob for each alternative between braces, which git does not know."""
    found = _BRACES.search(glob)
    if found is None:
        yield glob
        return
    for choice in found[1].split(","):
        yield from _spelt_out(glob[: found.start()] + choice.strip() + glob[found.end() :])
