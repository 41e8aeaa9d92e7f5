"""Find the entries with a new text, word by word, and those where only other fields changed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from difflib import SequenceMatcher

from mdmem.change.compare import Comparison
from mdmem.change.review_model import FieldChange, FieldEdit, Rewording, Span
from mdmem.model.entry import Entry, EntryType, Relation
from mdmem.model.fields import LINK_FIELDS
from mdmem.model.finding import Finding
from mdmem.store.catalog.changes import BINDING_FIELDS, Changed

# difflib takes time that grows with the product of both lengths. A longer change is shown as one run of words.
_MANY = 4_000_000
_TOKEN = re.compile(r"\n[ \t]*\n\s*|\S+")
_PARAGRAPH = "\n\n"
_BINDING = ("type", "focus", "expires_at", "overrides", "conflicts_with", *BINDING_FIELDS)
# Other parts of a review show these fields.
_SHOWN_ELSEWHERE = frozenset({"address", "title", "status", "supersedes", "superseded_by", "unread", *_BINDING})
_OF_A_TRANSITION = frozenset({"deprecated_at", "deprecated_reason", "reason", "approved_by"})
_OF_A_TEXT = frozenset({"version", "editorial_at"})
_FROZEN_CODES = ("frozen-text-changed", "superseded-entry-edited", "type-changed")
_FROZEN = (EntryType.INVARIANT, EntryType.DECISION)


def word_changes(before: str, after: str) -> tuple[Span, ...]:
    """Return a text as runs of unchanged, removed and added words; empty if the words are the same.

    A blank line separates paragraphs and counts as a word; other line breaks do not count.
    """
    old, new = _words(before), _words(after)
    return tuple(_spans(old, new)) if old != new else ()


def _words(text: str) -> list[str]:
    return [_PARAGRAPH if token.isspace() else token for token in _TOKEN.findall(text.strip())]


def _spans(old: list[str], new: list[str]) -> Iterator[Span]:
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    old_middle, new_middle = old[start : len(old) - end], new[start : len(new) - end]
    yield from _span(" ", old[:start])
    if len(old_middle) * len(new_middle) > _MANY:
        yield from (*_span("-", old_middle), *_span("+", new_middle))
    else:
        matcher = SequenceMatcher(None, old_middle, new_middle, autojunk=False)
        for tag, first, last, begin, stop in matcher.get_opcodes():
            if tag == "equal":
                yield from _span(" ", old_middle[first:last])
            else:
                yield from (*_span("-", old_middle[first:last]), *_span("+", new_middle[begin:stop]))
    yield from _span(" ", old[len(old) - end :])


def _span(mark: str, words: list[str]) -> Iterator[Span]:
    if words:
        yield Span(mark, " ".join(words).replace(f" {_PARAGRAPH} ", _PARAGRAPH))


def _common(old: list[str], new: list[str]) -> int:
    """Return the number of equal words at the start of both."""
    pairs = enumerate(zip(old, new, strict=False))
    return next((number for number, (one, other) in pairs if one != other), min(len(old), len(new)))


def find_rewordings(comparison: Comparison, faults: Mapping[str, Sequence[Finding]]) -> tuple[Rewording, ...]:
    """Return the entries with another text, title or binding field, frozen ones first, then by authority."""
    found = []
    for one in comparison.changes.changed:
        title = () if one.keeps_title else word_changes(one.before.title, one.after.title)
        body = () if one.keeps_text else word_changes(one.body_before, one.body_after)
        fields = _field_changes(comparison, one, _BINDING)
        if one.keeps_text and one.keeps_title and not fields:
            continue
        was_current, is_current = (
            one.before.address in comparison.before.current,
            one.after.address in comparison.after.current,
        )
        own = faults.get(one.after.address, ())
        found.append(
            Rewording(
                entry=comparison.after.ref_of(one.after),
                is_frozen=was_current and is_current and one.before.type in _FROZEN,
                title=title,
                body=body,
                fields=fields,
                notice=_notice(one, is_layout=not (title or body or fields)),
                faults=tuple(finding.message for finding in own if finding.code in _FROZEN_CODES),
            )
        )
    return tuple(sorted(found, key=lambda one: (not one.is_frozen, one.entry.rank)))


def _notice(one: Changed, *, is_layout: bool) -> str:
    parts = ["only line breaks changed"] if is_layout else []
    if one.before.version != one.after.version:
        parts.append(f"version {one.before.version or 1} → {one.after.version or 1}")
    if one.is_corrected and one.after.editorial_at is not None:
        parts.append(f"marked as a correction of {one.after.editorial_at.isoformat()}")
    return "; ".join(parts)


def find_field_edits(comparison: Comparison, reworded: Sequence[Rewording]) -> tuple[FieldEdit, ...]:
    """Return the entries with changed fields that no other part of the review shows, by authority."""
    with_new_text = {one.entry.address for one in reworded}
    found = []
    for one in comparison.changes.changed:
        elsewhere = _SHOWN_ELSEWHERE
        if one.before.status is not one.after.status:
            elsewhere |= _OF_A_TRANSITION
        if one.after.address in with_new_text:
            elsewhere |= _OF_A_TEXT
        names = [name for name in Entry.__struct_fields__ if name not in elsewhere]
        if fields := _field_changes(comparison, one, names):
            found.append(FieldEdit(comparison.after.ref_of(one.after), fields))
    return tuple(sorted(found, key=lambda one: one.entry.rank))


def _field_changes(comparison: Comparison, one: Changed, names: Iterable[str]) -> tuple[FieldChange, ...]:
    unread = {*one.before.unread, *one.after.unread}
    found = []
    for name in names:
        before, after = getattr(one.before, name), getattr(one.after, name)
        if name in LINK_FIELDS:
            before = tuple(comparison.moved(link) for link in before)
        if name not in unread and before != after:
            found.append(FieldChange(name, _as_text(before), _as_text(after)))
    return tuple(found)


def _as_text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, tuple):
        return ", ".join(map(_as_text, value))
    if isinstance(value, Relation):
        return f"{value.type} {value.to}"
    return value.isoformat() if isinstance(value, date) else str(value)
