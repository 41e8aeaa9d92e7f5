"""Merge three versions of an entry, key by key.

Nothing is joined that a person has to decide: two statuses, or two successors, stay side by side between git's marks.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time
from enum import StrEnum
from itertools import pairwise
from typing import Any, Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from mdmem.markdown.fields import FrontMatterError, is_sequence
from mdmem.markdown.layout import Layout, UnpatchableError, apply_edits, content_end, layout_of, rank_of
from mdmem.markdown.parse import Document, handler, parse_document
from mdmem.markdown.patch import set_fields
from mdmem.model.fields import LISTS

_HUNK = re.compile(
    rb"^<{7}(?: [^\r\n]*)?\r?\n"
    rb"(?P<ours>(?:(?!<{7}[ \r\n])[^\n]*\n)*?)"
    rb"(?:\|{7}(?: [^\r\n]*)?\r?\n(?:(?!<{7}[ \r\n])[^\n]*\n)*?)?"
    rb"={7}\r?\n"
    rb"(?P<theirs>(?:(?!<{7}[ \r\n])[^\n]*\n)*?)"
    rb">{7}(?: [^\r\n]*)?(?:\r?\n|\Z)",
    re.MULTILINE,
)
_LABELS = re.compile(rb"^<{7} ([^\r\n]+)\r?\n(?:[^\n]*\n)*?^>{7} ([^\r\n]+)", re.MULTILINE)


class ConflictSide(StrEnum):
    """One of the two sides of a merge, as git names them."""

    OURS = "ours"
    THEIRS = "theirs"


class Marks(Struct, frozen=True, kw_only=True):
    """How a conflict is marked: the names of the sides, the marks' width, and whether the ancestor is shown."""

    ours: str = "ours"
    base: str = "base"
    theirs: str = "theirs"
    width: int = 7
    shows_base: bool = False

    def hunk(self, ancestor: str, ours: str, theirs: str, *, line_break: str) -> str:
        """Return whole lines of both sides with git's marks around them."""
        base = (f"{'|' * self.width} {self.base}{line_break}", ancestor) if self.shows_base else ()
        parts = (
            *(f"{'<' * self.width} {self.ours}{line_break}", ours),
            *base,
            *(f"{'=' * self.width}{line_break}", theirs),
            f"{'>' * self.width} {self.theirs}{line_break}",
        )
        return "".join(parts)


def has_hunks(content: bytes) -> bool:
    """Say whether a file holds a conflict with all its marks."""
    return b"<<<<<<<" in content and _HUNK.search(content) is not None


def take_side(content: bytes, side: ConflictSide) -> bytes:
    """Return a file with one side of every conflict in it; everything else stays as it is."""
    return _HUNK.sub(lambda found: found[side.value], content)


def labels_of(content: bytes) -> tuple[str, str] | None:
    """Return what the first conflict of a file calls its sides, or None."""
    found = _LABELS.search(content)
    return (found[1].decode("utf-8", "replace"), found[2].decode("utf-8", "replace")) if found else None


Thing = TypeVar("Thing")
Made = TypeVar("Made")


class Sides(Struct, Generic[Thing], frozen=True):
    """The ancestor, ours and theirs."""

    ancestor: Thing
    ours: Thing
    theirs: Thing

    def map(self, make: Callable[[Thing], Made]) -> Sides[Made]:
        """Return what is made of each."""
        return Sides(make(self.ancestor), make(self.ours), make(self.theirs))

    def agreed(self) -> tuple[Thing] | None:
        """Return the version that holds, alone in a tuple, where at most one side changed it; None where both did."""
        if self.ours == self.theirs or self.ancestor == self.theirs:
            return (self.ours,)
        return (self.theirs,) if self.ancestor == self.ours else None


class DocumentPart(Struct, frozen=True):
    """One key as it is written: what stands above it, its own lines, what it means, and the comments in its lines."""

    name: str
    above: str
    lines: str
    value: Any
    comments: frozenset[str]
    items: tuple[str, ...] | None = None

    @property
    def text(self) -> str:
        """Return everything that goes where the key goes."""
        return self.above + self.lines


class DocumentParts(Struct, frozen=True):
    """A document in the order in which it is written; `tail` stands between the last key and the closing fence."""

    document: Document
    opening: str
    keys: Mapping[str, DocumentPart]
    tail: str
    closing: str
    body: str


