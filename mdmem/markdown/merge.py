"""Merge three versions of an entry, key by key.

A merge leaves decisions to people. For example, two different statuses stay as a conflict between git's markers.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from typing import Any, Generic, TypeVar

from msgspec import Struct
from msgspec.structs import astuple, replace

from mdmem.markdown.front_matter import as_list
from mdmem.markdown.layout import Layout, UnpatchableError, apply_edits, layout_of
from mdmem.markdown.parse import (
    Document,
    body_links,
    image_links,
    parse_document,
    with_masked_targets,
    without_code,
    without_fenced,
)
from mdmem.markdown.patch import add_relations, set_fields
from mdmem.model.entry import Relation, Status, instant_of, parse_moment
from mdmem.model.fields import BINDING_FIELDS, LISTS

# A side ends at the next marker. Otherwise each of thousands of unclosed markers would be searched for its end.
_OURS = rb"(?:(?!<{7}[ \r\n]|\|{7}(?: [^\r\n]*)?\r?\n|={7}\r?\n)[^\n]*\n)*"
_HUNK = (
    rb"^(?P<mark><{7})(?: [^\r\n]*)?\r?\n"
    rb"(?P<ours>" + _OURS + rb")"
    rb"(?:\|{7}(?: [^\r\n]*)?\r?\n(?:(?!<{7}[ \r\n]|={7}\r?\n)[^\n]*\n)*)?"
    rb"={7}\r?\n"
    rb"(?P<theirs>(?:(?!<{7}[ \r\n]|>{7}(?: [^\r\n]*)?(?:\r?\n|\Z))[^\n]*\n)*)"
    rb">{7}(?: [^\r\n]*)?(?:\r?\n|\Z)"
)
NARROWEST = 7
_MARKERS = [re.compile(rb"^%b{7,}(?=[ \r\n]|\Z)" % sign, re.MULTILINE) for sign in (b"<", b"=", b">")]
# A file is searched once for each width, a conflict for each `=======`, and nobody writes many of them.
_MAX_TRIES = 8
_BLANKED = bytes.maketrans(b"<|=>", b"    ")


class ConflictSide(StrEnum):
    """One of the two sides of a merge, as git names them."""

    OURS = "ours"
    THEIRS = "theirs"


class Marks(Struct, frozen=True, kw_only=True):
    """How to mark a conflict: the names of the sides, the width of the markers, and whether to show the ancestor."""

    ours: str = "ours"
    base: str = "base"
    theirs: str = "theirs"
    width: int = NARROWEST
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
    return any(hunk.search(content) for hunk in _hunks_in(content))


def take_side(content: bytes, side: ConflictSide, sides: Sides[bytes] | None = None) -> bytes:
    """Return a file in which each conflict that is not quoted is replaced by one side. The rest stays the same."""
    return _with_hunks(content, sides, lambda both: both[side])


def without_equal_sides(content: bytes, sides: Sides[bytes] | None = None) -> bytes:
    """Return a file in which each conflict whose sides are equal is replaced by that text."""
    return _with_hunks(content, sides, lambda both: both["ours"] if both["ours"] == both["theirs"] else None)


def _with_hunks(content: bytes, sides: Sides[bytes] | None, pick: Callable[[dict[str, bytes]], bytes | None]) -> bytes:
    texts = sides and sides.map(_plain)
    for hunk in _hunks_in(content):
        parts, end = [], 0
        for found in hunk.finditer(without_quoted(content, sides)):
            as_found = {side.value: content[slice(*found.span(side))] for side in ConflictSide}
            text = pick(_sides_in(found, content, texts) or as_found)
            parts += [content[end : found.start()], content[slice(*found.span())] if text is None else text]
            end = found.end()
        content = b"".join((*parts, content[end:]))
    return content


def without_quoted(content: bytes, sides: Sides[bytes] | None = None) -> bytes:
    """Return a file with blanks in place of the conflict markers that are not git's, but quoted by a person.

    `sides` are the versions that git merged. A conflict in one of them is quoted, and so is a conflict in fenced code
    that has other text than they. Without them, nobody can tell who wrote markers in code, so no conflict is left.
    """
    texts, masked, before, lines = sides and sides.map(_plain), content, b"", _plain(content)

    def is_quoted(found: re.Match[bytes], prose: bytes) -> bool:
        whole = _plain(content[slice(*found.span())])
        opening = whole[: whole.index(b"\n", 1) + 1]
        # Git adds a marker to those that both sides have.
        old = min(texts.ours.count(opening), texts.theirs.count(opening)) if texts is not None else 0
        if lines.count(opening) <= old or (texts and any(whole in one for one in astuple(texts))):
            return True
        return _sides_in(found, content, texts) is None and found.re.match(prose, found.start()) is None

    # A conflict may be around a quoted one.
    while masked != before:
        prose = without_fenced(masked.decode("latin-1")).encode("latin-1")
        before, blanked = masked, bytearray(masked)
        for one in (one for hunk in _hunks_in(masked) for one in hunk.finditer(masked) if is_quoted(one, prose)):
            # A conflict of another width may be inside the quoted one.
            markers = re.compile(rb"^([<|=>])\1{%d}(?![<|=>])" % (len(one["mark"]) - 1), re.MULTILINE)
            blanked[slice(*one.span())] = markers.sub(b" " * len(one["mark"]), one[0])
        masked = bytes(blanked)
    # Without git's versions, a conflict before the quoted one may itself begin or end fenced code.
    return content.translate(_BLANKED) if sides is None and masked != content else masked


def _sides_in(found: re.Match[bytes], content: bytes, texts: Sides[bytes] | None) -> dict[str, bytes] | None:
    """Return the sides of a conflict that git's versions contain. In a side, `=======` may underline a heading."""
    width, start, end = len(found["mark"]), found.start("ours"), found.end("theirs")
    base = re.compile(rb"^\|{%d}(?: [^\r\n]*)?\r?\n" % width, re.MULTILINE).search(found.string, start, end)
    dividers = re.compile(rb"^={%d}\r?\n" % width, re.MULTILINE).finditer(found.string, start, end)
    for one in [*dividers][:_MAX_TRIES]:
        ours, theirs = content[start : min(one.start(), base.start() if base else end)], content[one.end() : end]
        if texts is not None and _plain(ours) in texts.ours and _plain(theirs) in texts.theirs:
            return {"ours": ours, "theirs": theirs}
    return None


