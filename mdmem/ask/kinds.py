"""What ranks the entries of a retrieval, by what they have in common: of thousands a few are looked at one by one."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from heapq import merge, nlargest
from itertools import groupby, islice, repeat
from operator import attrgetter, itemgetter, neg
from typing import Any, NamedTuple, Protocol, TypeVar, overload

from msgspec import Struct, field

from mdmem.ask.question import likeness_step
from mdmem.model.entry import Entry, EntryType


class _Rank(Protocol):
    @property
    def entry(self) -> Entry: ...
    @property
    def score(self) -> float: ...
    @property
    def terms(self) -> frozenset[str]: ...
    @property
    def current(self) -> bool: ...
    @property
    def is_proposal(self) -> bool: ...
    @property
    def on_path(self) -> bool: ...
    @property
    def lies_aside(self) -> bool: ...
    @property
    def matches(self) -> bool: ...
    @property
    def sort_key(self) -> tuple[Any, ...]: ...


_Ranked = TypeVar("_Ranked", bound=_Rank)

Force = tuple[bool, bool, int, int]
"""Whether an entry ended, is only proposed or merged, how far it is, and whether it is in doubt."""

AheadKey = tuple[tuple[Any, ...], int, int]
"""What sorts an entry before another: the key of that, 0 (1 for that one itself), and its place among those before."""


class RankKind(NamedTuple):
    """What ranks of a retrieval have in common: of thousands that match, most share a few of these."""

    type: EntryType
    force: Force
    matches: bool
    terms: frozenset[str]
    on_path: bool = False
    lies_aside: bool = False

    @property
    def current(self) -> bool:
        """Say whether it is in force."""
        return not self.force[0]

    @property
    def is_proposal(self) -> bool:
        """Say whether nobody agreed to it yet."""
        return self.force[1]

    @property
    def binds(self) -> bool:
        """Say whether it is in force, and not merely proposed."""
        return self.current and not self.is_proposal

    @property
    def always_stands(self) -> bool:
        """Say whether it is given whole whatever the budget: an invariant in force that the work at hand may meet."""
        return self.would_stand and not self.is_proposal

    @property
    def would_stand(self) -> bool:
        """Say whether it would be given whole whatever the budget, were it on the default branch."""
        return self.type is EntryType.INVARIANT and self.current and not self.lies_aside


class RankGroup(Struct, frozen=True, dict=True):
    """The ranks of one kind in columns, the best score first, equal ones by address.

    One that `is_alike` holds nothing but what is ranked by the words that it holds itself.
    """

    kind: RankKind
    addresses: list[str] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    is_alike: bool = False

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Return where each address stands, once they are in order."""
        return dict(zip(self.addresses, range(len(self.addresses)), strict=True))

    def at(self, places: Sequence[int]) -> RankGroup:
        """Return some of them, in their order."""
        addresses, scores = self.addresses.__getitem__, self.scores.__getitem__
        return RankGroup(self.kind, list(map(addresses, places)), list(map(scores, places)), is_alike=self.is_alike)

    def reaching(self, least: float) -> int:
        """Return how many have such a score, or a better one."""
        return bisect_right(self.scores, -least, key=neg)

    @property
    def positive(self) -> int:
        """Return how many have a score."""
        return bisect_left(self.scores, 0.0, key=neg)

    def sort(self) -> None:
        """Put them in order, the best score first."""
        pairs = sorted(zip(map(neg, self.scores), self.addresses, strict=True))
        self.scores[:] = [-score for score, _ in pairs]
        self.addresses[:] = [address for _, address in pairs]


class _Whole(Struct, frozen=True, eq=False, dict=True):
    """All groups of a retrieval, of which parts are asked."""

    groups: Sequence[RankGroup]

    @cached_property
    def group_of(self) -> Mapping[str, RankGroup]:
        """Return in which of them each address stands."""
        found: dict[str, RankGroup] = {}
        for group in self.groups:
            found.update(dict.fromkeys(group.addresses, group))
        return found


