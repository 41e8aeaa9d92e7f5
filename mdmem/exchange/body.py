"""Write the body of an imported entry: without the parts that became front matter, and with adapted links."""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import accumulate

from mdmem.checks.fixes.links import relative
from mdmem.exchange.record import Claim, Cut, ForeignRecord
from mdmem.exchange.references import References
from mdmem.exchange.text import with_whole_labels
from mdmem.markdown.links import BodyLink, body_links, image_links
from mdmem.markdown.parse import without_code

_BLANK = re.compile(r"\A(?:[ \t]*\r?\n)+")
_BLANK_ABOVE = re.compile(r"\n[ \t]*\r?\n\Z")
# No blank line is longer.
_NEAR = 1000
_SHOWN_WORDS = re.compile(r"[ \t]*\|")
# Start and end of a part of the body, and the text that replaces it; None for a cut.
_Edit = tuple[int, int, str | None]


def cuts_to_make(cuts: Iterable[Cut], lost: Collection[Claim]) -> Iterator[Cut]:
    """Yield the cuts whose claims were all resolved."""
    for cut in cuts:
        if any(claim in lost for claim in cut.claims):
            yield from cuts_to_make(cut.parts, lost)
        else:
            yield cut


def write_body(
    record: ForeignRecord, path: str, references: References, *, place: Callable[[str], str], cuts: Collection[Cut]
) -> tuple[str, tuple[str, ...]]:
    """Return the body for an entry at a path, and messages about links that lead nowhere.

    `place` turns a path from the root into one from the top of the project.
    """
    prose = with_whole_labels(without_code(record.body))
    edits: list[_Edit] = sorted((cut.start, cut.end, None) for cut in cuts)
    starts = [start for start, *_ in edits]
    ends = [0, *accumulate((end for _, end, _ in edits), max)]
    said: dict[str, None] = {}
    for link in (*body_links(prose), *image_links(prose)):
        if link.offset < ends[bisect_right(starts, link.offset)]:
            continue
        text, why = _new_link(record, link, path, references, place)
        if text is not None:
            edits.append((link.offset, link.offset + link.width, text))
        if why:
            said[why] = None
    edits.sort(key=lambda edit: edit[:2])
    return _BLANK.sub("", _edited(record.body, edits)), tuple(said)


def _edited(body: str, edits: Sequence[_Edit]) -> str:
    """Return a body after some edits in order; a cut paragraph takes the blank lines after it along."""
    # The parts are collected from the end on, so that each is visited once.
    parts: list[str] = []
    end, first = len(body), len(body) - len(body.lstrip())
    for start, past, text in reversed(edits):
        parts.append(body[past:end])
        if text is not None:
            parts.append(text)
        elif start <= first or _BLANK_ABOVE.search(body[max(0, start - _NEAR) : start]):
            _drop_blank_start(parts)
        end = start
    return "".join([body[:end], *reversed(parts)])


def _drop_blank_start(parts: list[str]) -> None:
    """Remove the blank lines at the start of a text whose parts are listed from its end on."""
    while len(parts) > 1 and not parts[-1].strip(" \t\r\n"):
        last = parts.pop()
        parts[-1] = last + parts[-1]
    if parts:
        parts[-1] = _BLANK.sub("", parts[-1])


def _new_link(
    record: ForeignRecord, link: BodyLink, path: str, references: References, place: Callable[[str], str]
) -> tuple[str | None, str]:
    """Return the new text of a link, None if it stays, and a message if it leads nowhere."""
    if not link.is_path:
        return _new_wiki_link(record, link, references)
    if not link.target or link.target.startswith("/"):
        return None, ""
    written = record.body[link.offset : link.offset + link.width]
    target = posixpath.normpath(posixpath.join(record.source.folder, link.target))
    if target == ".." or target.startswith("../"):
        return None, f"`{written}` leads out of the project, and is unchanged"
    address = references.by_path.get(target)
    return relative(place(f"{address}.md") if address else target, place(path), written), ""


def _new_wiki_link(record: ForeignRecord, link: BodyLink, references: References) -> tuple[str | None, str]:
    """Return the address that a wiki link means, with its old text as the words to show."""
    at = link.offset
    while at and record.body[at - 1] in " \t":
        at -= 1
    if not record.body.endswith("[[", 0, at):
        return None, ""
    meant = references.named(link.target, record.source.folder)
    if len(meant) == 1:
        has_words = _SHOWN_WORDS.match(record.body, link.offset + link.width) is not None
        return meant[0] if has_words else f"{meant[0]}|{link.target}", ""
    if link.target.isdigit():
        # A list within a list, or a footnote.
        return None, ""
    why = f"may mean {' or '.join(meant)}" if meant else "matches no imported record"
    return None, f"`[[{link.target}]]` {why}, and is unchanged"
