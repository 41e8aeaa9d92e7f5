"""Entries that say something else, word by word, and those of which only other fields changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mdmem.checks.changes import Changed
from mdmem.entry.model import EntryType
from mdmem.finding import Finding
from mdmem.review.comparison import Comparison
from mdmem.review.fields import binding_changes, other_changes
from mdmem.review.model import FieldEdit, Rewording
from mdmem.review.words import word_changes

Faults = Mapping[str, Sequence[Finding]]
FROZEN_CODES = ("frozen-text-changed", "superseded-entry-edited", "type-changed")
_FROZEN = (EntryType.INVARIANT, EntryType.DECISION)


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
