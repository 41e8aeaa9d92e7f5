"""Find the record that a link means, and write the body of an imported entry with updated links."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterable

from mdmem.checks.fixes import relative
from mdmem.exchange.record import Claim, Cut, ForeignRecord, with_whole_labels
from mdmem.markdown.parse import BodyLink, body_links, image_links, without_code

# Words that may come before the number of a record.
_RECORD = r"(?:adrs?|madr|rfc|ad|dec|[a-z]{1,3}dr|decisions?|records?)"
_STEM_NUMBER = re.compile(
    rf"(?!\d{{4}}-\d\d-\d\d)(?:{_RECORD}[-_ ]*(?:[a-z]{{1,10}}[-_])?)?0*(\d{{1,6}})(?=[-_. ]|\Z)", re.I
)
_NUMBER = re.compile(rf"(?:(?:{_RECORD}|no|nr|number)[\s_#:.-]*)*#?0*(\d{{1,6}})\Z", re.IGNORECASE)


def number_of(stem: str) -> int | None:
    """Return the number at the start of a file name, or None. A date is not a number."""
    found = _STEM_NUMBER.match(stem)
    return int(found[1]) if found else None


class References:
    """An index of records by path, number, slug and title. `by_path` maps the path of each source to the address."""

    def __init__(self) -> None:
        """Create an empty index."""
        self.by_path: dict[str, str] = {}
        # Each value is the address of a record and the folder of its source.
        self._by_name: dict[str, list[tuple[str, str]]] = {}
        self._by_number: dict[int, list[tuple[str, str]]] = {}

    def add(self, address: str, path: str, names: Iterable[str], number: int | None) -> None:
        """Add a record with the path of its source, the names that other records may use for it, and its number."""
        one = (address, posixpath.dirname(path))
        self.by_path.setdefault(path, address)
        for name in {_plain(name) for name in (*names, _stem(path)) if name}:
            self._by_name.setdefault(name, []).append(one)
        if number is not None:
            self._by_number.setdefault(number, []).append(one)

    def named(self, name: str, folder: str) -> tuple[str, ...]:
        """Return the addresses that a name, slug or number may mean. Records in the same folder take precedence."""
        plain, number = _plain(name), _NUMBER.match(name.strip())
        found = self._by_name.get(plain) or (self._by_number.get(int(number[1]), []) if number else [])
        near = [address for address, place in found if place == folder]
        return tuple(dict.fromkeys(near or (address for address, _ in found)))

    def meant(self, claim: Claim, folder: str) -> tuple[str, ...]:
        """Return the addresses that the target of a claim may mean, seen from `folder`. A single address is certain."""
        if not claim.is_path:
            return self.named(claim.target, folder)
        path = posixpath.normpath(posixpath.join(folder, claim.target.lstrip("/") if folder == "" else claim.target))
        address = self.by_path.get(path) or self.by_path.get(f"{path}.md") or self.by_path.get(claim.target.lstrip("/"))
        if address:
            return (address,)
        # The title of a record may change, but its number stays.
        number = number_of(_stem(path))
        renamed = self._by_number.get(number, []) if number is not None else []
        in_folder = tuple(address for address, place in renamed if place == posixpath.dirname(path))
        return self.named(_stem(claim.target), folder) or in_folder


def _stem(path: str) -> str:
    stem, _, ending = posixpath.basename(path).rpartition(".")
    return stem if stem and ending.isalpha() else posixpath.basename(path)


def _plain(name: str) -> str:
    return " ".join(re.sub(r"[-_\s]+", " ", name.casefold()).split())


# Stands for a part that was cut. No text that was read from a file contains a lone surrogate.
_CUT = "\udfff"
# A cut paragraph takes the blank lines after it along.
_CUT_BELOW_BLANK = re.compile(rf"(\A|\n[ \t]*\r?\n)(?:{_CUT}(?:[ \t]*\r?\n)*)+")
# Blanks inside of brackets are assumed to be fewer than this.
_NEAR = 1000
_SHOWN_WORDS = re.compile(r"[ \t]*\|")
# Start and end of a part of the body, the new text (None to cut the part), and a message.
_Edit = tuple[int, int, str | None, str]


def write_body(
    record: ForeignRecord, references: References, *, place: Callable[[str], str], cuts: Collection[Cut]
) -> tuple[str, tuple[str, ...]]:
    """Return the body for a record's entry, and messages about broken links.

    `place` converts a path relative to the root into a path relative to the top of the project. Cutting a paragraph
    also cuts the blank lines after it.
    """
    prose = with_whole_labels(without_code(record.body))
    edits: list[_Edit] = [(cut.start, cut.end, None, "") for cut in cuts]
    edits += (_new_link(record, link, references, place) for link in (*body_links(prose), *image_links(prose)))
    parts: list[str] = []
    messages: dict[str, None] = {}
    at = 0
    for start, end, text, message in sorted(edits, key=lambda edit: edit[0]):
        if start >= at:
            parts += (record.body[at:start], _CUT if text is None else text)
            at = end
            messages |= {message: None} if message else {}
    body = _CUT_BELOW_BLANK.sub(r"\1", "".join([*parts, record.body[at:]])).replace(_CUT, "")
    return re.sub(r"\A(?:[ \t]*\r?\n)+", "", body), tuple(messages)


def _new_link(record: ForeignRecord, link: BodyLink, references: References, place: Callable[[str], str]) -> _Edit:
    """Return the edit for a link, with a message if it is broken; a wiki link keeps its old text as words to show."""
    end = link.offset + link.width
    written = record.body[link.offset : end]
    text, message = written, ""
    if link.is_path and link.target and not link.target.startswith("/"):
        target = posixpath.normpath(posixpath.join(record.source.folder, link.target))
        if target == ".." or target.startswith("../"):
            message = f"`{written}` leads out of the project, and is unchanged"
        else:
            address = references.by_path.get(target)
            text = relative(place(f"{address}.md") if address else target, place(f"{record.address}.md"), written)
    # Without `[[` directly before it, the text is a list inside a list, or a footnote.
    elif not link.is_path and record.body[max(0, link.offset - _NEAR) : link.offset].rstrip(" \t").endswith("[["):
        meant = references.named(link.target, record.source.folder)
        if len(meant) == 1:
            text = meant[0] if _SHOWN_WORDS.match(record.body, end) else f"{meant[0]}|{link.target}"
        elif not link.target.isdigit():
            why = f"may mean {' or '.join(meant)}" if meant else "matches no imported record"
            message = f"`[[{link.target}]]` {why}, and is unchanged"
    return link.offset, end, text, message
