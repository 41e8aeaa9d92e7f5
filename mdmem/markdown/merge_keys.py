"""Merging one key of a front matter by what it means, in the text that somebody wrote for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time
from itertools import pairwise
from typing import Any, Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from mdmem.markdown.fields import FrontMatterError, is_sequence
from mdmem.markdown.handler import handler
from mdmem.markdown.layout import Layout, UnpatchableError, apply_edits, content_end, layout_of
from mdmem.markdown.parse import Document, parse_document
from mdmem.markdown.patch import set_fields
from mdmem.model.fields import LISTS

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
