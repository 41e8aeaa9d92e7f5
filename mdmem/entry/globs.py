"""The globs of `applies_to`: git's `:(glob)` rules, counted from the repository's top."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache


def matches(glob: str, path: str) -> bool:
    """Say whether a glob covers a path: `*` stays in a folder, `**` crosses, a plain path covers all below it."""
    return _compiled(glob).match(path) is not None


def any_match(globs: Iterable[str], paths: Iterable[str]) -> str | None:
    """Return the first of the paths that any of the globs covers, or None."""
    wanted = tuple(globs)
    return next((path for path in paths if any(matches(glob, path) for glob in wanted)), None)


@lru_cache(maxsize=4096)
def _compiled(glob: str) -> re.Pattern[str]:
    pattern = _PARTS.sub(_translated, glob.removeprefix("./").rstrip("/"))
    # Like a pathspec, a glob that names a folder covers everything below it.
    return re.compile(rf"{pattern}(?:/.*)?\Z", re.DOTALL)


_PARTS = re.compile(r"\A\*\*/|/\*\*/|/\*\*\Z|\*+|\?|\[!?\]?[^\]]*\]|\\.|.", re.DOTALL)
_SPECIAL = {"**/": "(?:.*/)?", "/**/": "/(?:.*/)?", "/**": "/.*", "?": "[^/]"}


def _translated(found: re.Match[str]) -> str:
    part = found.group()
    if part in _SPECIAL:
        return _SPECIAL[part]
    if part.startswith("*"):
        return "[^/]*"
    if part.startswith("[") and len(part) > 2:
        inside = part[1:-1]
        negated = inside[:1] in ("!", "^")
        inside = inside[1:] if negated else inside
        return f"(?!/)[{'^' if negated else ''}{_escaped_set(inside)}]"
    return re.escape(part[-1])


def _escaped_set(inside: str) -> str:
    return inside.replace("\\", "\\\\").replace("]", "\\]").replace("[", "\\[").replace("&&", "\\&&")
