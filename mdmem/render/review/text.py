"""A review for a terminal."""

from __future__ import annotations

from mdmem.change.review_report import ReviewReport
from mdmem.render.ink import Ink
from mdmem.render.review.pieces import Line, Piece, PieceKind, clipped
from mdmem.render.review.sections import headline, sections


def review_text(review: ReviewReport, ink: Ink) -> str:
    """Return the review, a part after the other; without colour, words put in stand in `{+ +}`, others in `[- -]`."""
    head = [f"{ink.bold(clipped(review.before))} → {ink.bold(clipped(review.after))}", headline(review)]
    head += [ink.warn(clipped(remark)) for remark in review.remarks]
    parts = ["\n".join(head)]
    for section in filter(lambda one: one.lines, sections(review)):
        lines = [_line(one, ink) for one in section.lines]
        parts.append("\n".join([ink.bold(section.title), *lines]))
    return "\n\n".join(parts)


def _line(one: Line, ink: Ink) -> str:
    return "  " * (one.level + 1) + "".join(_piece(piece, ink) for piece in one.pieces)


def _piece(piece: Piece, ink: Ink) -> str:
    if piece.kind is PieceKind.ADDED:
        return ink.added(f"{{+{piece.text}+}}")
    if piece.kind is PieceKind.REMOVED:
        return ink.removed(f"[-{piece.text}-]")
    paint = {PieceKind.CODE: ink.bold, PieceKind.STRONG: ink.warn, PieceKind.DIM: ink.dim}.get(piece.kind)
    return paint(piece.text) if paint is not None and piece.text else piece.text
