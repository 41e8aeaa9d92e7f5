"""A review as Markdown, for a comment on a change or the summary of a CI job."""

from __future__ import annotations

from collections.abc import Sequence

from mdmem.change.review_report import ReviewReport
from mdmem.render.markdown import code, prose
from mdmem.render.review.bodies import FileLinks, folded
from mdmem.render.review.pieces import Line, Piece, PieceKind, ReviewSection, clipped
from mdmem.render.review.sections import headline, sections

MARKER = "<!-- mdmem diff -->"
"""By this first line a comment is found again, so that it is updated instead of followed by another one."""

# A comment on GitHub holds 65,536 characters.
LIMIT = 65_000
# Deeper lists than this are read as code by some, and by nobody.
_DEEPEST = 8
_CUT = "- {} more lines left out; `mdmem diff` shows all."


def review_markdown(
    review: ReviewReport,
    links: FileLinks = FileLinks(),  # noqa: B008  # frozen
    *,
    page: str | None = None,
) -> str:
    """Return the review in 65,000 characters at most; where lines are left out, their part says so.

    Nothing that is quoted from a file is read as markup, a link, a mention or a reference.
    """
    head = [
        MARKER,
        f"## mdmem diff: {headline(review)}",
        f"{code(clipped(review.before))} → {code(clipped(review.after))}",
    ]
    head += [f"**{prose(clipped(remark))}**" for remark in review.remarks]
    head += [f"[The page of this change]({page})"] if page is not None else []
    told = sections(review)
    blocks = [[f"### {prose(section.title)}\n", *map(_line, section.lines)] for section in told]
    folds = [[*(folded(one, links) for one in section.wordings), _diagram(section)] for section in told]
    room = LIMIT - sum(len(one) + 2 for one in head)
    allotted = _shares([_size(block) for block in blocks], room)
    parts = [_fitting(block, share) for block, share in zip(blocks, allotted, strict=True)]
    left = room - sum(len(part) + 2 for part in parts)
    for number, fold in ((number, fold) for number, some in enumerate(folds) for fold in some):
        # A body that holds the marker is not to be taken for the comment.
        shown = fold.replace(MARKER, MARKER.replace("-->", "-- >"))
        if shown and len(shown) + 2 <= left:
            parts[number] += f"\n\n{shown}"
            left -= len(shown) + 2
    return "\n\n".join([*head, *(part for part in parts if part)])


def _diagram(section: ReviewSection) -> str:
    if not section.diagram:
        return ""
    return f"<details><summary>As a diagram</summary>\n\n```mermaid\n{section.diagram}\n```\n\n</details>"


def _line(one: Line) -> str:
    return "  " * min(one.level, _DEEPEST) + "- " + "".join(map(_piece, one.pieces))


def _piece(piece: Piece) -> str:
    if not piece.text.strip():
        return piece.text
    if piece.kind is PieceKind.CODE:
        return code(piece.text)
    if piece.kind is PieceKind.ADDED:
        return f"<ins>{prose(piece.text)}</ins>"
    if piece.kind is PieceKind.REMOVED:
        return f"<del>{prose(piece.text)}</del>"
    text = prose(piece.text)
    return _strong(text) if piece.kind is PieceKind.STRONG else text


def _strong(text: str) -> str:
    # Stars beside a blank mark nothing.
    inner = text.strip()
    return text.replace(inner, f"**{inner}**", 1)


def _size(block: Sequence[str]) -> int:
    return sum(len(line) + 1 for line in block) + 2


def _shares(sizes: Sequence[int], room: int) -> list[int]:
    """Return how much of the room each part gets: what it needs, and of what is short an equal share."""
    found = [0] * len(sizes)
    order = sorted(range(len(sizes)), key=lambda number: sizes[number])
    for rank, number in enumerate(order):
        found[number] = min(sizes[number], room // (len(order) - rank))
        room -= found[number]
    return found


def _fitting(block: Sequence[str], share: int) -> str:
    """Return the lines that fit, and how many do not."""
    if _size(block) <= share:
        return "\n".join(block)
    kept: list[str] = []
    room = share - len(_CUT.format(len(block))) - 3
    for line in block:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    return "\n".join([*kept, _CUT.format(len(block) - len(kept))])
