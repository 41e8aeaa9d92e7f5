"""Changed words with as much round them as is needed to see where they stand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mdmem.entry.model import visible
from mdmem.render.review.pieces import Piece, PieceKind
from mdmem.render.words import count
from mdmem.review.model import Span

# Words of context on each side of a change.
_AROUND = 8
# A rewritten page is read as a file; a review shows so many of the words taken out and put in.
_MOST = 600
_KINDS = {" ": PieceKind.SAID, "-": PieceKind.REMOVED, "+": PieceKind.ADDED}


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
