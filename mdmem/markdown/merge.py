"""Merge three versions of an entry, key by key.

A merge leaves decisions to people. For example, two different statuses stay as a conflict between git's markers.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import Any, Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from mdmem.markdown.front_matter import is_sequence
from mdmem.markdown.layout import Layout, UnpatchableError, apply_edits, content_end, layout_of, rank_of
from mdmem.markdown.parse import Document, handler, parse_document
from mdmem.markdown.patch import set_fields
from mdmem.model.entry import instant_of, parse_moment
from mdmem.model.fields import LISTS

# A line of one side ends at the next marker and is never given back, because each of thousands of unclosed markers
# would otherwise be searched for its end.
_OURS = rb"(?:(?!<{7}[ \r\n]|\|{7}(?: [^\r\n]*)?\r?\n|={7}\r?\n)[^\n]*\n)*+"
_HUNK = re.compile(
    rb"^<{7}(?: [^\r\n]*)?\r?\n"
    rb"(?P<ours>" + _OURS + rb")"
    rb"(?:\|{7}(?: [^\r\n]*)?\r?\n(?:(?!<{7}[ \r\n]|={7}\r?\n)[^\n]*\n)*+)?+"
    rb"={7}\r?\n"
    rb"(?P<theirs>(?:(?!<{7}[ \r\n]|>{7}(?: [^\r\n]*)?(?:\r?\n|\Z))[^\n]*\n)*+)"
    rb">{7}(?: [^\r\n]*)?(?:\r?\n|\Z)",
    re.MULTILINE,
)


class ConflictSide(StrEnum):
    """One of the two sides of a merge, as git names them."""

    OURS = "ours"
    THEIRS = "theirs"


class Marks(Struct, frozen=True, kw_only=True):
    """How to mark a conflict: the names of the sides, the width of the markers, and whether to show the ancestor."""

    ours: str = "ours"
    base: str = "base"
    theirs: str = "theirs"
    width: int = 7
    shows_base: bool = False

    def hunk(self, ancestor: str, ours: str, theirs: str, *, line_break: str) -> str:
        """Return the lines of both sides with git's conflict markers around them."""
        base = f"{'|' * self.width} {self.base}{line_break}{ancestor}" if self.shows_base else ""
        return (
            f"{'<' * self.width} {self.ours}{line_break}{ours}{base}"
            f"{'=' * self.width}{line_break}{theirs}{'>' * self.width} {self.theirs}{line_break}"
        )


def has_hunks(content: bytes) -> bool:
    """Return whether a file contains at least one complete set of conflict markers."""
    return b"<<<<<<<" in content and _HUNK.search(content) is not None


def take_side(content: bytes, side: ConflictSide) -> bytes:
    """Return a file in which each conflict is replaced by one side. Everything else stays the same."""
    return _HUNK.sub(lambda found: found[side.value], content)


Thing = TypeVar("Thing")
Made = TypeVar("Made")


class Sides(Struct, Generic[Thing], frozen=True):
    """The three versions in a merge: the ancestor (merge base), ours and theirs."""

    ancestor: Thing
    ours: Thing
    theirs: Thing

    def map(self, make: Callable[[Thing], Made]) -> Sides[Made]:
        """Apply a function to each of the three versions."""
        return Sides(make(self.ancestor), make(self.ours), make(self.theirs))

    def agreed(self) -> tuple[Thing] | None:
        """Return a tuple with the merged version if at most one side changed it, or None if both sides did."""
        if self.ours == self.theirs or self.ancestor == self.theirs:
            return (self.ours,)
        return (self.theirs,) if self.ancestor == self.ours else None


class _Part(Struct, frozen=True):
    """The source text of one key: the comments above it, its own lines, its value, and the comments in these lines.

    `items` are the pieces of a block list: the line of the key, then the lines of each item with the comments above it.
    """

    name: str
    above: str
    lines: str
    value: Any
    comments: frozenset[str]
    items: tuple[str, ...] | None = None

    @property
    def text(self) -> str:
        """Return the lines of the key with the comments above it."""
        return self.above + self.lines


class _Parts(Struct, frozen=True):
    """The parts of a document in order. `tail` is the text between the last key and the closing fence."""

    keys: Mapping[str, _Part]
    tail: str
    closing: str
    body: str


def _parts_of(document: Document) -> _Parts:
    """Return the parts of a document. Raises UnpatchableError if the keys do not have lines of their own."""
    layout = layout_of(document)
    front, body = handler().split(document.text)
    keys, end = {}, 0
    for name in layout.fields:
        start, behind = layout.lines(name)
        keys[name] = _part(layout, name, front[end:start])
        end = behind
    closing = document.text[layout.offset + len(front) : len(document.text) - len(body)]
    return _Parts(keys, front[end:], closing, body)


