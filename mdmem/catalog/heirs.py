"""What follows from the entries of a catalog, taken over from one of nearly the same: few edits change little of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import compress
from operator import attrgetter, is_not
from typing import TYPE_CHECKING

from mdmem.catalog.adjacency import linked
from mdmem.catalog.by_address import ByAddress
from mdmem.catalog.traits import Traits
from mdmem.digests import unlike
from mdmem.entry.model import Entry, EntryType, Status
from mdmem.entry.stored_entries import StoredEntries

if TYPE_CHECKING:
    from mdmem.catalog.model import Catalog

# With more of them another one is made sooner.
_FEW = 100
_Pairs = list[tuple[Entry, Entry]]

# What of an entry decides whether it is among those of a trait.
_TOLD_BY: Mapping[str, Callable[[Entry], object]] = {
    "of_type": attrgetter("type"),
    "bound": lambda entry: bool(entry.applies_to),
    "doubtful": attrgetter("status", "expires_at"),
    "rated": attrgetter("type", "relevance_score"),
    "plain": lambda entry: (entry.type is EntryType.INVARIANT, bool(entry.overrides)),
    "hidden": attrgetter("status"),
    "splits": attrgetter("why_ended", "superseded_by"),
    "draft": attrgetter("status"),
}
# Those that hold entries, and which an entry is among.
_HOLDING: Mapping[str, Callable[[Entry], object]] = {
    "overriding": attrgetter("overrides"),
    "contested": attrgetter("contradicts"),
    "drafts": lambda entry: entry.status is Status.DRAFT,
}


def share(one: Catalog, other: Catalog) -> None:
    """Let a catalog of which nothing was told yet have what is known of another one, as `take_over` does."""
    if not one.is_told:
        # Made now, empty, so that what is told of the links later is told of both.
        other.adjacency  # noqa: B018
        take_over(one, other)


def take_over(new: Catalog, before: Catalog) -> None:
    """Let a catalog have what is known of another one, as far as it is the same where few of their entries differ."""
    if new is before or new.lineage is not before.lineage:
        return
    # Put in order, as nearly always, nothing is looked up.
    has_order = list(new.entries) == list(before.entries)
    if not has_order and new.entries.keys() != before.entries.keys():
        return
    changed = _unlike(before.entries, new.entries, has_order=has_order)
    if len(changed) > _FEW:
        return
    pairs = [(before.entries[one], new.entries[one]) for one in changed]
    known, own = dict(vars(before)), vars(new)
    same = ["rooms"]
    same += ["adjacency"] if _is_same(linked, pairs) else []
    are_as_before = new.wings == before.wings
    amends_nothing = not any(one.amends for pair in pairs for one in pair)
    same += ["amendments"] if are_as_before and amends_nothing and _is_same(attrgetter("type"), pairs) else []
    own.update({name: known[name] for name in same if name in known and name not in own})
    if "digests" in known and "digests" not in own:
        own["digests"] = _digests_like(known["digests"], before.file_digests, new.file_digests)
    if "traits" in known and "traits" not in own:
        own["traits"] = traits = Traits(new.entries, new.lineage)
        _take_over_traits(traits, known["traits"], pairs)
        if are_as_before:
            changed += _restated(before, new)
            # Copied: another thread may still answer of the catalog before, and keep more there.
            kept = dict(known["traits"].kept)
            traits.kept.update({key: one.heir(new, changed) for key, one in kept.items() if isinstance(one, ByAddress)})


def _unlike(before: Mapping[str, Entry], after: Mapping[str, Entry], *, has_order: bool) -> list[str]:
    if after is before:
        return []
    if isinstance(before, StoredEntries) and isinstance(after, StoredEntries):
        found = after.unlike(before)
        if found is not None:
            return found
    then = before.values() if has_order else map(before.__getitem__, after)
    return list(compress(after, map(is_not, then, after.values())))


def _digests_like(known: Mapping[str, str], before: Mapping[str, str], after: Mapping[str, str]) -> Mapping[str, str]:
    """Return the digests of the same entries, of which some have other files."""
    changed = list(unlike(before, after))
    if not changed:
        # By the very same ones an index knows what it was asked of.
        return known
    found = dict(known)
    for path in changed:
        address = path.removesuffix(".md")
        if path in after and address in found:
            found[address] = after[path]
        else:
            found.pop(address, None)
    return found


def _is_same(told_by: Callable[[Entry], object], pairs: _Pairs) -> bool:
    return all(told_by(old) == told_by(new) for old, new in pairs)


def _take_over_traits(traits: Traits, before: Traits, pairs: _Pairs) -> None:
    known, own = dict(vars(before)), vars(traits)
    same = [name for name, told_by in _TOLD_BY.items() if _is_same(told_by, pairs)]
    same += [name for name, holds in _HOLDING.items() if not any(holds(one) for pair in pairs for one in pair)]
    own.update({name: known[name] for name in same if name in known})


def _restated(before: Catalog, after: Catalog) -> list[str]:
    """Return the addresses of which something else is known of how they stand to the default branch."""
    one, other = before.stances or {}, after.stances or {}
    return [address for address in {*one, *other} if one.get(address) != other.get(address)]