class _Order(Struct, frozen=True):
    """How ranks stand: by their places where these are known, else by their keys, but for what is `ahead`."""

    places: Mapping[str, int] | None = None
    ahead: Mapping[str, AheadKey] = field(default_factory=dict)

    def of(self, few: Iterable[_Ranked]) -> list[_Ranked]:
        """Return some in their order."""
        places = self.places
        if places is None:
            return sorted(few, key=self.key if self.ahead else attrgetter("sort_key"))
        return sorted(few, key=lambda one: places[one.entry.address])

    def key(self, one: _Rank) -> AheadKey:
        """Return what sorts one."""
        return self.ahead.get(one.entry.address) or (one.sort_key, 1, 0)


class Ranks(Sequence[_Ranked]):
    """What ranks the entries of a retrieval, by kind: of thousands a few are made, or put in order."""

    def __init__(
        self,
        groups: Sequence[RankGroup],
        make: Callable[[RankGroup, int], _Ranked],
        *,
        made: dict[str, _Ranked] | None = None,
        order: _Order | None = None,
        whole: _Whole | None = None,
    ) -> None:
        """Take the groups and what makes a rank of one; `made` are those that are made already, by address.

        `whole` are the ranks of which these are some.
        """
        self.groups, self._make, self._order, self._whole = groups, make, order or _Order(), whole or _Whole(groups)
        self._made: dict[str, _Ranked] = {} if made is None else made
        self._ordered: list[_Ranked] = []
        # None of what it goes on with leads back here: a server would keep each answer until it looks for garbage.
        self._rest = _iter_in_order(groups, partial(_at, self._made, make), self._order, self._whole)

    @classmethod
    def listed(cls, items: Iterable[_Ranked]) -> Ranks[_Ranked]:
        """Return ranks that are made and in order already."""
        made, groups = {item.entry.address: item for item in items}, dict[RankKind, RankGroup]()
        for address, item in made.items():
            kind = kind_of(item)
            group = groups.setdefault(kind, RankGroup(kind))
            group.addresses.append(address)
            group.scores.append(item.score)
        for group in groups.values():
            group.sort()
        places = {address: place for place, address in enumerate(made)}
        return cls(list(groups.values()), lambda group, at: made[group.addresses[at]], made=made, order=_Order(places))

    def where(self, test: Callable[[RankKind], bool]) -> Ranks[_Ranked]:
        """Return those of some kinds, in their order."""
        groups = [group for group in self.groups if test(group.kind)]
        return Ranks(groups, self._make, made=self._made, order=self._order, whole=self._whole)

    def some(self, chosen: Callable[[RankGroup], Sequence[int]]) -> Ranks[_Ranked]:
        """Return those at some places of each group, in their order."""
        parts = [group.at(chosen(group)) for group in self.groups]
        return Ranks(parts, self._make, made=self._made, order=self._order)

    def with_ahead(self, ahead: Mapping[str, AheadKey]) -> Ranks[_Ranked]:
        """Return the same, of which some stand before another one, by address."""
        return Ranks(self.groups, self._make, made=self._made, order=_Order(ahead=ahead), whole=self._whole)

    def find(self, address: str) -> _Ranked | None:
        """Return the rank of one entry, None where it is none of these."""
        group = self._whole.group_of.get(address)
        if group is None or not any(group is one for one in self.groups):
            return None
        return self._made.get(address) or self.at(group, group.places[address])

    def at(self, group: RankGroup, place: int) -> _Ranked:
        """Return one of a group, which is the same whoever asks."""
        return _at(self._made, self._make, group, place)

    def best(self, count: int, *, with_score: bool = True) -> list[_Ranked]:
        """Return the best by score, of equal ones the first in order; those without a score only where it is said."""
        held = {id(group): group.positive if with_score else len(group.scores) for group in self.groups}
        leading = (score for group in self.groups for score in group.scores[: min(count, held[id(group)])])
        least = min(nlargest(count, leading), default=0.0)
        few = (
            self.at(group, place)
            for group in self.groups
            for place in range(min(group.reaching(least), held[id(group)]))
        )
        return nlargest(count, self.in_order(few), key=_score_of)

    def in_order(self, few: Iterable[_Ranked]) -> list[_Ranked]:
        """Return a few of them in their order."""
        return self._order.of(few)

    @property
    def in_any_order(self) -> Iterator[_Ranked]:
        """Yield all of them: for who counts."""
        return _of(self.groups, self.at)

    def __len__(self) -> int:
        """Return how many there are."""
        return self._count

    @cached_property
    def _count(self) -> int:
        return sum(len(group.addresses) for group in self.groups)

    def __iter__(self) -> Iterator[_Ranked]:
        """Yield them in order."""
        at = 0
        while self._has(at):
            yield self._ordered[at]
            at += 1

    @overload
    def __getitem__(self, at: int) -> _Ranked: ...

    @overload
    def __getitem__(self, at: slice) -> list[_Ranked]: ...

    def __getitem__(self, at: int | slice) -> _Ranked | list[_Ranked]:
        """Return one, or some of them."""
        asked = range(len(self))[at]
        self._has(asked if isinstance(asked, int) else max(asked, default=-1))
        return self._ordered[at] if isinstance(at, int) else [self._ordered[one] for one in range(len(self))[at]]

    def _has(self, at: int) -> bool:
        """Put in order as many as are asked for, and say whether there are."""
        missing = at + 1 - len(self._ordered)
        if missing > 0:
            self._ordered += islice(self._rest, missing)
        return at < len(self._ordered)


