"""The body of an imported entry: its source's, without what became front matter, its links leading where they led."""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import accumulate

from msgspec import Struct

from mdmem.checks.fixes.links import relative
from mdmem.exchange.markers import with_whole_labels
from mdmem.exchange.record import Claim, Cut, ForeignRecord
from mdmem.exchange.references import References
from mdmem.markdown.links import BodyLink, body_links, image_links
from mdmem.markdown.parse import without_code

_BLANK = re.compile(r"\A(?:[ \t]*\r?\n)+")
_BLANK_ABOVE = re.compile(r"\n[ \t]*\r?\n\Z")
# No blank line is longer.
_NEAR = 1000
_WORDS = re.compile(r"[ \t]*\|")
# Where a part of a body begins and ends, and what takes its place; None where nothing does.
_Edit = tuple[int, int, str | None]


class Body(Struct, frozen=True):
    """A body as it is written, and sentences about links that lead nowhere, or out of the project."""

    text: str
    said: tuple[str, ...]


def rewritten(
    record: ForeignRecord, path: str, references: References, *, place: Callable[[str], str], cuts: Collection[Cut]
) -> Body:
    """Return the body for an entry at a path of the root without some parts; `place` counts one from the project's top.

    Links in the parts that are cut are not looked at.
    """
    prose = with_whole_labels(without_code(record.body))
    links = [*body_links(prose), *image_links(prose)]
    edits: list[_Edit] = sorted((cut.start, cut.end, None) for cut in cuts)
    starts = [start for start, *_ in edits]
    ends = [0, *accumulate((end for _, end, _ in edits), max)]
    said: dict[str, None] = {}
    for link in links:
        if link.offset < ends[bisect_right(starts, link.offset)]:
            continue
        text, why = _new_link(record, link, path, references, place)
        if text is not None:
            edits.append((link.offset, link.offset + link.width, text))
        if why:
            said[why] = None
    edits.sort(key=lambda edit: edit[:2])
    return Body(_BLANK.sub("", _edited(record.body, edits)), tuple(said))


def _edited(body: str, edits: Sequence[_Edit]) -> str:
    """Return a body with other texts in some places, in their order; what is cut takes blank lines behind it along."""
    # From the end on, the last part first: each part is looked at once.
    parts: list[str] = []
    end, first = len(body), len(body) - len(body.lstrip())
    for start, past, text in reversed(edits):
        parts.append(body[past:end])
        if text is not None:
            parts.append(text)
        elif start <= first or _BLANK_ABOVE.search(body[max(0, start - _NEAR) : start]):
            _drop_blank(parts)
        end = start
    return "".join([body[:end], *reversed(parts)])


def _drop_blank(parts: list[str]) -> None:
    """Take the blank lines at the beginning away, of parts of which the first is the last."""
    while len(parts) > 1 and not parts[-1].strip(" \t\r\n"):
        last = parts.pop()
        parts[-1] = last + parts[-1]
    if parts:
        parts[-1] = _BLANK.sub("", parts[-1])


def _new_link(
    record: ForeignRecord, link: BodyLink, path: str, references: References, place: Callable[[str], str]
) -> tuple[str | None, str]:
    """Return what a link has to say from its new place, None where it stays, and what is to be said of it."""
    written = record.body[link.offset : link.offset + link.width]
    if not link.is_path:
        return _new_name(record, link, references)
    if not link.target or link.target.startswith("/"):
        return None, ""
    target = posixpath.normpath(posixpath.join(record.source.folder, link.target))
    if target == ".." or target.startswith("../"):
        return None, f"`{written}` leads out of the project, and stays as it is"
    address = references.by_path.get(target)
    return relative(place(f"{address}.md") if address else target, place(path), written), ""


def _new_name(record: ForeignRecord, link: BodyLink, references: References) -> tuple[str | None, str]:
    """Return the address that a wiki link means, with the words that it showed."""
    at = link.offset
    while at and record.body[at - 1] in " \t":
        at -= 1
    if not record.body.endswith("[[", 0, at):
        return None, ""
    meant = references.named(link.target, record.source.folder)
    if len(meant) != 1 and link.target.isdigit():
        # A list within a list, or a footnote.
        return None, ""
    if len(meant) != 1:
        why = f"may mean {' or '.join(meant)}" if meant else "names no record that is imported"
        return None, f"`[[{link.target}]]` {why}, and stays as it is"
    has_words = _WORDS.match(record.body, link.offset + link.width) is not None
    return meant[0] if has_words else f"{meant[0]}|{link.target}", ""


def carried(cuts: Iterable[Cut], lost: Collection[Claim]) -> Iterator[Cut]:
    """Yield the parts of a body that are in the front matter, each of their claims being carried over."""
    for cut in cuts:
        if any(claim in lost for claim in cut.claims):
            yield from carried(cut.parts, lost)
        else:
            yield cut
