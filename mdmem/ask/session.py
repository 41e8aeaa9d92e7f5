"""Remember what a session has seen, so that no part of an entry is shown twice unless its file changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256

# Address to the version that was shown and marks of its parts; the form in which sessions are stored.
Shown = Mapping[str, str]
NOTHING_SHOWN: Shown = {}
WHOLE = frozenset({"*"})
_SEPARATOR = "\n"


def note_of(digest: str, parts: frozenset[str]) -> str:
    """Return the session's note on an entry: its version, and the marks of the parts shown; no marks if all were."""
    return digest if parts >= WHOLE else _SEPARATOR.join((digest, *sorted(parts)))


def parts_shown(note: str, digest: str) -> frozenset[str]:
    """Return the marks of the parts of a version that were shown; those of another version count as none."""
    version, *parts = note.split(_SEPARATOR)
    if not digest or version != digest:
        return frozenset()
    return frozenset(filter(None, parts)) if parts else WHOLE


def marks_of(parts: Iterable[str]) -> frozenset[str]:
    """Return a short mark for each part of a text."""
    return frozenset(sha256(one.encode("utf-8", "surrogatepass")).hexdigest()[:12] for one in parts)


def paragraphs_of(content: str) -> list[str]:
    """Return the parts of a content that are remembered one by one."""
    return [part for part in content.split("\n\n") if part.strip()]


def unseen(content: str, shown: frozenset[str]) -> str:
    """Return the paragraphs of a content that a session has not seen."""
    if shown >= WHOLE:
        return ""
    return "\n\n".join(part for part in paragraphs_of(content) if not marks_of([part]) <= shown)
