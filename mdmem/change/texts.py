"""Entries that say something else, word by word, and those of which only other fields changed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from difflib import SequenceMatcher

from mdmem.change.comparison import Comparison
from mdmem.change.review_model import FieldChange, FieldEdit, Rewording, Span
from mdmem.model.entry import Entry, EntryType, Relation
from mdmem.model.fields import LINK_FIELDS
from mdmem.model.finding import Finding
from mdmem.store.catalog.changes import BINDING_FIELDS, Changed

KEPT, TAKEN, PUT = " ", "-", "+"
# difflib takes time that grows with the product: beyond it the changed middle is told as one stretch.
_MANY = 4_000_000
_TOKEN = re.compile(r"\n[ \t]*\n\s*|\S+")
_PARAGRAPH = "\n\n"
BINDING = ("type", "focus", "expires_at", "overrides", "conflicts_with", *BINDING_FIELDS)
# The rest of the review tells these: the steps of a life, the chains, how a change of the text accounts for itself.
_TOLD = frozenset({"address", "title", "status", "supersedes", "superseded_by", "unread", *BINDING})
_OF_A_STEP = frozenset({"deprecated_at", "deprecated_reason", "reason", "approved_by"})
_OF_A_TEXT = frozenset({"version", "editorial_at"})
_NAMES = Entry.__struct_fields__
Faults = Mapping[str, Sequence[Finding]]
FROZEN_CODES = ("frozen-text-changed", "superseded-entry-edited", "type-changed")
_FROZEN = (EntryType.INVARIANT, EntryType.DECISION)


def word_changes(before: str, after: str) -> tuple[Span, ...]:
    """Return a text as stretches of words that were kept, taken out or put in; where lines end does not count.

    A blank line parts paragraphs and counts as a word of its own. Texts of the same words give no span.
    """
    old, new = _words(before), _words(after)
    if old == new:
        return ()
    return tuple(_spans(old, new))


def _words(text: str) -> list[str]:
    return [_PARAGRAPH if token.isspace() else token for token in _TOKEN.findall(text.strip())]


def _spans(old: list[str], new: list[str]) -> Iterator[Span]:
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    middle = old[start : len(old) - end], new[start : len(new) - end]
    yield from _span(KEPT, old[:start])
    if len(middle[0]) * len(middle[1]) > _MANY:
        yield from (*_span(TAKEN, middle[0]), *_span(PUT, middle[1]))
    else:
        yield from _matched(*middle)
    yield from _span(KEPT, old[len(old) - end :])


def _matched(old: list[str], new: list[str]) -> Iterator[Span]:
    for tag, first, last, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            yield from _span(KEPT, old[first:last])
        else:
            yield from (*_span(TAKEN, old[first:last]), *_span(PUT, new[start:end]))


def _span(mark: str, words: list[str]) -> Iterator[Span]:
    if words:
        yield Span(mark, " ".join(words).replace(f" {_PARAGRAPH} ", _PARAGRAPH))


def _common(old: list[str], new: list[str]) -> int:
    pairs = enumerate(zip(old, new, strict=False))
    return next((number for number, (one, other) in pairs if one != other), min(len(old), len(new)))


def binding_changes(comparison: Comparison, one: Changed) -> tuple[FieldChange, ...]:
    """Return the changes of the fields that say what binds, and where."""
    return _changes(comparison, one, BINDING)


def other_changes(comparison: Comparison, one: Changed, *, is_reworded: bool) -> tuple[FieldChange, ...]:
    """Return the changes of the fields that no other part of the review tells."""
    has_stepped = one.before.status is not one.after.status
    told = _TOLD | (_OF_A_STEP if has_stepped else frozenset()) | (_OF_A_TEXT if is_reworded else frozenset())
    return _changes(comparison, one, [name for name in _NAMES if name not in told])


def _changes(comparison: Comparison, one: Changed, names: Iterable[str]) -> tuple[FieldChange, ...]:
    unread = {*one.before.unread, *one.after.unread}
    found = []
    for name in names:
        before, after = getattr(one.before, name), getattr(one.after, name)
        if name in LINK_FIELDS:
            before = comparison.linked(before)
        if name not in unread and before != after:
            found.append(FieldChange(name, _shown(before), _shown(after)))
    return tuple(found)


def _shown(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, tuple):
        return ", ".join(map(_shown, value))
    if isinstance(value, Relation):
        return f"{value.type} {value.to}"
    return value.isoformat() if isinstance(value, date) else str(value)


def rewordings(comparison: Comparison, faults: Faults) -> tuple[Rewording, ...]:
    """Return the entries with another text, title or binding field, frozen ones first, then by authority."""
    found = [one for changed in comparison.changed() if (one := _rewording(comparison, changed, faults)) is not None]
    return tuple(sorted(found, key=lambda one: (not one.is_frozen, one.entry.rank)))


def field_edits(comparison: Comparison, reworded: Sequence[Rewording]) -> tuple[FieldEdit, ...]:
    """Return what changed in fields that say nothing binding, by authority."""
    told = {one.entry.address for one in reworded}
    found = []
    for one in comparison.changed():
        fields = other_changes(comparison, one, is_reworded=one.after.address in told)
        if fields:
            found.append(FieldEdit(comparison.after.ref_of(one.after), fields))
    return tuple(found)


def _rewording(comparison: Comparison, one: Changed, faults: Faults) -> Rewording | None:
    title = () if one.keeps_title else word_changes(one.before.title, one.after.title)
    body = () if one.keeps_text else word_changes(one.body_before, one.body_after)
    fields = binding_changes(comparison, one)
    if one.keeps_text and one.keeps_title and not fields:
        return None
    said = [finding.message for finding in faults.get(one.after.address, ()) if finding.code in FROZEN_CODES]
    return Rewording(
        entry=comparison.after.ref_of(one.after),
        is_frozen=_is_frozen(comparison, one),
        title=title,
        body=body,
        fields=fields,
        notice=_notice(one, is_layout=not (title or body or fields)),
        faults=tuple(said),
    )


def _is_frozen(comparison: Comparison, one: Changed) -> bool:
    bound = one.before.address in comparison.bound and one.after.address in comparison.binds
    return bound and one.before.type in _FROZEN


def _notice(one: Changed, *, is_layout: bool) -> str:
    parts = ["only where lines end changed"] if is_layout else []
    if one.before.version != one.after.version:
        parts.append(f"version {one.before.version or 1} → {one.after.version or 1}")
    if one.is_corrected and one.after.editorial_at is not None:
        parts.append(f"said to be a correction of {one.after.editorial_at.isoformat()}")
    return "; ".join(parts)
