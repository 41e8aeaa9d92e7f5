"""What a session was given of an entry, of which version: all of it, or its sentences; none of it need come twice."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from hashlib import sha256

from mdmem.markdown.sentences import pieces_of

# Between the digest of a file and the marks of the sentences that were given of it.
_BESIDE_VERSION = "\n"
# No mark is like it: the entry was named, by its title or what it rules.
_NAME = "-"
NAMED = frozenset((_NAME,))
# Nor like this: all of it was given, whatever was told beneath it.
_ALL = "*"
WHOLE = frozenset((_ALL,))


def noted(digest: str, marks: Collection[str]) -> str:
    """Return what to know an entry by when it is asked for again."""
    return digest if marks == WHOLE else _BESIDE_VERSION.join((digest, *(sorted(marks) or ("",))))


def given_of(known: str, digest: str) -> frozenset[str]:
    """Return the marks of what was given of a version that is known so."""
    version, *marks = known.split(_BESIDE_VERSION)
    if version != digest or not digest:
        return frozenset()
    return frozenset(marks) if marks else WHOLE


def is_given(known: str) -> bool:
    """Say whether more than its name was given of what is known so."""
    return known.split(_BESIDE_VERSION)[1:] != [_NAME]


def marks_of(texts: Iterable[str]) -> frozenset[str]:
    """Return what to know each sentence of some texts by, wherever it stands in another part of the same entry."""
    pieces = {piece for text in texts for piece in pieces_of(text)}
    return frozenset(sha256(one.encode("utf-8", "surrogatepass")).hexdigest()[:12] for one in pieces)
