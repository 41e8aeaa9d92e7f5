"""Three-way merge of one entry: key by key, each in its own words, and the body line by line as git does it.

Nothing is joined that a person has to decide: two statuses, or two successors, stay side by side between git's marks.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from mdmem.markdown.conflict_markers import ConflictSide, Marks
from mdmem.markdown.layout import UnpatchableError, rank_of
from mdmem.markdown.merge_keys import DocumentPart, DocumentParts, Sides, TornKey, merge_key, parts_of
from mdmem.markdown.parse import Document, parse_document

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