def _plain(content: bytes) -> bytes:
    """Return whole lines with plain ends and a line break on both sides, for a search in such lines."""
    lines = content.replace(b"\r\n", b"\n").strip(b"\n")
    return b"\n%s\n" % lines if lines else b"\n"


def _hunks_in(content: bytes) -> Iterator[re.Pattern[bytes]]:
    """Yield the patterns of conflicts for the smallest widths that all three kinds of markers have in a file."""
    widths = set.intersection(*({len(one) for one in kind.findall(content)} for kind in _MARKERS))
    for width in sorted(widths)[:_MAX_TRIES]:
        yield re.compile(_HUNK.replace(b"{7}", b"{%d}" % width), re.MULTILINE)


T = TypeVar("T")
U = TypeVar("U")


class Sides(Struct, Generic[T], frozen=True):
    """The three versions in a merge: the ancestor (merge base), ours and theirs."""

    ancestor: T
    ours: T
    theirs: T

    def map(self, make: Callable[[T], U]) -> Sides[U]:
        """Apply a function to each of the three versions."""
        return Sides(make(self.ancestor), make(self.ours), make(self.theirs))

    def agreed(self) -> tuple[T] | None:
        """Return a tuple with the merged version (which may be None), or None if both sides changed it differently."""
        if self.ours == self.theirs or self.ancestor == self.theirs:
            return (self.ours,)
        return (self.theirs,) if self.ancestor == self.ours else None


class _KeySource(Struct, frozen=True):
    """The source text of one key: the comments above it, its own lines, its value, and the comments in these lines."""

    name: str
    above: str
    lines: str
    value: Any
    comments: frozenset[str]

    @property
    def text(self) -> str:
        """Return the lines of the key with the comments above it."""
        return self.above + self.lines

    @property
    def meaning(self) -> Any:
        """Return the value without differences that mean nothing, such as the order of successors."""
        if self.name not in LISTS:
            return self.value
        items = as_list(self.value)
        return sorted(items) if all(isinstance(item, str) for item in items) else items


def _key_source(layout: Layout, name: str, above: str = "") -> _KeySource:
    start, end = layout.lines(name)
    return _KeySource(name, above, layout.front[start:end], layout.fields[name], frozenset(layout.comments(name)))


