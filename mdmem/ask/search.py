"""Full text with lineage: a hit on a superseded entry yields what replaced it.

Thousands of things in an order of which a few are asked for.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from datetime import date
from itertools import compress
from operator import attrgetter, not_
from typing import Any, NamedTuple, TypeVar, overload

from msgspec.structs import replace

from mdmem.ask.bearings import bearings_of, claimants_first, claims_on, ended_match
from mdmem.ask.full_text import find_text
from mdmem.ask.matches import MatchColumns
from mdmem.ask.problems import problems_in
from mdmem.ask.question import AnswerBasis, Described, Hit, Question, SearchResult, likeness_key, likeness_step
from mdmem.errors import GoneError
from mdmem.model.entry import Entry, Status
from mdmem.model.lineage import Lineage
from mdmem.store.catalog import Catalog, is_entry_place
from mdmem.store.index.protocol import Match
from mdmem.store.index.snippet import snippet
from mdmem.store.workspace.proposals import View, view_of
from mdmem.store.workspace.scope import Filters, Scope, reading_scope
from mdmem.store.workspace.workspace import Workspace

_Made = TypeVar("_Made")


class Stepped(Sequence[_Made]):
    """What is given by steps in order, and within each put in order when it is asked for: of thousands a few are."""

    def __init__(
        self,
        given: list[_Made],
        step: Callable[[_Made], Any],
        key: Callable[[_Made], Any],
        step_in: Callable[[Any], Any],
    ) -> None:
        """Take what is given, which is sorted by its steps, what sorts it all, and the step in a key."""
        self._given, self._step, self._key, self._step_in = given, step, key, step_in
        self._done = 0

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._given)

    def __iter__(self) -> Iterator[_Made]:
        """Yield them in order."""
        at = 0
        while at < len(self._given):
            self._order(at + 1)
            # While they are looked at, others may be asked for.
            ordered = self._given[at : self._done]
            yield from ordered
            at += len(ordered)

    @overload
    def __getitem__(self, at: int) -> _Made: ...

    @overload
    def __getitem__(self, at: slice) -> list[_Made]: ...

    def __getitem__(self, at: int | slice) -> _Made | list[_Made]:
        """Return one, or some of them."""
        last = range(len(self._given))[at]
        self._order(last + 1 if isinstance(last, int) else max(last, default=-1) + 1)
        return self._given[at]

    def with_more(self, more: Mapping[_Made, Any]) -> Stepped[_Made]:
        """Return these and others, by their keys, each at its place in the order."""
        given, old_key, old_step, step_in = [*self._given], self._key, self._step, self._step_in

        def key_of(one: _Made) -> Any:
            return more[one] if one in more else old_key(one)

        def step_of(one: _Made) -> Any:
            return step_in(more[one]) if one in more else old_step(one)

        for one, key in more.items():
            # Steps are in order, so that this is at least next to those of its own.
            given.insert(bisect_right(given, key, key=key_of), one)
        return Stepped(given, step_of, key_of, step_in)

    def _order(self, end: int) -> None:
        """Put in order at least so many."""
        given = self._given
        while self._done < end:
            start = self._done
            stop = bisect_right(given, self._step(given[start]), lo=start, key=self._step)
            given[start:stop] = sorted(given[start:stop], key=self._key)
            self._done = stop


def search_in(
    workspace: Workspace,
    scope: Scope,
    question: Question,
    among: frozenset[str] | None = None,
    *,
    beside: SearchResult | None = None,
) -> SearchResult:
    """Return the hits in a scope, best first; equal scores put what is current before what ended.

    `among` are the only entries whose match counts, where not all do; `beside` is that of another version of them.
    """
    catalog, today, filters = workspace.catalog, workspace.today, question.filters
    held = scope.held(catalog)
    counting = held if among is None else among.intersection(held)
    best = None if beside is None else next((hit.score for hit in beside.hits[:1]), None)
    # A match that was replaced counts for what replaced it only where it is of a wanted type itself.
    types = {"type": filters.types} if filters.types else None
    answer = find_text(workspace, question, counting, filters=types, best=best)
    matches = MatchColumns.of(answer.matches)
    # Of most that match it is seen at once that they stand for themselves.
    alone = catalog.lineage.current if _lets_all_in(filters) else frozenset[str]()
    are = list(map(alone.__contains__, matches.keys))
    others = matches.where(map(not_, are))
    found = _Found({}, {})
    for match, addresses in zip(others, map(_stand_ins(catalog, filters, today).__getitem__, others.keys), strict=True):
        for address in addresses:
            found.add(match if address == match.key else Match(address, match.score, _NO_TERMS), match.key)
    drafts = catalog.traits.draft.intersection(others.keys)
    is_hidden = not (filters.include_drafts or filters.statuses)
    matched = frozenset[str]().union(*set(matches.terms))
    if types and len(matched) < len(answer.terms):
        # What is left out holds words, too.
        matched = matched.union(*{one.terms for one in find_text(workspace, question, counting).matches})
    return SearchResult(
        query=question.words,
        hits=_hits(catalog, scope, found.over(matches, are), via=found.via, today=today),
        terms=frozenset(answer.terms),
        drafts=sum(passes(catalog.entries[one], filters, today) for one in drafts) if is_hidden else 0,
        basis=AnswerBasis(
            problems=problems_in(catalog, scope),
            unmatched_terms=tuple(answer.words[term] for term in answer.terms if term not in matched),
            degraded=answer.degraded,
            why_degraded=answer.why,
            source=answer.source,
            ended=ended_match(catalog, matches, question.filters),
        ),
    )


def with_versions(result: SearchResult, other: SearchResult, view: View) -> SearchResult:
    """Return a result with those hits of another one, of the files, that are versions which are only proposed."""
    more = [hit for hit in other.hits if hit.entry.address in view.alternatives]
    unmatched = tuple(word for word in result.basis.unmatched_terms if word in other.basis.unmatched_terms)
    basis = replace(result.basis, unmatched_terms=unmatched)
    has_claims = any(workspace.catalog.lineage.claimed for workspace in (view.effective, view.checkout))
    hits = _ordered([*result.hits, *more]) if has_claims else _with(result.hits, more)
    return replace(result, hits=hits, basis=basis)


def _ordered(hits: Iterable[Hit]) -> tuple[Hit, ...]:
    """Order by score; equal ones put what is current before what ended, and what binds before what is proposed.

    Within a type, what claims an entry's place comes before it.
    """
    return tuple(claimants_first(sorted(hits, key=_key_of), attrgetter("claimed_by")))


def _with(hits: Sequence[Hit], more: Iterable[Hit]) -> Sequence[Hit]:
    """Return hits with some more at their places in the order; those that are not looked at stay undescribed."""
    if isinstance(hits, Described) and isinstance(hits.ranked, Stepped):
        found, beside = hits, dict(enumerate(more, len(hits)))
        ranked = hits.ranked.with_more({at: _key_of(hit) for at, hit in beside.items()})
        return Described(ranked, lambda at: beside[at] if at in beside else found.describe(at))
    return sorted([*hits, *more], key=_key_of)


def _key_of(hit: Hit) -> _Key:
    return _key(hit.entry, hit.score, is_current=hit.entry.address in hit.heads, is_proposal=hit.is_proposal)


_NO_TERMS = frozenset[str]()
_Key = tuple[tuple[float, float, float], bool, bool, str]


def _key(entry: Entry, score: float, *, is_current: bool, is_proposal: bool) -> _Key:
    return likeness_key(entry, score), not is_current, is_proposal, entry.address


def passes(entry: Entry, filters: Filters, today: date) -> bool:
    """Say whether an entry passes every filter but wing and room, by its status of the day."""
    return (
        filters.lets_in(entry)
        and (not filters.focuses or entry.focus in filters.focuses)
        and (not filters.statuses or not {entry.status, entry.status_on(today)}.isdisjoint(filters.statuses))
    )


def _lets_all_in(filters: Filters) -> bool:
    named = (filters.types, filters.labels, filters.tags, filters.owners, filters.statuses, filters.focuses)
    return not any(named)


def is_shown(lineage: Lineage, address: str, filters: Filters, *, is_draft: bool) -> bool:
    """Say whether an entry is shown under its own name: current, or of a kind that was asked for."""
    if is_draft:
        return filters.include_drafts or Status.DRAFT in filters.statuses
    wanted = filters.include_deprecated or Status.DEPRECATED in filters.statuses
    return wanted or lineage.is_current(address) or lineage.is_unresolved(address)


class _Found(NamedTuple):
    """What a search found, by address, the best score first: of thousands that match, a few are put in order and told.

    `via` are the superseded entries that matched in the stead of some.
    """

    matches: dict[str, Match]
    via: dict[str, set[str]]

    def add(self, match: Match, by: str) -> None:
        """Take in a match, which follows no worse one, and by which entry it was found."""
        address, terms = match.key, match.terms
        before = self.matches.setdefault(address, match)
        if before is not match:
            self.matches[address] = before._replace(terms=before.terms | terms)
        if by != address:
            self.via.setdefault(address, set()).add(by)

    def over(self, matches: MatchColumns, are: list[bool]) -> MatchColumns:
        """Return some of the matches with what was found besides, the best score first."""
        found = self.matches
        if not found:
            return matches.where(are)
        for place in compress(range(len(are)), map(found.__contains__, matches.keys)):
            if are[place]:
                # It matches by its own words, too, and by what it replaced maybe better.
                address, score, terms = matches[place][:3]
                found[address] = Match(address, max(score, found[address].score), terms)
                are[place] = False
        more = MatchColumns.of(sorted(found.values(), key=attrgetter("score"), reverse=True))
        return matches.where(are).merged(more)


def _hits(
    catalog: Catalog, scope: Scope, found: MatchColumns, *, via: Mapping[str, Set[str]], today: date
) -> Sequence[Hit]:
    entries, lineage = catalog.entries, catalog.lineage
    stances = (catalog.stances or {}).items()
    proposals = {address for address, stance in stances if stance.standing.is_unapproved}

    def key(at: int) -> _Key:
        address = found.keys[at]
        is_current, is_proposal = address in lineage.current, address in proposals
        return _key(entries[address], found.scores[at], is_current=is_current, is_proposal=is_proposal)

    def hit(at: int) -> Hit:
        return _hit(catalog, scope, found[at], via=tuple(sorted(via.get(found.keys[at], ()))), today=today)

    # What their writers said of notes may count for more than a score that is little higher.
    is_rated = not catalog.traits.rated.isdisjoint(found.keys)

    def step(at: int) -> float:
        return likeness_step(found.scores[at]) if is_rated else -found.scores[at]

    ordered: Sequence[int] = Stepped(list(range(len(found))), step, key, lambda one: one[0][0 if is_rated else 2])
    claimed = lineage.claimed and lineage.claimed & set(found.keys)
    if claimed:
        claims = {address: claims_on(catalog, entries[address], scope) for address in claimed}
        placed = claimants_first(
            [_Placed(entries[found.keys[at]], at) for at in ordered], lambda one: claims.get(one.entry.address, ())
        )
        ordered = [one.at for one in placed]
    return Described(ordered, hit)


class _Placed(NamedTuple):
    entry: Entry
    at: int


class _StandIns(dict[str, Sequence[str]]):
    """The addresses under which matches are shown: their own, and those of what replaced them."""

    def __init__(self, catalog: Catalog, filters: Filters, today: date) -> None:
        super().__init__()
        self._entries, self._lineage, self._filters, self._today = catalog.entries, catalog.lineage, filters, today
        self._of_any_status = replace(filters, statuses=()) if filters.statuses else filters
        self._lets_all_in, self._drafts = _lets_all_in(filters), catalog.traits.draft

    def __missing__(self, address: str) -> Sequence[str]:
        lineage, filters = self._lineage, self._filters
        heads, is_draft = lineage.heads(address), address in self._drafts
        is_itself = is_shown(lineage, address, filters, is_draft=is_draft) and self._passes(address, filters)
        is_replaced = heads and address not in heads and self._passes(address, self._of_any_status)
        found = self[address] = (*((address,) if is_itself else ()), *(heads if is_replaced else ()))
        return found

    def _passes(self, address: str, filters: Filters) -> bool:
        return self._lets_all_in or passes(self._entries[address], filters, self._today)


def _stand_ins(catalog: Catalog, filters: Filters, today: date) -> _StandIns:
    """Return the stand-ins of matches, which are known from question to question where no filter says more."""
    if not _lets_all_in(filters):
        return _StandIns(catalog, filters, today)
    told_by, kept = ("stand-ins", filters.include_drafts, filters.include_deprecated), catalog.traits.kept
    found: _StandIns = kept.get(told_by) or kept.setdefault(told_by, _StandIns(catalog, filters, today))
    return found


def _hit(catalog: Catalog, scope: Scope, match: Match, *, via: tuple[str, ...], today: date) -> Hit:
    entry = catalog.entries[match.key]
    return Hit(
        entry=entry,
        status=entry.status_on(today),
        score=match.score,
        via=via,
        terms=match.terms,
        heads=catalog.lineage.heads(entry.address),
        stance=catalog.stance(entry.address),
        **bearings_of(catalog, entry, scope),
    )


def search(workspace: Workspace, question: Question) -> SearchResult:
    """Return the hits for a question, superseded ones resolved to their heads."""
    view = view_of(workspace)
    result = _searched(view.effective, question)
    if not view.alternatives:
        return result
    among = _other_matches(view)
    beside = result if among is not None else None
    return with_versions(result, _searched(view.checkout, question, among, beside=beside), view)


def _other_matches(view: View) -> frozenset[str] | None:
    """Return the entries whose match may be another in the files, or gives a version of them; None where any may."""
    if not all(is_entry_place(f"{address}.md") for address in view.overridden):
        # Another manifest may have another scope.
        return None
    ancestors = view.checkout.catalog.lineage.ancestors
    return view.overridden.union(*map(ancestors, view.alternatives))


def _searched(
    workspace: Workspace, question: Question, among: frozenset[str] | None = None, *, beside: SearchResult | None = None
) -> SearchResult:
    scope = reading_scope(workspace.catalog, workspace.settings, question.filters)
    return search_in(workspace, scope, question, among, beside=beside)


def snippets(workspace: Workspace, result: SearchResult) -> Callable[[Hit], str]:
    """Return a function that gives the densest passage of a hit's entry."""
    view = view_of(workspace)

    def of(hit: Hit) -> str:
        is_answer = view.effective.catalog.entries.get(hit.entry.address) is hit.entry
        catalog = (view.effective if is_answer else view.checkout).catalog
        try:
            return snippet(catalog.body(hit.entry.address), hit.terms or result.terms)
        except GoneError:
            return ""

    return of