def parts_of(document: Document) -> DocumentParts:
    """Return the parts of a document; raises UnpatchableError where its keys do not stand on lines of their own."""
    layout = layout_of(document)
    front, body = handler().split(document.text)
    keys, end = {}, 0
    for name in layout.fields:
        start, behind = layout.lines(name)
        keys[name] = _part(layout, name, front[end:start])
        end = behind
    closing = document.text[layout.offset + len(front) : len(document.text) - len(body)]
    return DocumentParts(document, f"---{layout.opening}", keys, front[end:], closing, body)


def part_of(document: Document, name: str) -> DocumentPart | None:
    """Return one key of a document, with nothing above it."""
    layout = layout_of(document)
    return _part(layout, name, "") if name in layout.fields else None


def _part(layout: Layout, name: str, above: str) -> DocumentPart:
    start, end = layout.lines(name)
    comments = frozenset(layout.comments(name))
    return DocumentPart(name, above, layout.front[start:end], layout.fields[name], comments, _items(layout, name, end))


def _items(layout: Layout, name: str, end: int) -> tuple[str, ...] | None:
    """Return the source of a block list: the key's own line, then the lines of each item, comments above included."""
    node = layout.fields.nodes(name)[1]
    if not is_sequence(node) or node.flow_style or None in layout.fields[name]:
        return None
    first = layout.next_line(layout.colon(name))
    ends = [layout.next_line(content_end(layout.front, item)) for item in node.value]
    places = [layout.line_start(layout.fields.nodes(name)[0].start_mark.index), first, *ends]
    is_sound = places == sorted(set(places)) and ends[-1] == end
    return tuple(layout.front[a:b] for a, b in pairwise(places)) if is_sound else None


# What replaced an entry is a decision, not a collection: two answers are never joined.
_DECIDED = frozenset({"superseded_by"})
# The order of these says something, so that only additions can be joined.
_ORDERED = frozenset({"repeatable_steps", "shared_wings"})
# Each says when something was last done, so that the later one holds.
_LATEST = frozenset({"verified_at", "editorial_at", "last_hygiene_at"})


class TornKey(Struct, frozen=True):
    """A key that both sides changed in ways that no rule can join."""

    name: str
    sides: Sides[DocumentPart | None]


def merge_key(
    name: str, sides: Sides[DocumentPart | None], documents: Sides[Document]
) -> DocumentPart | TornKey | None:
    """Return a key as both sides mean it, None where it is removed, and what is torn where they contradict."""
    one = sides.agreed()
    if one is not None:
        return one[0]
    merged = _Key(name, sides, documents)
    return merged.joined() if merged.is_list else merged.chosen()