class _EntrySource(Struct, frozen=True):
    """The parts of a document in order. `tail` is the text between the last key and the closing fence."""

    keys: Mapping[str, _KeySource]
    tail: str
    closing: str
    body: str

    @property
    def is_ended(self) -> bool:
        """Return whether this version of the entry is deprecated or has a successor."""
        return self.value("status") == Status.DEPRECATED or bool(self.value("superseded_by"))

    def value(self, name: str) -> Any:
        """Return the value of a key (None for a missing key), or the words of the body without its links' targets."""
        if name != BODY:
            return self.keys[name].meaning if name in self.keys else None
        prose = without_code(self.body)
        return with_masked_targets(self.body, (*body_links(prose), *image_links(prose))).split()


def _split_entry(document: Document) -> _EntrySource:
    """Return the parts of a document. Raises UnpatchableError if the keys do not have lines of their own."""
    layout = layout_of(document)
    front = layout.front
    keys, end = {}, 0
    for name in layout.fields:
        start, behind = layout.lines(name)
        keys[name] = _key_source(layout, name, front[end:start])
        end = behind
    closing = document.text[layout.offset + len(front) : len(document.text) - len(document.body)]
    return _EntrySource(keys, front[end:], closing, document.body)


# The order of these lists has a meaning, so they are joined only if both sides just added items.
_ORDERED = frozenset({"repeatable_steps", "shared_wings"})
# Each of these fields has the date of the last time that something was done, so the later date is right.
_LATEST = frozenset({"verified_at", "editorial_at", "last_hygiene_at"})


class _KeyMerge(Struct, frozen=True):
    """One key in a merge: its three versions (None for a missing key) and documents. `merged` may find a conflict."""

    name: str
    sides: Sides[_KeySource | None]
    documents: Sides[Document]

    @property
    def present(self) -> list[_KeySource]:
        """Return our and their version of the key, without a side that lacks the key."""
        return [part for part in (self.sides.ours, self.sides.theirs) if part is not None]

    def merged(self) -> _KeySource | _KeyMerge | None:
        """Return the merged key, None if the key is removed, or this object if the versions conflict."""
        if (agreed := self.sides.agreed()) is not None:
            return agreed[0]
        values = [part.value for part in (*self.present, self.sides.ancestor) if part is not None]
        can_join = all(isinstance(value, list) for value in values)
        if self.name in LISTS:
            # Only a person may decide that an entry has two successors.
            can_join = self.name != "superseded_by" and not any(isinstance(value, dict) for value in values)
        if can_join:
            return self._join_lists()
        return self._choose_value(*self.present) if len(self.present) == 2 else self

    def _choose_value(self, ours: _KeySource, theirs: _KeySource) -> _KeySource | _KeyMerge:
        """Return the one value that is right for both sides, or a conflict if the sides have different values."""
        meant = self.sides.map(lambda part: part and part.meaning).agreed()
        if meant is None and self.name in _LATEST:
            with suppress(TypeError, ValueError):
                # If a date and a date-time mean the same instant, keep the date-time, which is more precise.
                dates = ((instant_of(parse_moment(one.value)), len(one.value), one.value) for one in (ours, theirs))
                meant = (max(dates)[2],)
        if meant is None:
            return self
        candidates = [part for part in (ours, theirs) if part.meaning == meant[0]]
        if isinstance(meant[0], str):
            candidates += self._patched(meant[0])
        return self._with_comments(candidates)

    def _join_lists(self) -> _KeySource | _KeyMerge | None:
        """Return a list with the items that either side added, and without the items that either side removed."""
        items = self.sides.map(lambda part: as_list(part and part.value))
        if self.name in _ORDERED and not all(_only_adds(items.ancestor, side) for side in (items.ours, items.theirs)):
            return self
        known = items.map(lambda some: set(map(_hashable, some)))
        merged = [one for one in items.ours if _hashable(one) in known.theirs or _hashable(one) not in known.ancestor]
        merged += [one for one in items.theirs if _hashable(one) not in known.ancestor | known.ours]
        if not merged:
            above = {part.above for part in self.present} - {self.sides.ancestor.above if self.sides.ancestor else ""}
            # The key is removed, unless that would delete a comment that one side added.
            return self if above or self._new_comments() else None
        return self._with_comments([one for one in self._patched(merged) if as_list(one.value) == merged])

    def _patched(self, value: str | list[Any]) -> Iterator[_KeySource]:
        """Yield our version of the key and then their version, each patched to have the merged value."""
        for document, part in ((self.documents.ours, self.sides.ours), (self.documents.theirs, self.sides.theirs)):
            if part is None:
                continue
            new = [one for one in value if isinstance(one, dict) and one not in as_list(part.value)]
            # A patch can add relations, but cannot write other nested values.
            with suppress(UnpatchableError, TypeError):
                relations = [Relation(**one) for one in new] if self.name == "relations" else []
                edits = add_relations(document, relations) if relations else set_fields(document, {self.name: value})
                patched = parse_document(document.path, apply_edits(document.data, edits))
                yield _key_source(layout_of(patched), self.name)

    def _with_comments(self, candidates: Sequence[_KeySource]) -> _KeySource | _KeyMerge:
        """Return the first candidate that has every comment that a side added, below the comments above the key."""
        old = self.sides.ancestor.above if self.sides.ancestor else ""
        above = Sides(old, self.present[0].above, self.present[-1].above).agreed()
        fit = next((one for one in candidates if self._new_comments() <= one.comments), None)
        return replace(fit, above=above[0]) if fit is not None and above is not None else self

    def _new_comments(self) -> frozenset[str]:
        old = self.sides.ancestor.comments if self.sides.ancestor else frozenset()
        return frozenset().union(*(part.comments for part in self.present)) - old

    def hunk(self, marks: Marks, line_break: str) -> str:
        """Return both versions of the key between conflict markers; equal comments above the key are written once."""
        both = [part.above for part in self.present]
        shared = both[0] if len(both) == 2 and both[0] == both[1] else ""
        texts = self.sides.map(lambda part: part.text.removeprefix(shared) if part is not None else "")
        return shared + marks.hunk(texts.ancestor, texts.ours, texts.theirs, line_break=line_break)


