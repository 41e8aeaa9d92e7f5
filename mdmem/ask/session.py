"""Remember which entries a session has seen, so that an unchanged entry is not shown twice.

A note records one entry: the digest of its file, and marks (short hashes) of the paragraphs that were shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256

# The notes of a session by address, as they are stored.
Shown = Mapping[str, str]
NOTHING_SHOWN: Shown = {}
WHOLE = frozenset({"*"})
_SEPARATOR = "\n"


def note_of(digest: str, parts: frozenset[str]) -> str:
    """Return the note on an entry: its digest, and the marks of the shown parts, or no marks if all were shown."""
    return digest if parts >= WHOLE else _SEPARATOR.join((digest, *sorted(parts)))


def parts_shown(note: str, digest: str) -> frozenset[str]:
    """Return the marks of the parts that were shown according to a note: `WHOLE` if all were shown.

    The set is empty if the note is about another version of the file (another digest).
    """
    version, *parts = note.split(_SEPARATOR)
    if not digest or version != digest:
        return frozenset()
    return frozenset(filter(None, parts)) if parts else WHOLE


def marks_of(parts: Iterable[str]) -> frozenset[str]:
    """Return a short hash for each part of a text."""
    return frozenset(sha256(one.encode("utf-8", "surrogatepass")).hexdigest()[:12] for one in parts)


def paragraphs_of(content: str) -> list[str]:
    """Return the paragraphs of a content, which a session remembers separately."""
    return [part for part in content.split("\n\n") if part.strip()]


def unseen(content: str, shown: frozenset[str]) -> str:
    """Return the paragraphs that were not shown yet; `shown` has the marks of the shown ones."""
    if shown >= WHOLE or not shown:
        return "" if shown else content
    return "\n\n".join(part for part in paragraphs_of(content) if not marks_of([part]) <= shown)
