"""What stands at each place of a document: keys, values, addresses, globs; also while the front matter is broken."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from enum import StrEnum, auto
from functools import lru_cache

from msgspec import Struct

from mdmem.markdown.fields import FENCE, has_front_matter
from mdmem.markdown.links import BodyLink, body_links
from mdmem.markdown.parse import SIZE_LIMIT, without_code
from mdmem.model.fields import FIELDS
from mdmem.model.kinds import Kind
from mdmem.store.catalog.addresses import full_address
from mdmem.store.catalog.links import reference_of
from mdmem.store.catalog.model import Catalog


class SpotKind(StrEnum):
    """What a part of a document is to who points at it."""

    KEY = auto()
    VALUE = auto()
    ADDRESS = auto()
    GLOB = auto()
    WING = auto()
    CODE = auto()


class Spot(Struct, frozen=True):
    """A part of a text, in characters, and what is meant there; `key` is its field, empty in the body.

    `is_path` says that an address is written as a file, relative to the entry's.
    """

    kind: SpotKind
    start: int
    end: int
    text: str
    key: str = ""
    is_path: bool = False


class FieldSpan(Struct, frozen=True):
    """A key of a front matter with all that belongs to it: from the start of its line to the line of the next key."""

    key: Spot
    start: int
    end: int
    items: tuple[Spot, ...]


class TextParts(Struct, frozen=True):
    """A text as its parts: the fields of the front matter, where that begins and ends, and what the body links."""

    fields: tuple[FieldSpan, ...] = ()
    front: tuple[int, int] | None = None
    body: int = 0
    links: tuple[Spot, ...] = ()

    @property
    def spots(self) -> Iterator[Spot]:
        """Yield everything that has a meaning, in order."""
        for field in self.fields:
            yield field.key
            yield from field.items
        yield from self.links

    @property
    def addresses(self) -> Iterator[Spot]:
        """Yield the addresses, in order."""
        return (spot for spot in self.spots if spot.kind is SpotKind.ADDRESS)

    def at(self, offset: int) -> Spot | None:
        """Return what stands at a character, the end of a word included."""
        return next((spot for spot in self.spots if spot.start <= offset <= spot.end), None)

    def field_at(self, offset: int) -> FieldSpan | None:
        """Return the field whose lines hold a character."""
        number = bisect_right(self.fields, offset, key=lambda field: field.start) - 1
        return self.fields[number] if number >= 0 and offset < self.fields[number].end else None

    def is_in_front(self, offset: int) -> bool:
        """Say whether a character lies between the fences."""
        return self.front is not None and self.front[0] <= offset <= self.front[1]


# A key, or a word that may become one: neither belongs to the key above.
_KEY = re.compile(r"^(?P<indent> *)(?:(?P<key>[^\W\d][\w-]*)[ \t]*:(?=[ \t\r\n]|\Z)|\w)", re.MULTILINE)
_UNCLOSED = re.compile(r"^[ \t]*\r?$|\Z", re.MULTILINE)
_QUOTED = r"\"(?:[^\"\\\n]|\\.)*\"?|'(?:[^'\n]|'')*'?"
_QUOTE = re.compile(_QUOTED)
_COMMENT = r"(?:(?<=\s)|^)#[^\n]*"
# What stands between the brackets of a list, and what stands on a line of its own.
_IN_FLOW = re.compile(rf"(?P<none>{_COMMENT})|(?P<item>{_QUOTED}|[^\s,\[\]][^,\[\]\r\n]*)", re.MULTILINE)
_ON_LINE = re.compile(rf"(?P<none>{_COMMENT}|^[ \t]*-(?=[ \t\r\n]|\Z))|(?P<item>{_QUOTED}|[^\s][^\r\n]*)", re.MULTILINE)
_REMARK = re.compile(r"\s#.*\Z")
_TO = re.compile(rf"\bto[ \t]*:[ \t]+(?P<item>{_QUOTED}|[^\s,}}]+)")
_IGNORED = re.compile(r"(?:^[ \t]+|[{,][ \t]*)(?P<item>[a-z0-9]+(?:-[a-z0-9]+)*)[ \t]*:(?=[ \t\r\n]|\Z)", re.MULTILINE)
_KINDS = {field.name: field.kind for field in FIELDS}
_SPOT_OF = {
    Kind.LINKS: SpotKind.ADDRESS,
    Kind.RELATIONS: SpotKind.ADDRESS,
    Kind.GLOBS: SpotKind.GLOB,
    Kind.NAMES: SpotKind.WING,
    Kind.PAIRS: SpotKind.CODE,
}
_LISTS = frozenset({Kind.LINKS, Kind.GLOBS, Kind.NAMES, Kind.TEXTS})


# Several questions come at once about one version of a text: lenses, links, hints, a hover.
@lru_cache(maxsize=16)
def parts_of(text: str) -> TextParts:
    """Return the parts of a text; none of one that is too long for an entry.

    It reads what YAML refuses, too: while somebody types, most front matters are broken.
    """
    if len(text) > SIZE_LIMIT:
        return TextParts()
    mark = text.startswith("\ufeff")
    if not has_front_matter(text[mark : mark + 5]):
        return TextParts(links=tuple(_links(text, 0)))
    start = text.find("\n") + 1 or len(text)
    fence = FENCE.search(text, start)
    # What is not closed yet ends at the first blank line.
    end = fence.start() if fence else next(_UNCLOSED.finditer(text, start)).start()
    body = min(len(text), fence.end() + 1) if fence else end
    return TextParts(tuple(_fields(text, start, end)), (start, end), body, tuple(_links(text, body)))


def _links(text: str, body: int) -> Iterator[Spot]:
    for link in body_links(without_code(text[body:])):
        start = body + link.offset
        yield Spot(SpotKind.ADDRESS, start, start + link.width, link.target, is_path=link.is_path)


def _fields(text: str, start: int, end: int) -> Iterator[FieldSpan]:
    keys = list(_KEY.finditer(text, start, end))
    indent = len(keys[0]["indent"]) if keys else 0
    # What is further in belongs to the key above.
    keys = [key for key in keys if len(key["indent"]) <= indent]
    for number, key in enumerate(keys):
        behind = keys[number + 1].start() if number + 1 < len(keys) else end
        name = key["key"]
        if name is None:
            continue
        spot = Spot(SpotKind.KEY, *key.span("key"), name, name)
        yield FieldSpan(spot, key.start(), behind, tuple(_items(text, name, key.end(), behind)))


def _items(text: str, name: str, start: int, end: int) -> Iterator[Spot]:
    kind = _KINDS.get(name)
    spot = _SPOT_OF.get(kind, SpotKind.VALUE) if kind is not None else SpotKind.VALUE
    for first, last in _spans(text, kind, start, end):
        found = text[first:last]
        quote = found[0] if found[0] in "'\"" else ""
        found = found.rstrip() if quote else _REMARK.sub("", found).rstrip()
        last = first + len(found)
        first, last = first + len(quote), last - (bool(quote) and len(found) > 1 and found.endswith(quote))
        yield Spot(spot, first, last, text[first:last], name)


def _spans(text: str, kind: Kind | None, start: int, end: int) -> Iterator[tuple[int, int]]:
    if kind is Kind.RELATIONS or kind is Kind.PAIRS:
        pattern = _TO if kind is Kind.RELATIONS else _IGNORED
        yield from (found.span("item") for found in pattern.finditer(text, start, end))
    elif kind in _LISTS:
        pattern = _IN_FLOW if text[start:end].lstrip().startswith("[") else _ON_LINE
        yield from (found.span("item") for found in pattern.finditer(text, start, end) if found["item"])
    else:
        value = text[start:end]
        lead = len(value) - len(value.lstrip())
        quoted = _QUOTE.match(text, start + lead, end)
        if value.strip():
            yield start + lead, quoted.end() if quoted else start + len(value.rstrip())


def meant(spot: Spot, near: str, catalog: Catalog) -> str | None:
    """Return the address of the entry that an address in a text means; `near` is that of what holds it."""
    if spot.kind is not SpotKind.ADDRESS:
        return None
    if spot.key:
        return full_address(spot.text, near, catalog.entries)
    link = BodyLink(spot.text, spot.start, spot.end - spot.start, is_path=spot.is_path)
    return reference_of(link, near, catalog.entries).target