def _part(layout: Layout, name: str, above: str = "") -> _Part:
    start, end = layout.lines(name)
    comments = frozenset(layout.comments(name))
    return _Part(name, above, layout.front[start:end], layout.fields[name], comments, _items(layout, name, end))


def _items(layout: Layout, name: str, end: int) -> tuple[str, ...] | None:
    key, node = layout.fields.nodes(name)
    if not is_sequence(node) or node.flow_style or None in layout.fields[name]:
        return None
    ends = [layout.next_line(content_end(layout.front, item)) for item in node.value]
    places = [layout.line_start(key.start_mark.index), layout.next_line(layout.colon(name)), *ends]
    is_sound = places == sorted(set(places)) and ends[-1] == end
    return tuple(layout.front[a:b] for a, b in pairwise(places)) if is_sound else None


# Only a person may decide that an entry has two successors, so these lists are never joined.
_DECIDED = frozenset({"superseded_by"})
# The order of these lists has a meaning, so they are joined only if both sides just added items.
_ORDERED = frozenset({"repeatable_steps", "shared_wings"})
# Each of these fields has the date of the last time that something was done, so the later date is right.
_LATEST = frozenset({"verified_at", "editorial_at", "last_hygiene_at"})


class _KeyConflict(Struct, frozen=True):
    """A key that both sides changed so that no rule can merge it."""

    name: str
    sides: Sides[_Part | None]


def _merge_key(name: str, sides: Sides[_Part | None], documents: Sides[Document]) -> _Part | _KeyConflict | None:
    """Return the merged key, None if the key is removed, or both versions if they conflict."""
    one = sides.agreed()
    if one is not None:
        return one[0]
    return _join(name, sides, documents) if _is_set(name, sides) else _choose(name, sides, documents)


def _is_set(name: str, sides: Sides[_Part | None]) -> bool:
    """Return whether the values are lists whose items can be merged one by one."""
    values = [one.value for one in (sides.ancestor, sides.ours, sides.theirs) if one is not None]
    if name in LISTS:
        return name not in _DECIDED and not any(isinstance(value, dict) for value in values)
    return all(isinstance(value, list) for value in values)


def _choose(name: str, sides: Sides[_Part | None], documents: Sides[Document]) -> _Part | _KeyConflict:
    """Return the one value that is right for both sides, or a conflict if the sides have different values."""
    ours, theirs = sides.ours, sides.theirs
    if ours is None or theirs is None:
        return _KeyConflict(name, sides)
    meant = sides.map(lambda part: _meaning(name, part))
    one = meant.agreed() or (_later(ours, theirs) if name in _LATEST else None)
    if one is None:
        return _KeyConflict(name, sides)
    candidates = [part for part in (ours, theirs) if _meaning(name, part) == one[0]]
    if isinstance(one[0], str):
        candidates += _patched(name, sides, documents, one[0])
    return _with_comments(name, sides, candidates)


def _meaning(name: str, part: _Part | None) -> Any:
    if part is None or name not in LISTS:
        return part and part.value
    items = _listed(part)
    # The order of successors has no meaning.
    return sorted(items) if all(isinstance(item, str) for item in items) else items


def _later(ours: _Part, theirs: _Part) -> tuple[Any] | None:
    try:
        # If a date and a date-time mean the same instant, keep the date-time, which is more precise.
        return (max((instant_of(parse_moment(one.value)), len(one.value), one.value) for one in (ours, theirs))[2],)
    except (TypeError, ValueError):
        return None


def _join(name: str, sides: Sides[_Part | None], documents: Sides[Document]) -> _Part | _KeyConflict | None:
    """Return a list with the items that either side added, and without the items that either side removed."""
    old, ours, theirs = (_listed(part) for part in (sides.ancestor, sides.ours, sides.theirs))
    if name in _ORDERED and not (_only_adds(old, ours) and _only_adds(old, theirs)):
        return _KeyConflict(name, sides)
    kept = [item for item in ours if item in theirs or item not in old]
    added = [item for item in theirs if item not in old and item not in ours]
    meant = [*kept, *added]
    if not meant:
        there = [part for part in (sides.ours, sides.theirs) if part is not None]
        above = {part.above for part in there} - {sides.ancestor.above if sides.ancestor else ""}
        # The key is removed, unless that would delete a comment that one side added.
        return _KeyConflict(name, sides) if above or _new_comments(sides) else None
    found = [*_from_items(name, sides, kept, added), *_patched(name, sides, documents, meant)]
    return _with_comments(name, sides, [one for one in found if _listed(one) == meant])


