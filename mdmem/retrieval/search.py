"""Full text with lineage: a hit on a superseded entry yields what replaced it."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import date
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple

from mdmem.catalog import Catalog, is_entry_place
from mdmem.dataclass import replace
from mdmem.entry.model import Entry, Status
from mdmem.errors import GoneError
from mdmem.index.protocol import Match
from mdmem.retrieval.bearings import bearings_of, claimants_first, claims_on, ended_match
from mdmem.retrieval.question import AnswerBasis, Described, Hit, Question, SearchResult, likeness_key
from mdmem.retrieval.retrieve import find_text, problems_in
from mdmem.workspace.proposals import View, view_of
from mdmem.workspace.scope import Filters, Scope, reading_scope
from mdmem.workspace.workspace import Workspace


def search_in(
    workspace: Workspace, scope: Scope, question: Question, among: Collection[str] | None = None
) -> SearchResult:
    """Return the hits in a scope, best first; equal scores put what is current before what ended.

    `among` are the only entries whose match counts, where not all do.
    """
    catalog, today = workspace.catalog, workspace.today
    held = scope.held(catalog.entries)
    answer = find_text(workspace, question, held if among is None else [one for one in held if one in among])
    found: dict[str, _Found] = {}
    alone = catalog.lineage.alone if _lets_all_in(question.filters) else frozenset[str]()
    for match in answer.matches:
        if match.key in alone:
            # Of most that match it is seen at once that they stand for themselves.
            found[match.key] = _Found(catalog.entries[match.key], match.score, match.terms)
            continue
        for one in _found_by(catalog, match, question.filters, today=today):
            address = one.entry.address
            found[address] = _merged(found[address], one) if address in found else one
    matched = frozenset[str]().union(*{match.terms for match in answer.matches})
    return SearchResult(
        query=question.words,
        hits=_hits(catalog, scope, found.values(), today=today),
        terms=frozenset(answer.terms),
        drafts=sum(_is_hidden_draft(catalog.entries[match.key], question.filters, today) for match in answer.matches),
        basis=AnswerBasis(
            problems=problems_in(catalog, scope),
            unmatched_terms=tuple(answer.words[term] for term in answer.terms if term not in matched),
            degraded=answer.degraded,
            why_degraded=answer.why,
            source=answer.source,
            ended=ended_match(catalog, answer.matches, question.filters),
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
    ranked: list[Any] = list(range(len(hits)))
    for hit in sorted(more, key=_key_of, reverse=True):
        ranked.insert(bisect(hits, _key_of(hit), key=_key_of), hit)
    return Described(ranked, lambda one: hits[one] if isinstance(one, int) else one)


def _key_of(hit: Hit) -> _Key:
    return _key(hit.entry, hit.score, is_current=hit.entry.address in hit.heads, is_proposal=hit.is_proposal)


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


def is_shown(catalog: Catalog, entry: Entry, filters: Filters) -> bool:
    """Say whether an entry is shown under its own name: current, or of a kind that was asked for."""
    if entry.status is Status.DRAFT:
        return filters.include_drafts or Status.DRAFT in filters.statuses
    wanted = filters.include_deprecated or Status.DEPRECATED in filters.statuses
    lineage = catalog.lineage
    return wanted or lineage.is_current(entry.address) or lineage.is_unresolved(entry.address)


def _is_hidden_draft(entry: Entry, filters: Filters, today: date) -> bool:
    if entry.status is not Status.DRAFT:
        return False
    return not (filters.include_drafts or filters.statuses) and passes(entry, filters, today)


class _Found(NamedTuple):
    """What ranks an entry that a search found: of thousands, a few are described."""

    entry: Entry
    score: float
    terms: frozenset[str]
    via: tuple[str, ...] = ()


def _hits(catalog: Catalog, scope: Scope, found: Iterable[_Found], *, today: date) -> Sequence[Hit]:
    lineage, hit = catalog.lineage, partial(_hit, catalog, scope, today=today)

    stances = (catalog.stances or {}).items()
    proposals = {address for address, stance in stances if stance.standing.is_proposal}

    def key(one: _Found) -> _Key:
        address = one.entry.address
        return _key(one.entry, one.score, is_current=address in lineage.current, is_proposal=address in proposals)

    ordered: Sequence[_Found] = sorted(found, key=key)
    if not lineage.claimed.isdisjoint(one.entry.address for one in ordered):
        ordered = claimants_first(ordered, lambda one: claims_on(catalog, one.entry, scope))
    return Described(ordered, hit)


def _found_by(catalog: Catalog, match: Match, filters: Filters, *, today: date) -> Iterator[_Found]:
    entry = catalog.entries[match.key]
    heads = catalog.lineage.heads(entry.address)
    if passes(entry, filters, today) and is_shown(catalog, entry, filters):
        yield _Found(entry, match.score, match.terms)
    of_any_status = replace(filters, statuses=()) if filters.statuses else filters
    if heads and entry.address not in heads and passes(entry, of_any_status, today):
        yield from (_Found(catalog.entries[head], match.score, frozenset(), (entry.address,)) for head in heads)


def _hit(catalog: Catalog, scope: Scope, found: _Found, *, today: date) -> Hit:
    entry = found.entry
    return Hit(
        entry=entry,
        status=entry.status_on(today),
        score=found.score,
        via=found.via,
        terms=found.terms,
        heads=catalog.lineage.heads(entry.address),
        stance=catalog.stance(entry.address),
        **bearings_of(catalog, entry, scope),
    )


def _merged(first: _Found, second: _Found) -> _Found:
    via = tuple(sorted({*first.via, *second.via}))
    return _Found(first.entry, max(first.score, second.score), first.terms | second.terms, via)


def search(workspace: Workspace, question: Question) -> SearchResult:
    """Return the hits for a question, superseded ones resolved to their heads."""
    view = view_of(workspace)
    result = _searched(view.effective, question)
    if not view.alternatives:
        return result
    return with_versions(result, _searched(view.checkout, question, _other_matches(view)), view)


def _other_matches(view: View) -> frozenset[str] | None:
    """Return the entries whose match may be another in the files, or gives a version of them; None where any may."""
    if not all(is_entry_place(f"{address}.md") for address in view.overridden):
        # Another manifest may have another scope.
        return None
    ancestors = view.checkout.catalog.lineage.ancestors
    return view.overridden.union(*map(ancestors, view.alternatives))


def _searched(workspace: Workspace, question: Question, among: Collection[str] | None = None) -> SearchResult:
    scope = reading_scope(workspace.catalog, workspace.settings, question.filters)
    return search_in(workspace, scope, question, among)


def snippets(workspace: Workspace, result: SearchResult) -> Callable[[Hit], str]:
    """Return a function that gives the densest passage of a hit's entry."""
    from mdmem.index.snippet import snippet

    view = view_of(workspace)

    def of(hit: Hit) -> str:
        is_answer = view.effective.catalog.entries.get(hit.entry.address) is hit.entry
        catalog = (view.effective if is_answer else view.checkout).catalog
        try:
            return snippet(catalog.body(hit.entry.address), hit.terms or result.terms)
        except GoneError:
            return ""

    return of
