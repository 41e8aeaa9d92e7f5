"""The body of an imported entry: its source's, without what became front matter, its links leading where they led."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterator

from mdmem.checks.fixes.links import relative
from mdmem.dataclass import dataclass
from mdmem.document.links import BodyLink, body_links, image_links
from mdmem.document.parse import without_code
from mdmem.exchange.record import Cut, ForeignRecord
from mdmem.exchange.references import References

_BLANK = re.compile(r"\A(?:[ \t]*\r?\n)+")


@dataclass(frozen=True, slots=True)
class Body:
    """A body as it is written, and sentences about links that lead nowhere, or out of the project."""

    text: str
    said: tuple[str, ...]


def rewritten(
    record: ForeignRecord, path: str, references: References, *, place: Callable[[str], str], cuts: Collection[Cut]
) -> Body:
    """Return the body for an entry at a path of the root without some parts; `place` counts one from the project's top.

    Links in the parts that are cut are not looked at.
    """
    prose = without_code(record.body)
    links = [*body_links(prose), *image_links(prose)]
    edits: list[tuple[int, int, str | None]] = [(cut.start, cut.end, None) for cut in cuts]
    said: dict[str, None] = {}
    for link in links:
        if any(cut.start <= link.offset < cut.end for cut in cuts):
            continue
        text, why = _new_link(record, link, path, references, place)
        if text is not None:
            edits.append((link.offset, link.offset + link.width, text))
        if why:
            said[why] = None
    body = record.body
    for start, end, text in sorted(edits, key=lambda edit: edit[:2], reverse=True):
        body = _without(body, start, end) if text is None else body[:start] + text + body[end:]
    return Body(_BLANK.sub("", body), tuple(said))


def _without(body: str, start: int, end: int) -> str:
    """Return a body without a part, and without the blank lines behind it where others stand before."""
    before, after = body[:start], body[end:]
    is_parted = not before.strip() or re.search(r"\n[ \t]*\r?\n\Z", before) is not None
    return before + (_BLANK.sub("", after) if is_parted else after)


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
    before = record.body[: link.offset].rstrip(" \t")
    if not before.endswith("[["):
        return None, ""
    meant = references.named(link.target, record.source.folder)
    if len(meant) != 1 and link.target.isdigit():
        # A list within a list, or a footnote.
        return None, ""
    if len(meant) != 1:
        why = f"may mean {' or '.join(meant)}" if meant else "names no record that is imported"
        return None, f"`[[{link.target}]]` {why}, and stays as it is"
    has_words = record.body[link.offset + link.width :].lstrip(" \t")[:1] == "|"
    return meant[0] if has_words else f"{meant[0]}|{link.target}", ""


def carried(record: ForeignRecord, lost: Collection[object]) -> Iterator[Cut]:
    """Yield the parts of a body that are in the front matter, each of their claims being carried over."""
    yield from (cut for cut in record.cuts if not any(claim in lost for claim in cut.claims))
