"""Mark exported text with a seal, a hash that shows whether somebody changed the text."""

from __future__ import annotations

import hashlib
import re

BEGIN = "<!-- mdmem export"
END = "<!-- mdmem export end -->"
_SEAL = re.compile(rf"{re.escape(BEGIN)} ([0-9a-f]{{12}}|): ")


def opening(about: str) -> str:
    """Return the first line of exported text, without the seal. `about` is one line for people."""
    return f"{BEGIN} : {about.replace('--', '—')} -->"


def sealed(text: str) -> str:
    """Return a text with its seal in the first line. Line endings do not affect the seal."""
    return _SEAL.sub(f"{BEGIN} {_digest(text)}: ", text, count=1)


def is_whole(text: str) -> bool:
    """Return whether nobody changed a text since `sealed` returned it."""
    seal = _SEAL.search(text)
    return seal is not None and seal[1] == _digest(text)


def _digest(text: str) -> str:
    bare = _SEAL.sub(f"{BEGIN} : ", text.replace("\r\n", "\n"), count=1)
    return hashlib.sha256(bare.rstrip("\n").encode("utf-8", "surrogatepass")).hexdigest()[:12]


def is_exported(text: str) -> bool:
    """Return whether a text contains an exported part."""
    return _SEAL.search(text) is not None


def region_of(text: str, at: int = 0) -> tuple[int, int] | None:
    """Return the start and end offset of the first exported region that begins at an offset or later, or None."""
    # A single pattern would be slow, because it searches for the end again from each of thousands of starts.
    begin = _SEAL.search(text, at)
    end = text.find(END, begin.end()) if begin is not None else -1
    if begin is None or end < 0:
        return None
    end += len(END)
    return begin.start(), end + text.startswith("\n", end)


def without_regions(text: str) -> str:
    """Return a text without its exported regions."""
    parts, at = [], 0
    while (place := region_of(text, at)) is not None:
        parts.append(text[at : place[0]])
        at = place[1]
    return "".join([*parts, text[at:]])
