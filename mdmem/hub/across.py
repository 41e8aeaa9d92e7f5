"""One question put to all repositories that are seen: what may answer is found first, then the features answer."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from functools import cached_property

from mdmem.dataclass import dataclass, field, replace
from mdmem.errors import UsageError
from mdmem.hub.candidates import all_of, any_of, candidates, within
from mdmem.hub.levels import ENOUGH, levels_of
from mdmem.hub.match_text import FoundText, Matches
from mdmem.hub.reader import Reader
from mdmem.hub.rows import BROKEN, ENTRY, mark
from mdmem.hub.text import corpus_of
from mdmem.hub.union import Origins, UnionWorkspace, union_of
from mdmem.index.fields import SCORED
from mdmem.index.scoring import Leaf, Query, Totals, plain, rank, term
from mdmem.retrieval.entries import ShownEntry, in_full, list_entries
from mdmem.retrieval.pack import PLAIN, Pack, Printed
from mdmem.retrieval.question import Question, SearchResult
from mdmem.retrieval.search import search_in
from mdmem.settings import Settings
from mdmem.workspace.scope import Filters, Scope, ScopeState

# Files that cannot be read and are named: each may be an invariant.
_BROKEN = 5
# Of the matches those are looked at more closely that may come first; what a lineage takes away leaves room for others.
_CLOSER = 40
_PREFIXES = 12


@dataclass(frozen=True, slots=True)
class AcrossRequest:
    """A question, the repositories that it is put to, all where none are named, and how many answers are wanted."""

    question: Question
    repositories: tuple[str, ...] = ()
    limit: int = 10


@dataclass(frozen=True, slots=True)
class Reach:
    """How far an answer reaches: how many entries match, at least where not all were looked at, and in how many wings.

    `begun` are the words that nothing holds, and that stand for what begins with them.
    """

    matches: int
    is_all: bool
    entries: int
    begun: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AcrossAnswer:
    """What a question to many repositories found: a result of a feature, and where each of its wings comes from."""

    result: SearchResult | Pack | tuple[ShownEntry, ...]
    workspace: UnionWorkspace
    origins: Origins
    reach: Reach
    pins: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def search_across(reader: Reader, request: AcrossRequest, *, today: date) -> AcrossAnswer:
    """Return the hits of many repositories, best first, superseded ones resolved to their heads."""
    finding = _Finding(reader, request)
    closer = request.limit + _CLOSER
    while True:
        union, origins = finding.closer(closer, today=today)
        asked = replace(request.question, filters=finding.filters)
        result = search_in(union, finding.scope(origins), asked)
        if len(result.hits) >= request.limit or closer >= len(finding.matches.ranked):
            return AcrossAnswer(result, union, origins, finding.reach)
        closer *= 4


def retrieve_across(
    reader: Reader, request: AcrossRequest, *, today: date, budget: int | None = None, printed: Printed = PLAIN
) -> AcrossAnswer:
    """Return what of many repositories binds for some words, within a budget; invariants come first."""
    from mdmem.retrieval.budget import pack
    from mdmem.retrieval.mentions import texts_of
    from mdmem.retrieval.retrieve import retrieve_in

    if request.question.paths:
        raise UsageError("a path is one of a repository; name that with --repository")
    finding = _Finding(reader, request)
    union, origins = finding.closer(_CLOSER, today=today)
    asked = replace(request.question, filters=finding.filters)
    found = retrieve_in(union, finding.scope(origins), asked)
    limit = Settings().budget if budget is None else budget
    packed = pack(found, limit, texts=texts_of(union, found), printed=printed)
    return AcrossAnswer(packed, union, origins, finding.reach)


def list_across(reader: Reader, request: AcrossRequest, *, today: date) -> AcrossAnswer:
    """Return the entries of many repositories that pass the filters, as many as are wanted, and whether that is all."""
    finding = _Finding(reader, request)
    filters = request.question.filters
    level = all_of((finding.narrowed, any_of([mark("status", one) for one in _stated(filters)]), any_of([ENTRY])))
    ids = candidates(reader, [level], finding.wings, most=request.limit + 1)
    union, origins = union_of(reader, ids, lambda rows: FoundText(reader, rows), today=today)
    scope = finding.scope(origins)
    listed = [one for one in list_entries(union, finding.filters) if scope.holds(one.address)]
    reach = Reach(len(ids), len(ids) <= request.limit, 0)
    return AcrossAnswer(in_full(union, listed[: request.limit]), union, origins, reach)


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

    def __init__(self, reader: Reader, request: AcrossRequest) -> None:
        self.reader, self.request = reader, request
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
            found = [self._repository(name) for name in named]
            own = {wing.id for wing in self.reader.wings_of(found)}
            of = frozenset(own | {pin.wing_id for pin in self.reader.pins_of(found)})
        if not self._filters.wings:
            return of
        called = frozenset(wing.id for wing in self.reader.wings_named(self._filters.wings))
        if not called:
            raise UsageError(f"no repository that you may read has a wing {' or '.join(self._filters.wings)}")
        return called if of is None else called & of

    def _repository(self, name: str) -> int:
        found = self.reader.find_repository(name)
        if found is None:
            raise UsageError(f"the hub has no repository `{name}`; `mdmem hub status` names those that you may read")
        return found.id

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
        found = self._ranked(plain(words))
        return found if found.ranked or not found.query.leaves else self._begun(found)

    def _begun(self, without: Matches) -> Matches:
        """Return what holds words that begin with those of the question, which nothing holds."""
        stems = {text: text for text in without.query.typed}
        grown = {
            more: typed
            for text, typed in stems.items()
            for more in self.reader.terms_beginning(text, self._all_wings, most=_PREFIXES)
        }
        leaves = tuple(Leaf(term(more), (typed,), text=more) for more, typed in grown.items())
        query = Query(leaves, without.query.typed, frozenset(grown))
        begun = tuple(dict.fromkeys(without.query.typed[typed] for typed in grown.values()))
        return replace(self._ranked(query), begun=begun) if leaves else without

    @cached_property
    def _all_wings(self) -> frozenset[int]:
        return self.wings if self.wings is not None else self.reader.wing_ids()

    def _ranked(self, query: Query) -> Matches:
        wanted = query.wanted or frozenset()
        if not wanted:
            return Matches(query, (), {}, is_all=True)
        holders = self.reader.holders(wanted, self._all_wings)
        typed = [leaf.text for leaf in query.leaves if leaf.text is not None]
        terms = [text for text in typed if text in query.typed] or typed
        levels = levels_of(terms, sorted(wanted.difference(terms)), holders, self.narrowed)
        most = 1 << 30 if levels.is_all else ENOUGH
        ids = candidates(self.reader, levels.texts, self.wings, most=most)
        held = list(self.reader.terms(ids, wanted))
        origins = Origins(self.reader, {one.wing_id for one in held})
        keyed = {origins.address(one.wing_id, one.path): one for one in held}
        documents, passages, lengths = self.reader.totals(self._all_wings)
        totals = Totals(documents, passages, dict(zip(SCORED, lengths, strict=True)), holders)
        known = sorted((key, one.passages) for key, one in keyed.items() if one.passages is not None)
        ranked = rank(query, corpus_of([(key, passages or ()) for key, passages in known], totals), lambda _: ())
        return Matches(
            query, ranked, {key: one.id for key, one in keyed.items()}, is_all=levels.is_all or len(ids) < most
        )

    def closer(self, most: int, *, today: date) -> tuple[UnionWorkspace, Origins]:
        """Return the best matches with all that decides how they stand, and files that cannot be read."""
        matches = self.matches
        seeds = [matches.ids[match.key] for match in matches.ranked[:most]]
        broken = candidates(self.reader, [all_of((within(self.wings), any_of([BROKEN])))], self.wings, most=_BROKEN)
        return union_of(
            self.reader,
            [*seeds, *broken],
            lambda rows: FoundText(self.reader, rows, self.request.question.words, matches),
            today=today,
        )

    def scope(self, origins: Origins) -> Scope:
        """Return the scope of the wings that are asked: nothing of them comes unasked."""
        asked = [one.label for key, one in origins.of.items() if self.wings is None or key in self.wings]
        return Scope(wing=None, wings=tuple(sorted(asked)), rooms=self._filters.rooms, state=ScopeState.UNRESOLVED)

    @property
    def reach(self) -> Reach:
        """Return how far the answer reaches."""
        matches = self.matches
        return Reach(len(matches.ranked), matches.is_all, 0, matches.begun)
