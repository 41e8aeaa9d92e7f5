"""The marks of a conflict: written around what both sides changed, and taken away again with one of the two."""

from __future__ import annotations

import re
from enum import StrEnum

from msgspec import Struct

_HUNK = re.compile(
    rb"^<{7}(?: [^\r\n]*)?\r?\n"
    rb"(?P<ours>(?:(?!<{7}[ \r\n])[^\n]*\n)*?)"
    rb"(?:\|{7}(?: [^\r\n]*)?\r?\n(?:(?!<{7}[ \r\n])[^\n]*\n)*?)?"
    rb"={7}\r?\n"
    rb"(?P<theirs>(?:(?!<{7}[ \r\n])[^\n]*\n)*?)"
    rb">{7}(?: [^\r\n]*)?(?:\r?\n|\Z)",
    re.MULTILINE,
)
_LABELS = re.compile(rb"^<{7} ([^\r\n]+)\r?\n(?:[^\n]*\n)*?^>{7} ([^\r\n]+)", re.MULTILINE)


class ConflictSide(StrEnum):
    """One of the two sides of a merge, as git names them."""

    OURS = "ours"
    THEIRS = "theirs"


class Marks(Struct, frozen=True, kw_only=True):
    """How a conflict is marked: the names of the sides, the marks' width, and whether the ancestor is shown."""

    ours: str = "ours"
    base: str = "base"
    theirs: str = "theirs"
    width: int = 7
    shows_base: bool = False

    def hunk(self, ancestor: str, ours: str, theirs: str, *, line_break: str) -> str:
        """Return whole lines of both sides with git's marks around them."""
        base = (f"{'|' * self.width} {self.base}{line_break}", ancestor) if self.shows_base else ()
        parts = (
            *(f"{'<' * self.width} {self.ours}{line_break}", ours),
            *base,
            *(f"{'=' * self.width}{line_break}", theirs),
            f"{'>' * self.width} {self.theirs}{line_break}",
        )
        return "".join(parts)


def has_hunks(content: bytes) -> bool:
    """Say whether a file holds a conflict with all its marks."""
    return b"<<<<<<<" in content and _HUNK.search(content) is not None


def take_side(content: bytes, side: ConflictSide) -> bytes:
    """Return a file with one side of every conflict in it; everything else stays as it is."""
    return _HUNK.sub(lambda found: found[side.value], content)


def labels_of(content: bytes) -> tuple[str, str] | None:
    """Return what the first conflict of a file calls its sides, or None."""
    found = _LABELS.search(content)
    return (found[1].decode("utf-8", "replace"), found[2].decode("utf-8", "replace")) if found else None