def _from_items(name: str, sides: Sides[_Part | None], kept: list[Any], added: list[Any]) -> Iterator[_Part]:
    """Yield our block list, followed by the source lines of the items that they added, with all comments."""
    ours, theirs = sides.ours, sides.theirs
    if ours is None or theirs is None or ours.items is None or theirs.items is None:
        return
    lines = [text for value, text in zip(ours.value, ours.items[1:], strict=True) if value in kept]
    lines += [text for value, text in zip(theirs.value, theirs.items[1:], strict=True) if value in added]
    document = parse_document("", "".join(("---\n", ours.items[0], *lines, "---\n")).encode())
    if document.fields is not None and list(document.fields) == [name]:
        yield _part(layout_of(document), name)


def _patched(
    name: str, sides: Sides[_Part | None], documents: Sides[Document], value: str | list[Any]
) -> Iterator[_Part]:
    """Yield our version of the key and then their version, each patched to have the merged value."""
    for document, part in ((documents.ours, sides.ours), (documents.theirs, sides.theirs)):
        if part is None:
            continue
        try:
            patched = apply_edits(document.data, set_fields(document, {name: value}))
        except (UnpatchableError, TypeError):
            # A patch cannot write nested values.
            continue
        yield _part(layout_of(parse_document(document.path, patched)), name)


def _with_comments(name: str, sides: Sides[_Part | None], candidates: Sequence[_Part]) -> _Part | _KeyConflict:
    """Return the first candidate that has every comment that a side added, below the comments above the key."""
    there = [part for part in (sides.ours, sides.theirs) if part is not None]
    above = Sides(sides.ancestor.above if sides.ancestor else "", there[0].above, there[-1].above).agreed()
    wanted = _new_comments(sides)
    fit = next((one for one in candidates if wanted <= one.comments), None)
    return replace(fit, above=above[0]) if fit is not None and above is not None else _KeyConflict(name, sides)


def _new_comments(sides: Sides[_Part | None]) -> frozenset[str]:
    old, ours, theirs = (part.comments if part else frozenset() for part in (sides.ancestor, sides.ours, sides.theirs))
    return (ours | theirs) - old


def _listed(part: _Part | None) -> list[Any]:
    if part is None or part.value is None:
        return []
    return part.value if isinstance(part.value, list) else [part.value]


def _only_adds(old: Sequence[Any], new: Sequence[Any]) -> bool:
    """Return whether every old item is still in the new list, in the same order."""
    rest = iter(new)
    return all(item in rest for item in old)


# A function that merges three texts and returns the result, and whether the result has a conflict.
MergeText = Callable[[Sides[bytes]], tuple[bytes, bool]]
BODY = "body"


class EntryMerge(Struct, frozen=True):
    """The merged bytes, and the names of the keys in conflict (`body` means the text below the front matter).

    `is_plain` is set if git merged the whole file as text, because one side could not be parsed as an entry.
    """

    content: bytes
    torn: tuple[str, ...] = ()
    is_plain: bool = False


def merge_entries(path: str, sides: Sides[bytes], *, merge_text: MergeText, marks: Marks | None = None) -> EntryMerge:
    """Return the merge of three versions of an entry. An empty ancestor means that both sides added the file.

    If there is no conflict, the result parses to the fields that both sides meant. Where that is not possible, git
    merges the file as text. Raises the errors of `merge_text`.
    """
    one = sides.agreed()
    if one is not None:
        return EntryMerge(one[0])
    try:
        outcome = _merge_by_key(path, sides, merge_text, marks or Marks())
    except UnpatchableError:
        outcome = None
    if outcome is not None:
        return outcome
    content, is_torn = merge_text(sides)
    return EntryMerge(content, (BODY,) if is_torn else (), is_plain=True)