def _hashable(item: Any) -> str:
    """Return a text that is the same for equal items. Unlike a list, a text can be hashed."""
    return json.dumps(item, sort_keys=True)


def _only_adds(old: Sequence[Any], new: Sequence[Any]) -> bool:
    """Return whether every old item is still in the new list, in the same order."""
    rest = iter(new)
    return all(item in rest for item in old)


BODY = "body"
# The keys with the content of an entry, and the keys that change when it is deprecated or reworded.
_CONTENT_KEYS = frozenset({"title", BODY, *BINDING_FIELDS})
_DEPRECATION_KEYS = frozenset({"status", "superseded_by", "deprecated_at", "deprecated_reason", "version"})
# A function that merges three texts and returns the result, and whether the result has a conflict.
MergeText = Callable[[Sides[bytes]], tuple[bytes, bool]]


class EntryMerge(Struct, frozen=True):
    """The merged bytes, and the keys in conflict (or `body`); with `is_plain`, git merged the whole file as text."""

    content: bytes
    conflicts: tuple[str, ...] = ()
    is_plain: bool = False


def merge_entries(path: str, sides: Sides[bytes], *, merge_text: MergeText, marks: Marks | None = None) -> EntryMerge:
    """Return the merge of three versions of an entry. An empty ancestor means that both sides added the file.

    Where no merge key by key is possible, git merges the file as text. Raises the errors of `merge_text`.
    """
    if (agreed := sides.agreed()) is not None:
        return EntryMerge(agreed[0])
    with suppress(UnpatchableError):
        if (outcome := _merge_by_key(path, sides, merge_text, marks or Marks())) is not None:
            return outcome
    content, has_conflict = merge_text(sides)
    return EntryMerge(content, (BODY,) if has_conflict else (), is_plain=True)