class _Key(Struct, frozen=True):
    """One key that both sides changed."""

    name: str
    sides: Sides[DocumentPart | None]
    documents: Sides[Document]

    @property
    def is_list(self) -> bool:
        if self.name in _DECIDED:
            return False
        there = [one for one in (self.sides.ancestor, self.sides.ours, self.sides.theirs) if one is not None]
        if self.name in LISTS:
            return not any(isinstance(one.value, dict) for one in there)
        return all(isinstance(one.value, list) for one in there)

    def torn(self) -> TornKey:
        return TornKey(self.name, self.sides)

    def chosen(self) -> DocumentPart | TornKey:
        """Return the one value that holds; torn where each side has its own."""
        ancestor, ours, theirs = self.sides.ancestor, self.sides.ours, self.sides.theirs
        if ours is None or theirs is None:
            return self.torn()
        meant = self.sides.map(self._meaning)
        one = meant.agreed() or self._later(ours, theirs)
        if one is None:
            return self.torn()
        return self._written(one[0], [part for part in (ours, theirs) if self._meaning(part) == one[0]], ancestor)

    def _meaning(self, part: DocumentPart | None) -> Any:
        if part is None or self.name not in LISTS:
            return part and part.value
        items = _listed(part)
        # Of the successors of an entry none is the first.
        return sorted(items) if all(isinstance(item, str) for item in items) else items

    def _later(self, ours: DocumentPart, theirs: DocumentPart) -> tuple[Any] | None:
        if self.name not in _LATEST:
            return None
        moments = [(_moment(part.value), len(str(part.value)), part.value) for part in (ours, theirs)]
        return None if any(moment is None for moment, _, _ in moments) else (max(moments)[2],)

    def _written(
        self, value: Any, meaning_it: Sequence[DocumentPart], ancestor: DocumentPart | None
    ) -> DocumentPart | TornKey:
        """Return a value in the words of a side that means it, or of the other, so that no comment is lost."""
        candidates = [*meaning_it]
        if isinstance(value, str):
            candidates += [one for one in self._patched(value) if one is not None]
        return self._first(candidates, ancestor)

    def _patched(self, value: str | list[Any]) -> Iterator[DocumentPart | None]:
        """Yield the key as it looks in our file and in theirs with a value put in."""
        for document, part in ((self.documents.ours, self.sides.ours), (self.documents.theirs, self.sides.theirs)):
            if part is not None:
                yield _with_value(document, self.name, value)

    def joined(self) -> DocumentPart | TornKey | None:
        """Return a list with what each side added and without what either removed."""
        old, ours, theirs = (_listed(part) for part in (self.sides.ancestor, self.sides.ours, self.sides.theirs))
        if self.name in _ORDERED and not (_only_adds(old, ours) and _only_adds(old, theirs)):
            return self.torn()
        kept = [item for item in ours if item in theirs or item not in old]
        added = [item for item in theirs if item not in old and item not in ours]
        meant = [*kept, *added]
        if not meant:
            return self._none_left()
        found = [*self._from_items(kept, added), *self._patched(meant)]
        return self._first([one for one in found if one and _listed(one) == meant], self.sides.ancestor)

    def _none_left(self) -> TornKey | None:
        """Return None for a list that lost its last item, unless a comment would go with it that a side wrote."""
        there = [part for part in (self.sides.ours, self.sides.theirs) if part is not None]
        is_told = any(_new_comments(part, self.sides.ancestor) for part in there)
        above = {part.above for part in there} - {self.sides.ancestor.above if self.sides.ancestor else ""}
        return self.torn() if is_told or above else None

    def _from_items(self, kept: list[Any], added: list[Any]) -> Iterator[DocumentPart]:
        """Yield our block list with the lines of their items below it, comments and all."""
        ours, theirs = self.sides.ours, self.sides.theirs
        if ours is None or theirs is None or ours.items is None or theirs.items is None:
            return
        lines = [text for value, text in zip(ours.value, ours.items[1:], strict=True) if value in kept]
        lines += [text for value, text in zip(theirs.value, theirs.items[1:], strict=True) if value in added]
        text = "".join((ours.items[0], *lines))
        try:
            fields = handler().load(text)
        except FrontMatterError:
            return
        if list(fields) == [self.name]:
            document = parse_document("", f"---\n{text}---\n".encode())
            part = part_of(document, self.name)
            if part is not None:
                yield part

    def _first(self, candidates: Sequence[DocumentPart], ancestor: DocumentPart | None) -> DocumentPart | TornKey:
        """Return the first that holds every comment a side wrote, with what stands above the key."""
        ours, theirs = self.sides.ours, self.sides.theirs
        sides = [part for part in (ours, theirs) if part is not None]
        above = Sides(ancestor.above if ancestor else "", sides[0].above, sides[-1].above).agreed()
        wanted = frozenset[str]().union(*(_new_comments(part, ancestor) for part in sides))
        fit = next((one for one in candidates if wanted <= one.comments), None)
        return replace(fit, above=above[0]) if fit is not None and above is not None else self.torn()


def _new_comments(part: DocumentPart, ancestor: DocumentPart | None) -> frozenset[str]:
    return part.comments - (ancestor.comments if ancestor is not None else frozenset())


def _listed(part: DocumentPart | None) -> list[Any]:
    if part is None or part.value is None:
        return []
    return part.value if isinstance(part.value, list) else [part.value]


def _only_adds(old: Sequence[Any], new: Sequence[Any]) -> bool:
    """Say whether every old item is still there, in its order."""
    rest = iter(new)
    return all(item in rest for item in old)