def _merge_by_key(path: str, sides: Sides[bytes], merge_text: MergeText, marks: Marks) -> EntryMerge | None:
    """Merge key by key. Return None if a side is not an entry, or if the result does not parse to the merged values."""
    line_break = _line_break(sides)
    unified = sides if line_break is None else sides.map(lambda content: content.replace(b"\r\n", b"\n"))
    ours, theirs = parse_document(path, unified.ours), parse_document(path, unified.theirs)
    opening = "\r\n" if ours.text.startswith("---\r\n") else "\n"
    ancestor = parse_document(path, unified.ancestor or f"---{opening}---{opening}".encode())
    if not (_is_entry(ours) and _is_entry(theirs) and ancestor.fields is not None):
        return None
    documents = Sides(ancestor, ours, theirs)
    parts = documents.map(_parts_of)
    tail = parts.map(lambda one: one.tail).agreed()
    # Both sides changed the comments below the last key. There is no key to mark as the conflict.
    if tail is None:
        return None
    keys = [
        merged
        for name in _merged_order(parts.map(lambda one: tuple(one.keys)))
        if (merged := _merge_key(name, parts.map(lambda one, name=name: one.keys.get(name)), documents)) is not None  # type: ignore[misc]
    ]
    if not all(_is_meant(keys, f"---{opening}", tail[0], side) for side in ConflictSide):
        return None
    bodies = parts.map(lambda one: one.body.encode())
    same = bodies.agreed()
    body, is_torn = (same[0], False) if same is not None else merge_text(bodies)
    closing = (parts.map(lambda one: one.closing).agreed() or (parts.ours.closing,))[0]
    # If there is a body, the closing fence needs a line break.
    closing = closing if closing.endswith("\n") or not body else f"---{opening}"
    front = "".join(_shown(one, marks, opening) for one in keys)
    text = f"---{opening}{front}{tail[0]}{closing}".encode() + body
    if line_break is not None:
        text = text.replace(b"\n", line_break)
    has_mark = documents.map(lambda one: one.data.startswith(codecs.BOM_UTF8))
    if has_mark.ours if not sides.ancestor else has_mark.agreed() == (True,):
        text = codecs.BOM_UTF8 + text
    torn = tuple(one.name for one in keys if isinstance(one, _KeyConflict))
    return EntryMerge(text, (*torn, *([BODY] if is_torn else [])))


def _is_entry(document: Document) -> bool:
    fields = document.fields
    is_manifest = document.path.rsplit("/", 1)[-1] == "README.md"
    return fields is not None and (is_manifest or {"type", "status"} <= fields.keys())


def _line_break(sides: Sides[bytes]) -> bytes | None:
    """Return the line break for the result if a side converted all its line breaks, or None to leave them unchanged."""
    ends = sides.map(_ending)
    if None in (ends.ours, ends.theirs) or (sides.ancestor and ends.ancestor is None):
        return None
    if ends.ours == ends.theirs and ends.ancestor in (ends.ours, None):
        return None
    one = ends.agreed()
    return one[0] if one is not None else ends.ours


def _ending(content: bytes) -> bytes | None:
    """Return the line break that every line of a file has, or None if the file mixes LF and CRLF."""
    both, lines = content.count(b"\r\n"), content.count(b"\n")
    if both == lines > 0:
        return b"\r\n"
    return None if both or not lines else b"\n"


def _shown(one: _Part | _KeyConflict, marks: Marks, line_break: str) -> str:
    """Return the source text of a key. A conflict has git's markers around both sides."""
    if isinstance(one, _Part):
        return one.text
    there = [part for part in (one.sides.ours, one.sides.theirs) if part is not None]
    # Comment lines above the key that are the same on both sides are not part of the conflict.
    shared = there[0].above if len({part.above for part in there}) == 1 and len(there) == 2 else ""
    texts = one.sides.map(lambda part: part.text.removeprefix(shared) if part is not None else "")
    return shared + marks.hunk(texts.ancestor, texts.ours, texts.theirs, line_break=line_break)


def _is_meant(keys: Sequence[_Part | _KeyConflict], opening: str, tail: str, side: ConflictSide) -> bool:
    """Return whether the front matter parses to the merged values. `side` is used for each conflict."""
    chosen = [one if isinstance(one, _Part) else getattr(one.sides, side.value) for one in keys]
    there = [part for part in chosen if part is not None]
    text = "".join((opening, *(part.text for part in there), tail, "---\n"))
    found = parse_document("README.md", text.encode()).fields
    return found is not None and list(found.items()) == [(part.name, part.value) for part in there]


def _merged_order(names: Sides[tuple[str, ...]]) -> list[str]:
    """Return the keys of both sides in one order.

    The order is ours, unless only theirs differs from the ancestor's order. A key that only the other side has comes
    after the key that precedes it on that side. If both sides added a key at one place, the order of the fields
    decides, then the name.
    """
    base, other = names.ours, names.theirs
    common = set(names.ancestor) & set(base) & set(other)
    orders = names.map(lambda side: [name for name in side if name in common])
    if orders.ours == orders.ancestor != orders.theirs:
        base, other = other, base
    merged = list(base)
    for place, name in enumerate(other):
        if name not in merged:
            above = next((one for one in reversed(other[:place]) if one in merged), None)
            at = merged.index(above) + 1 if above is not None else 0
            while at < len(merged) and merged[at] not in other and _rank(merged[at]) <= _rank(name):
                at += 1
            merged.insert(at, name)
    return merged


def _rank(name: str) -> tuple[int, str]:
    return rank_of(name), name
