"""Which fields of the front matter changed, and which of them say what binds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from datetime import date

from mdmem.checks.changes import BINDING_FIELDS, Changed
from mdmem.entry.model import LINK_FIELDS, Entry, Relation
from mdmem.review.comparison import Comparison
from mdmem.review.model import FieldChange

BINDING = ("type", "focus", "expires_at", "overrides", "conflicts_with", *BINDING_FIELDS)
# The rest of the review tells these: the steps of a life, the chains, how a change of the text accounts for itself.
_TOLD = frozenset({"address", "title", "status", "supersedes", "superseded_by", "unread", *BINDING})
_OF_A_STEP = frozenset({"deprecated_at", "deprecated_reason", "reason", "approved_by"})
_OF_A_TEXT = frozenset({"version", "editorial_at"})
_NAMES = tuple(item.name for item in fields(Entry))


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