def _with_value(document: Document, name: str, value: str | list[Any]) -> DocumentPart | None:
    try:
        patched = apply_edits(document.data, set_fields(document, {name: value}))
    except (UnpatchableError, TypeError):
        # Nested values are nothing that a patch can write.
        return None
    return part_of(parse_document(document.path, patched), name)


def _moment(text: Any) -> datetime | None:
    """Return the moment that a value means, a day's first one for a day; None for what is no date."""
    try:
        if len(text) == len("2026-11-21"):
            return datetime.combine(date.fromisoformat(text), time(), UTC)
        found = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


# What git makes of three texts: the result, and whether it holds a conflict.
MergeText = Callable[[Sides[bytes]], tuple[bytes, bool]]
_MANIFEST = "README.md"
BODY = "body"


class EntryMerge(Struct, frozen=True):
    """The merged bytes, and what is torn in them: keys by name, `body` for the text below.

    `is_plain` says that git merged the whole file as text, since a side could not be read as an entry.
    """

    content: bytes
    torn: tuple[str, ...] = ()
    is_plain: bool = False


def merge_entries(path: str, sides: Sides[bytes], *, merge_text: MergeText, marks: Marks | None = None) -> EntryMerge:
    """Return what both sides made of an entry; an empty ancestor is none: both added it.

    Raises what `merge_text` raises. Without a conflict the result parses to the fields that both sides meant; where
    that cannot be had, git merges the file as text.
    """
    one = sides.agreed()
    if one is not None:
        return EntryMerge(one[0])
    try:
        merging = _merging(path, sides)
    except UnpatchableError:
        merging = None
    outcome = merging.outcome(merge_text, marks or Marks()) if merging is not None else None
    if outcome is not None:
        return outcome
    content, is_torn = merge_text(sides)
    return EntryMerge(content, (BODY,) if is_torn else (), is_plain=True)


def _merging(path: str, sides: Sides[bytes]) -> _Merging | None:
    """Return the three versions taken apart; None where one is no entry and no manifest."""
    line_break = _line_break(sides)
    if line_break is not None:
        sides = sides.map(lambda content: content.replace(b"\r\n", b"\n"))
    ours, theirs = parse_document(path, sides.ours), parse_document(path, sides.theirs)
    ancestor = parse_document(path, sides.ancestor or f"---{_opening(ours)}---{_opening(ours)}".encode())
    documents = Sides(ancestor, ours, theirs)
    if not (_is_entry(ours) and _is_entry(theirs) and ancestor.fields is not None):
        return None
    return _Merging(documents, documents.map(parts_of), line_break, is_new=not sides.ancestor)


def _is_entry(document: Document) -> bool:
    fields = document.fields
    is_manifest = document.path.rsplit("/", 1)[-1] == _MANIFEST
    return fields is not None and (is_manifest or {"type", "status"} <= fields.keys())


def _opening(document: Document) -> str:
    return "\r\n" if document.text.startswith("---\r\n") else "\n"


def _line_break(sides: Sides[bytes]) -> bytes | None:
    """Return how the lines of the result end where a side converted them all; None where they stay as they are."""
    ends = sides.map(_ending)
    if None in (ends.ours, ends.theirs) or (sides.ancestor and ends.ancestor is None):
        return None
    if ends.ours == ends.theirs and ends.ancestor in (ends.ours, None):
        return None
    one = ends.agreed()
    return one[0] if one is not None else ends.ours


def _ending(content: bytes) -> bytes | None:
    """Return how every line of a file ends, None for one that mixes both."""
    both, lines = content.count(b"\r\n"), content.count(b"\n")
    if both == lines > 0:
        return b"\r\n"
    return None if both or not lines else b"\n"