def _at(made: dict[str, _Ranked], make: Callable[[RankGroup, int], _Ranked], group: RankGroup, place: int) -> _Ranked:
    address = group.addresses[place]
    one = made.get(address)
    if one is None:
        one = made[address] = make(group, place)
    return one


_At = Callable[[RankGroup, int], _Ranked]


def _of(groups: Iterable[RankGroup], at: _At[_Ranked]) -> Iterator[_Ranked]:
    return (at(group, place) for group in groups for place in range(len(group.addresses)))


def _iter_in_order(groups: Sequence[RankGroup], at: _At[_Ranked], order: _Order, whole: _Whole) -> Iterator[_Ranked]:
    if order.places is not None:
        yield from order.of(_of(groups, at))
    elif not order.ahead:
        yield from _iter_by_key(groups, at)
    else:
        found = ((one, whole.group_of.get(one)) for one in order.ahead)
        here = ((one, group) for one, group in found if group is not None and any(group is other for other in groups))
        ahead = order.of(at(group, group.places[one]) for one, group in here)
        others = (one for one in _iter_by_key(groups, at) if one.entry.address not in order.ahead)
        yield from merge(others, ahead, key=order.key)


def _iter_by_key(groups: Sequence[RankGroup], at: _At[_Ranked]) -> Iterator[_Ranked]:
    alike = defaultdict[tuple[int, Force], list[RankGroup]](list)
    for group in groups:
        alike[group.kind.type.rank, group.kind.force].append(group)
    for kind in sorted(alike):
        step = _note_step if alike[kind][0].kind.type is EntryType.NOTE else itemgetter(0)
        # By their columns: of the first of each group none is made that does not come.
        best_first = merge(*map(_scored, alike[kind]), key=itemgetter(0), reverse=True)
        for _, run in groupby(best_first, key=step):
            yield from sorted((at(group, place) for _, group, place in run), key=attrgetter("sort_key"))


def _scored(group: RankGroup) -> Iterator[tuple[float, RankGroup, int]]:
    return zip(group.scores, repeat(group), range(len(group.scores)), strict=False)


def kind_of(item: _Rank) -> RankKind:
    """Return what a rank has in common with others."""
    # Of what is in order already, the rest of its force is not asked for.
    force = (not item.current, item.is_proposal, 0, 0)
    return RankKind(item.entry.type, force, item.matches, item.terms, item.on_path, item.lies_aside)


def _score_of(item: _Rank) -> float:
    return item.score


def _note_step(scored: tuple[float, RankGroup, int]) -> float:
    """Return what is the same for notes whose scores do not tell which comes first."""
    return likeness_step(scored[0])
