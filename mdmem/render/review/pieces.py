"""The pieces that the lines of a review are made of: our own words, what is quoted from files, and changed words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum

from msgspec import Struct

from mdmem.change.review_model import Ref, Span, Wording
from mdmem.model.text import visible
from mdmem.render.words import count

# A title may be a page long; its beginning tells which one it is.
_LONGEST = 200
# Words of context on each side of a change.
_AROUND = 8
# A rewritten page is read as a file; a review shows so many of the words taken out and put in.
_MOST = 600


class PieceKind(StrEnum):
    """How a piece is meant: words of ours, an address or value, words of a file, and what was put in or taken out."""

    PLAIN = "plain"
    CODE = "code"
    SAID = "said"
    ADDED = "added"
    REMOVED = "removed"
    STRONG = "strong"
    DIM = "dim"


_KINDS = {" ": PieceKind.SAID, "-": PieceKind.REMOVED, "+": PieceKind.ADDED}


class Piece(Struct, frozen=True):
    """A text and how it is meant."""

    kind: PieceKind
    text: str


class Line(Struct, frozen=True):
    """The pieces of one line, and how far it is set in."""

    pieces: tuple[Piece, ...]
    level: int = 0


class ReviewSection(Struct, frozen=True):
    """A part of the review with its title.

    `diagram` is a drawing in Mermaid, `wordings` are old and new texts in full, where the format can show them.
    """

    title: str
    lines: tuple[Line, ...]
    diagram: str = ""
    wordings: tuple[Wording, ...] = ()


def line(*pieces: Piece | str, level: int = 0) -> Line:
    """Return a line; a bare text is words of ours."""
    return Line(tuple(plain(one) if isinstance(one, str) else one for one in pieces), level)


def plain(text: str) -> Piece:
    """Return words of ours."""
    return Piece(PieceKind.PLAIN, text)


def code(text: str) -> Piece:
    """Return an address, a path or a value."""
    return Piece(PieceKind.CODE, clipped(text))


def said(text: str) -> Piece:
    """Return words of a file."""
    return Piece(PieceKind.SAID, clipped(text))


def strong(text: str) -> Piece:
    """Return words that must not be missed."""
    return Piece(PieceKind.STRONG, text)


def dim(text: str) -> Piece:
    """Return words that may be passed over."""
    return Piece(PieceKind.DIM, text)


def clipped(text: str, longest: int = _LONGEST) -> str:
    """Return a text in one line that shows every character, cut where it is very long."""
    flat = visible(" ".join(text.split()))
    return flat if len(flat) <= longest else f"{flat[:longest]}…"


def name_of(ref: Ref) -> tuple[Piece, ...]:
    """Return an entry's type, address and title."""
    return plain(f"{ref.type} "), code(ref.address), plain(" “"), said(ref.title), plain("”")


def owners_of(ref: Ref) -> tuple[Piece, ...]:
    """Return who owns an entry, if anybody does."""
    return (plain(", owned by "), said(", ".join(ref.owners))) if ref.owners else (plain(", owned by nobody"),)


def shown_words(spans: Sequence[Span]) -> tuple[Piece, ...]:
    """Return the pieces of a changed text; kept words far from a change, and very many changed ones, are left out."""
    return tuple(_pieces(spans))


def _pieces(spans: Sequence[Span]) -> Iterator[Piece]:
    room = _MOST
    for number, span in enumerate(spans):
        words = span.text.replace("\n\n", " ¶ ").split()
        if number:
            yield Piece(PieceKind.PLAIN, " ")
        if span.mark == " ":
            yield Piece(PieceKind.SAID, _around(words, is_first=number == 0, is_last=number == len(spans) - 1))
            continue
        if len(words) > room:
            left = sum(len(one.text.split()) for one in spans[number:] if one.mark != " ") - room
            if room:
                yield _changed(span.mark, words[:room])
            yield Piece(PieceKind.DIM, f" … {count(left, 'changed word')} more")
            return
        room -= len(words)
        yield _changed(span.mark, words)


def _changed(mark: str, words: list[str]) -> Piece:
    return Piece(_KINDS[mark], visible(" ".join(words)))


def _around(words: list[str], *, is_first: bool, is_last: bool) -> str:
    if is_first and len(words) > _AROUND:
        words = ["…", *words[-_AROUND:]]
    elif is_last and len(words) > _AROUND:
        words = [*words[:_AROUND], "…"]
    elif len(words) > 2 * _AROUND + 1:
        words = [*words[:_AROUND], "…", *words[-_AROUND:]]
    return visible(" ".join(words))