class _Merging(Struct, frozen=True):
    """Three versions of an entry that can be read, taken apart; `line_break` is that of the result where it changes."""

    documents: Sides[Document]
    parts: Sides[DocumentParts]
    line_break: bytes | None
    is_new: bool

    def outcome(self, merge_text: MergeText, marks: Marks) -> EntryMerge | None:
        """Return the merged entry; None where the pieces put together do not mean what they should."""
        keys = self._keys()
        tail = self.parts.map(lambda one: one.tail).agreed()
        if tail is None:
            # Comments below the last key belong to no key that could be marked.
            return None
        body, is_torn = self._body(merge_text)
        if not all(self._means(keys, tail[0], side) for side in ConflictSide):
            return None
        front = "".join(self._shown(one, marks) for one in keys)
        torn = tuple(one.name for one in keys if isinstance(one, TornKey))
        closing = self._closing(has_body=bool(body))
        text = self._ours.opening.encode() + (front + tail[0] + closing).encode() + body
        return EntryMerge(self._finished(text), (*torn, *([BODY] if is_torn else [])))

    @property
    def _ours(self) -> DocumentParts:
        return self.parts.ours

    def _keys(self) -> list[DocumentPart | TornKey]:
        names = merged_order(self.parts.map(lambda one: tuple(one.keys)))
        merged = (
            merge_key(name, self.parts.map(lambda one, name=name: one.keys.get(name)), self.documents)  # type: ignore[misc]
            for name in names
        )
        return [one for one in merged if one is not None]

    def _body(self, merge_text: MergeText) -> tuple[bytes, bool]:
        bodies = self.parts.map(lambda one: one.body.encode())
        one = bodies.agreed()
        return (one[0], False) if one is not None else merge_text(bodies)

    def _closing(self, *, has_body: bool) -> str:
        one = self.parts.map(lambda parts: parts.closing).agreed()
        closing = one[0] if one is not None else self._ours.closing
        # A body needs its fence to end the line, and the side that has one brought such a fence.
        return closing if closing.endswith("\n") or not has_body else f"---{_opening(self._ours.document)}"

    def _shown(self, one: DocumentPart | TornKey, marks: Marks) -> str:
        if isinstance(one, DocumentPart):
            return one.text
        there = [part for part in (one.sides.ours, one.sides.theirs) if part is not None]
        # What both have above the key is no part of their conflict.
        shared = there[0].above if len({part.above for part in there}) == 1 and len(there) == 2 else ""
        texts = one.sides.map(lambda part: part.text.removeprefix(shared) if part is not None else "")
        line_break = _opening(self._ours.document)
        return shared + marks.hunk(texts.ancestor, texts.ours, texts.theirs, line_break=line_break)

    def _means(self, keys: Sequence[DocumentPart | TornKey], tail: str, side: ConflictSide) -> bool:
        """Say whether the front matter parses to what is meant, with one side in the place of all that is torn."""
        chosen = [one if isinstance(one, DocumentPart) else getattr(one.sides, side.value) for one in keys]
        there = [part for part in chosen if part is not None]
        text = "".join((self._ours.opening, *(part.text for part in there), tail, "---\n"))
        found: Mapping[str, Any] | None = parse_document(self.documents.ours.path, text.encode()).fields
        return found is not None and list(found.items()) == [(part.name, part.value) for part in there]

    def _finished(self, text: bytes) -> bytes:
        """Return the text with the line breaks and the byte order mark that both sides mean."""
        if self.line_break is not None:
            text = text.replace(b"\n", self.line_break)
        has_mark = self.documents.map(lambda one: one.data.startswith(codecs.BOM_UTF8))
        one = (has_mark.ours,) if self.is_new else has_mark.agreed()
        return codecs.BOM_UTF8 + text if one is not None and one[0] else text


def merged_order(names: Sides[tuple[str, ...]]) -> list[str]:
    """Return the keys of both sides in one order.

    It is ours, unless only theirs differs from the ancestor's; what the other side added stands behind what it stands
    behind there, and of two additions at one place the schema's order decides, then the name.
    """
    base, other = names.ours, names.theirs
    common = set(names.ancestor) & set(base) & set(other)
    orders = names.map(lambda side: [name for name in side if name in common])
    if orders.ours == orders.ancestor != orders.theirs:
        base, other = other, base
    merged = list(base)
    for place, name in enumerate(other):
        if name not in merged:
            merged.insert(_place_for(name, merged, other[:place], set(other)), name)
    return merged


def _place_for(name: str, merged: Sequence[str], before: Sequence[str], theirs: set[str]) -> int:
    above = next((one for one in reversed(before) if one in merged), None)
    at = merged.index(above) + 1 if above is not None else 0
    while at < len(merged) and merged[at] not in theirs and _rank(merged[at]) <= _rank(name):
        at += 1
    return at


def _rank(name: str) -> tuple[int, str]:
    return rank_of(name), name
