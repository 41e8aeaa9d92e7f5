"""Questions to many repositories at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from functools import cached_property, partial
from typing import Generic, NamedTuple, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from mdmem.ask.answers import SHORT_BUDGET, Answer, Answers, without_repeats
from mdmem.ask.budget import pack
from mdmem.ask.entries import ShownEntry, in_full, list_entries
from mdmem.ask.mentions import texts_of
from mdmem.ask.pack import NOTHING_GIVEN, PLAIN, Given, Pack, PackedEntry, Printed
from mdmem.ask.question import Question, SearchResult
from mdmem.ask.retrieve import retrieve_in
from mdmem.ask.search import search_in
from mdmem.errors import UsageError
from mdmem.hub.reader import HeldTerms, PlacedRow, Reader
from mdmem.hub.repository_copy import Origins
from mdmem.hub.rows import BROKEN, Totals, Wanted, mark, wanted_in
from mdmem.hub.text import (
    FoundText,
    Matches,
    all_of,
    any_of,
    candidates,
    foremost,
    holders,
    likely,
    rows_of,
    terms_beginning,
    within,
)
from mdmem.hub.union import UnionWorkspace, ordered_rows, union_of
from mdmem.model.entry import EntryType
from mdmem.store.settings import Settings
from mdmem.store.workspace.scope import Filters, Scope, ScopeState

_Result = TypeVar("_Result")
# Files that cannot be read and are named, and so many are counted: each may be an invariant.
_BROKEN, _BROKEN_COUNTED = 5, 1_000
# Of the matches those are looked at more closely that may come first; what a lineage takes away leaves room for others.
_CLOSER = 40


class AcrossRequest(Struct, frozen=True):
    """A question, the repositories that it is put to, all where none are named, and how many answers are wanted."""

    question: Question
    repositories: tuple[str, ...] = ()
    limit: int = 10


class Reach(Struct, frozen=True):
    """How far an answer reaches: how many entries match, at least where not all were looked at.

    `begun` are the words that nothing holds, and that stand for what begins with them. `weighed` says of how many
    matches an answer was made that takes the best, `unread` how many files cannot be read, of which few are named.
    """

    matches: int
    is_all: bool
    begun: tuple[str, ...] = ()
    weighed: int | None = None
    unread: int = 0


class Pinned(NamedTuple):
    """A repository that reads an entry of another place, and at which commit."""

    repository: str
    commit: str


class AcrossAnswer(Struct, Generic[_Result], frozen=True):
    """What a question to many repositories found: a result of a feature, and where each of its wings comes from.

    `is_cut` says that more decides how its entries stand than was read.
    """

    result: _Result
    origins: Origins
    reach: Reach
    pins: Mapping[str, tuple[Pinned, ...]] = field(default_factory=dict)
    is_cut: bool = False


class HitsAcross(AcrossAnswer[SearchResult], frozen=True, kw_only=True):
    """The hits of many repositories, and the workspace of which their snippets are read."""

    workspace: UnionWorkspace


def search_across(reader: Reader, request: AcrossRequest, *, today: date) -> HitsAcross:
    """Return the hits of many repositories, best first, superseded ones resolved to their heads."""
    finding = _Finding(reader, request)
    closer = request.limit + _CLOSER
    while True:
        union, origins = finding.closer(closer, today=today)
        asked = replace(request.question, filters=finding.filters)
        result = search_in(union, finding.scope(origins), asked)
        if len(result.hits) >= request.limit or closer >= len(finding.matches.ranked):
            reach = finding.reach()
            return HitsAcross(result, origins, reach, finding.pins, is_cut=union.is_cut, workspace=union)
        closer *= 4


def retrieve_across(
    reader: Reader,
    request: AcrossRequest,
    *,
    today: date,
    budget: int | None = None,
    printed: Printed = PLAIN,
    given: Given = NOTHING_GIVEN,
) -> AcrossAnswer[Pack]:
    """Return what of many repositories binds for some words, within a budget.

    Invariants that hold any of them come first, however many entries match better. What was `given` is a line.
    """
    if request.question.paths:
        raise UsageError("a path is one of a repository; name that with --repository")
    finding = _Finding(reader, request, is_about_binding=True)
    union, origins = finding.closer(_CLOSER, today=today)
    asked = replace(request.question, filters=finding.filters)
    found = retrieve_in(union, finding.scope(origins), asked)
    limit = Settings().budget if budget is None else budget
    packed = pack(found, limit, texts=texts_of(union, found), printed=printed, given=given)
    reach = finding.reach(len(finding.seeds(_CLOSER)))
    return AcrossAnswer(packed, origins, reach, finding.pins, is_cut=union.is_cut)


def list_across(reader: Reader, request: AcrossRequest, *, today: date) -> AcrossAnswer[tuple[ShownEntry, ...]]:
    """Return entries of many repositories that pass the filters, by repository and address, as many as are wanted.

    The reach counts all that state what is asked for, of which some may not be in force.
    """
    finding = _Finding(reader, request)
    level = all_of((finding.narrowed, any_of([mark("status", one) for one in _stated(request.question.filters)])))
    most = request.limit + 1
    while True:
        found = ordered_rows(reader, level, finding.wings, least=most)
        placed = {found.origins.address(row.wing_id, row.path): row for row in found.rows}
        copies = _copies(found.origins, placed)
        order = [address for address in placed if address in copies]
        first = {address: at for at, address in enumerate(order[:most])}
        seeds = [placed[address].id for address in first]
        union, origins = union_of(reader, seeds, lambda held: FoundText(reader, held), today=today)
        scope = finding.scope(origins)
        passing = (one for one in list_entries(union, finding.filters) if scope.holds(one.address))
        listed = sorted((one for one in passing if one.address in first), key=lambda one: first[one.address])
        is_all = found.is_whole and len(order) <= most
        if len(listed) > request.limit or is_all:
            break
        most *= 2
    is_all = is_all and len(listed) <= request.limit
    matches = len(order) if found.is_whole else found.count
    shown = in_full(union, listed[: request.limit])
    pins = _pins(reader, _pinned(found.origins, copies))
    return AcrossAnswer(shown, origins, Reach(matches, is_all), pins, is_cut=union.is_cut)


def _stated(filters: Filters) -> list[str]:
    """Return the statuses that an entry may state which passes filters on the day."""
    if filters.statuses:
        expiring = ["active"] if "under_review" in filters.statuses else []
        return [*map(str, filters.statuses), *expiring]
    return [
        *("active", "under_review"),
        *(["draft"] if filters.include_drafts else []),
        *(["deprecated"] if filters.include_deprecated else []),
    ]


class _Finding:
    """What may answer one question: the wings, the words, the rows."""

    def __init__(self, reader: Reader, request: AcrossRequest, *, is_about_binding: bool = False) -> None:
        self.reader, self.request, self._is_about_binding = reader, request, is_about_binding
        if request.question.syntax:
            raise UsageError("the query language is for one repository; name it with --repository")

    @property
    def _filters(self) -> Filters:
        return self.request.question.filters

    @cached_property
    def filters(self) -> Filters:
        """The filters but wings and rooms, which the scope has."""
        return replace(self._filters, wings=(), rooms=())

    @cached_property
    def wings(self) -> frozenset[int] | None:
        """The wings that the question is put to; None for all."""
        named = self.request.repositories
        if not named and not self._filters.wings:
            return None
        of: frozenset[int] | None = None
        if named:
            found = [self.reader.get_repository(name).id for name in named]
            own = {wing.id for wing in self.reader.wings_of(found)}
            of = frozenset(own | {pin.wing_id for pin in self.reader.pins_of(found)})
        if not self._filters.wings:
            return of
        called = frozenset(wing.id for wing in self.reader.wings_named(self._filters.wings))
        if not called:
            raise UsageError(f"no repository that you may read has a wing {' or '.join(self._filters.wings)}")
        return called if of is None else called & of

    @cached_property
    def narrowed(self) -> str:
        """What of a `tsquery` the filters are."""
        stated = {
            "type": self._filters.types,
            "room": self._filters.rooms,
            "label": self._filters.labels,
            "owner": self._filters.owners,
            "focus": self._filters.focuses,
            "tag": self._filters.tags,
        }
        marks = (any_of([mark(name, str(value)) for value in values]) for name, values in stated.items() if values)
        return all_of((within(self.wings), *marks))

    @cached_property
    def matches(self) -> Matches:
        """What holds words of the question, best first."""
        words = self.request.question.words
        found = self._ranked(wanted_in(words))
        return found if found.ranked or not found.wanted.held else self._begun(found)

    def _begun(self, without: Matches) -> Matches:
        """Return what holds words that begin with those of the question, which nothing holds."""
        grown = {
            more: (typed,)
            for typed in without.wanted.typed
            for more in terms_beginning(self.reader, typed, self.wings, narrow=self.narrowed)
        }
        begun = tuple(dict.fromkeys(without.wanted.typed[typed] for (typed,) in grown.values()))
        return replace(self._ranked(Wanted(without.wanted.typed, grown)), begun=begun) if grown else without

    def _ranked(self, asked: Wanted) -> Matches:
        wanted = sorted(asked.held)
        if not wanted:
            return Matches(asked, (), {}, is_all=True)
        documents, _, lengths = self.reader.totals(self.wings)
        known = holders(self.reader, wanted, self.wings)
        ids, is_cut = likely(self.reader, known, self.wings, documents=documents, narrow=self.narrowed)
        binding = frozenset[int]()
        if self._is_about_binding:
            invariants = all_of((self.narrowed, any_of([mark("type", EntryType.INVARIANT)])))
            most = 4 * _CLOSER
            binding = foremost(self.reader, known, self.wings, documents=documents, narrow=invariants, most=most)
        held = list(self.reader.terms(ids | binding, wanted))
        origins = Origins(self.reader, {one.wing_id for one in held})
        keyed = {origins.address(one.wing_id, one.path): one for one in held}
        totals = Totals(documents, lengths, known)
        read = [(key, keyed[key]) for key in sorted(keyed) if keyed[key].lengths is not None]
        ranked = rows_of(read, totals).rank(asked)
        copies = _copies(origins, keyed)
        best = tuple(match for match in ranked if match.key in copies)
        rows = {key: one.id for key, one in keyed.items()}
        return Matches(asked, best, rows, is_all=not is_cut, binding=binding, pinned=_pinned(origins, copies))

    def seeds(self, most: int) -> list[int]:
        """Return the best matches, and as many of the invariants among them."""
        matches = self.matches
        ranked = [matches.ids[match.key] for match in matches.ranked]
        return list(dict.fromkeys([*ranked[:most], *[one for one in ranked if one in matches.binding][:most]]))

    def closer(self, most: int, *, today: date) -> tuple[UnionWorkspace, Origins]:
        """Return the best matches with all that decides how they stand, and files that cannot be read."""
        matches = self.matches
        return union_of(
            self.reader,
            [*self.seeds(most), *self._broken[:_BROKEN]],
            lambda rows: FoundText(self.reader, rows, self.request.question.words, matches),
            today=today,
        )

    @cached_property
    def _broken(self) -> list[int]:
        """The files that cannot be read."""
        level = all_of((within(self.wings), any_of([BROKEN])))
        return sorted(candidates(self.reader, level, self.wings, most=_BROKEN_COUNTED))

    def scope(self, origins: Origins) -> Scope:
        """Return the scope of the wings that are asked: nothing of them comes unasked."""
        asked = [label for key, label in origins.labels.items() if self.wings is None or key in self.wings]
        return Scope(wing=None, wings=tuple(sorted(asked)), rooms=self._filters.rooms, state=ScopeState.UNRESOLVED)

    def reach(self, weighed: int | None = None) -> Reach:
        """Return how far the answer reaches."""
        matches = self.matches
        return Reach(len(matches.ranked), matches.is_all, matches.begun, weighed, len(self._broken))

    @cached_property
    def pins(self) -> dict[str, tuple[Pinned, ...]]:
        """Who pins an entry, by address, of those that are of a wing that others pin."""
        return _pins(self.reader, self.matches.pinned)


def _pinned(origins: Origins, copies: Mapping[str, frozenset[int]]) -> dict[str, frozenset[int]]:
    """Return, by address, the wings that others pin of those that hold an entry, where there are any."""
    found = {
        address: frozenset(key for key in held if origins.wings[key].repository_id is None)
        for address, held in copies.items()
    }
    return {address: held for address, held in found.items() if held}


def _pins(reader: Reader, pinned: Mapping[str, frozenset[int]]) -> dict[str, tuple[Pinned, ...]]:
    """Return who pins an entry, by address, where some do."""
    if not pinned:
        return {}
    wings = reader.wings(frozenset[int]().union(*pinned.values()))
    on = reader.pins_on(wings)
    names = reader.repositories({pin.repository_id for pin in on}) if on else {}
    by_wing: dict[int, list[Pinned]] = {}
    for pin in on:
        if pin.repository_id in names:
            one = Pinned(names[pin.repository_id].name, wings[pin.wing_id].commit or "")
            by_wing.setdefault(pin.wing_id, []).append(one)
    found = {
        address: tuple(one for key in sorted(held) for one in by_wing.get(key, ())) for address, held in pinned.items()
    }
    return {address: tuple(sorted(pins)) for address, pins in found.items() if pins}


def _copies(origins: Origins, held: Mapping[str, HeldTerms | PlacedRow]) -> dict[str, frozenset[int]]:
    """Return, for one address of each entry, the wings that hold it: it may be pinned, and its own repository here.

    That of its own repository goes before those that are pinned, and never in the place of another repository's:
    where that is at home its pushers say.
    """
    alike: dict[object, list[str]] = {}
    places = {key: origins.place(key) for key in {one.wing_id for one in held.values()}}
    for address, one in held.items():
        alike.setdefault((places[one.wing_id], one.path, one.blob), []).append(address)
    found = {}
    for addresses in alike.values():
        own = [one for one in addresses if origins.wings[held[one].wing_id].repository_id is not None]
        pinned = set(addresses).difference(own)
        for first in own or [min(pinned)]:
            found[first] = frozenset(held[one].wing_id for one in {first, *pinned})
    return found


class UnionAnswers(Struct, frozen=True):
    """What a call gives, and where each answer comes from, in the same order."""

    answers: Answers
    found: tuple[AcrossAnswer[Pack], ...]


def answer_each_across(
    reader: Reader,
    main: Question | None,
    questions: Sequence[Question],
    *,
    today: date,
    repositories: tuple[str, ...] = (),
    budget: int | None = None,
    printed: Printed = PLAIN,
    printed_short: Printed = PLAIN,
) -> UnionAnswers:
    """Return the answer to the work at hand, if it is asked for, and short ones to the questions."""
    found: list[AcrossAnswer[Pack]] = []
    given: dict[str, str] = {}
    for question in (*([main] if main is not None else []), *questions):
        is_short = question is not main
        answer = retrieve_across(
            reader,
            AcrossRequest(question, repositories),
            today=today,
            budget=SHORT_BUDGET if is_short and budget is None else budget,
            printed=printed_short if is_short else printed,
            given=given,
        )
        found.append(replace(answer, result=_apart(answer.result)))
        given |= answer.result.gave
    first = found[:1] if main is not None else []
    work = first[0].result if first else None
    others = found[len(first) :]
    packs = tuple(without_repeats(work, [one.result for one in others]))
    apart = (replace(one, result=pack) for one, pack in zip(others, packs, strict=True))
    return UnionAnswers(Answers(work, tuple(map(Answer, questions, packs))), (*first, *apart))


def _apart(pack: Pack) -> Pack:
    """Return an answer that lets go of all that was read for it: of many questions that is a gigabyte."""
    return replace(pack, items=tuple(map(_explained, pack.items)), proposed=tuple(map(_explained, pack.proposed)))


def _explained(one: PackedEntry) -> PackedEntry:
    return replace(one, item=replace(one.item, why=partial(str, one.item.reason)))
