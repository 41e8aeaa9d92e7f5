"""What an entry is to a scope on a day, whatever is asked: its type, and how it stands to what is in force here."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import date

from mdmem.ask.kinds import Force
from mdmem.ask.question import Tier
from mdmem.model.entry import Entry, EntryType, Status, Wing
from mdmem.model.lineage import Standing
from mdmem.store.catalog import Catalog
from mdmem.store.workspace.scope import Scope

Kind = tuple[EntryType, Force]
# So many scopes of a memory are known by what its entries are in them.
_SCOPES = 8
_KINDS: dict[Kind, Kind] = {}


class ScopeKinds(dict[str, Kind]):
    """Type and force by address, told when they are first asked for; the same objects for the same ones."""

    def __init__(self, catalog: Catalog, scope: Scope, today: date) -> None:
        """Take the entries, with what tells how they stand, and where and when it is asked."""
        super().__init__()
        self._entries, self._wings, self._current = catalog.entries, catalog.wings, catalog.lineage.current
        self._stances, self._scope, self._today = catalog.stances or {}, scope, today
        self._traits, self._doubtful = catalog.traits, catalog.traits.doubtful

    def learn(self, addresses: frozenset[str]) -> None:
        """Take note of those of entries that are in force.

        Of thousands all have the same as others of their type in their wing, but for those that a focus brings closer,
        that stand otherwise to the default branch, or that may not be active: no more are looked at.
        """
        if self._scope.focus is not None or self.keys() >= addresses:
            return
        new = addresses.difference(self.keys(), self._doubtful, self._stances)
        for held in self._traits.of_type.values():
            for some in self._by_wing(held & new):
                self.update(dict.fromkeys(some, self[next(iter(some))]))

    def _by_wing(self, addresses: Collection[str]) -> Iterable[Collection[str]]:
        if len(self._wings) == 1:
            return (addresses,) if addresses else ()
        found = defaultdict[str, list[str]](list)
        for one in addresses:
            found[one.partition("/")[0]].append(one)
        return found.values()

    def __missing__(self, address: str) -> Kind:
        """Return what is not known yet."""
        entry, stance = self._entries[address], self._stances.get(address)
        is_sure = entry.status is Status.ACTIVE and (
            not entry.expires_at or entry.status_on(self._today) is Status.ACTIVE
        )
        is_merged = stance is not None and stance.standing is Standing.MERGED
        is_proposal = is_merged or (stance is not None and stance.standing.is_proposal)
        force = (address not in self._current and not is_merged, is_proposal, self._distance(entry), int(not is_sure))
        found = self[address] = _KINDS.setdefault((entry.type, force), (entry.type, force))
        return found

    def _distance(self, entry: Entry) -> int:
        tier = tier_of(entry, self._scope, self._wings)
        return int(tier is not Tier.SHARED) if self._scope.starts_shared else tier.rank


def kinds_in(catalog: Catalog, scope: Scope, today: date) -> ScopeKinds:
    """Return what the entries of a catalog are, as it was told before of the same scope and day."""
    kept = catalog.traits.kept
    told_by = ("kinds", scope.wing, scope.focus, scope.starts_shared, today)
    if told_by not in kept and len(kept) > _SCOPES:
        kept.clear()
    found: ScopeKinds = kept.get(told_by) or kept.setdefault(told_by, ScopeKinds(catalog, scope, today))
    return found


def tier_of(entry: Entry, scope: Scope, wings: Mapping[str, Wing]) -> Tier:
    """Return how near an entry stands to a scope."""
    if wings[entry.wing].is_shared:
        return Tier.SHARED
    is_focus = scope.focus is not None and entry.focus == scope.focus and entry.wing == scope.wing
    return Tier.FOCUS if is_focus else Tier.PROJECT