def _merge_by_key(path: str, sides: Sides[bytes], merge_text: MergeText, marks: Marks) -> EntryMerge | None:
    """Merge key by key. Return None if a side is not an entry, or if the result does not parse to the merged values."""
    # Git merges the text if the sides end their lines differently.
    if len({b"\r\n" in content for content in (sides.ours, sides.theirs, sides.ancestor) if content}) > 1:
        return None
    ours, theirs = parse_document(path, sides.ours), parse_document(path, sides.theirs)
    opening = "\r\n" if ours.text.startswith("---\r\n") else "\n"
    ancestor = parse_document(path, sides.ancestor or f"---{opening}---{opening}".encode())
    if not (_is_entry(ours) and _is_entry(theirs) and ancestor.fields is not None):
        return None
    documents = Sides(ancestor, ours, theirs)
    parts = documents.map(_split_entry)
    tail = parts.map(lambda one: one.tail).agreed()
    # Both sides changed the comments below the last key. There is no key to mark as the conflict.
    if tail is None:
        return None
    keys: list[_KeySource | _KeyMerge] = []
    lost = _lost_by_ending(parts)
    for name in _merged_order(parts.map(lambda one: tuple(one.keys))):
        versions = Sides(parts.ancestor.keys.get(name), parts.ours.keys.get(name), parts.theirs.keys.get(name))
        key = _KeyMerge(name, versions, documents)
        merged = key if name in lost else key.merged()
        keys += [merged] if merged is not None else []
    if not all(_parses_as_merged(keys, f"---{opening}", tail[0], side) for side in ConflictSide):
        return None
    bodies = parts.map(lambda one: one.body.encode())
    # Without an ancestor, git marks each line that differs.
    bodies = replace(bodies, ancestor=b"") if BODY in lost else bodies
    same = bodies.agreed() if BODY not in lost else None
    body, has_conflict = (same[0], False) if same is not None else merge_text(bodies)
    closing = (parts.map(lambda one: one.closing).agreed() or (parts.ours.closing,))[0]
    # If there is a body, the closing fence needs a line break.
    closing = closing if closing.endswith("\n") or not body else f"---{opening}"
    front = "".join(one.text if isinstance(one, _KeySource) else one.hunk(marks, opening) for one in keys)
    text = f"---{opening}{front}{tail[0]}{closing}".encode() + body
    has_mark = documents.map(lambda one: one.data.startswith(codecs.BOM_UTF8))
    if has_mark.ours if not sides.ancestor else has_mark.agreed() == (True,):
        text = codecs.BOM_UTF8 + text
    conflicts = tuple(one.name for one in keys if isinstance(one, _KeyMerge))
    return EntryMerge(text, (*conflicts, *([BODY] if has_conflict else [])))


def _lost_by_ending(parts: Sides[_EntrySource]) -> frozenset[str]:
    """Return the keys (and `body`) to mark if one side ended the entry and the other changed what it says.

    Otherwise the change would be only in the deprecated file. A correction, with a new `editorial_at`, is no change.
    """
    was = parts.ancestor
    for ended, other in ((parts.ours, parts.theirs), (parts.theirs, parts.ours)):
        if ended.is_ended and not (other.is_ended or was.is_ended):
            differing = {one for one in (*other.keys, *ended.keys, BODY) if other.value(one) != ended.value(one)}
            changed = {one for one in differing if other.value(one) != was.value(one)} & _CONTENT_KEYS
            if changed and other.value("editorial_at") == was.value("editorial_at"):
                return frozenset(changed | (differing & _DEPRECATION_KEYS))
    return frozenset()


def _is_entry(document: Document) -> bool:
    fields = document.fields
    is_manifest = document.path.rsplit("/", 1)[-1] == "README.md"
    return fields is not None and (is_manifest or {"type", "status"} <= fields.keys())


def _parses_as_merged(keys: Sequence[_KeySource | _KeyMerge], opening: str, tail: str, side: ConflictSide) -> bool:
    """Return whether the front matter parses to the merged values. `side` is used for each conflict."""
    chosen = [one if isinstance(one, _KeySource) else getattr(one.sides, side.value) for one in keys]
    there = [part for part in chosen if part is not None]
    text = "".join((opening, *(part.text for part in there), tail, "---\n"))
    found = parse_document("README.md", text.encode()).fields
    return found is not None and list(found.items()) == [(part.name, part.value) for part in there]


def _merged_order(names: Sides[tuple[str, ...]]) -> list[str]:
    """Return our keys in their order, and each key that only they have after the key that precedes it there."""
    merged = list(names.ours)
    for place, name in enumerate(names.theirs):
        if name not in merged:
            above = next((one for one in reversed(names.theirs[:place]) if one in merged), None)
            merged.insert(merged.index(above) + 1 if above is not None else 0, name)
    return merged
