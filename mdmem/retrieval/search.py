"""Full text with lineage: a hit on a superseded entry yields what replaced it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from datetime import date

from mdmem.catalog import Catalog
from mdmem.entry.model import Entry, Status
from mdmem.errors import GoneError
from mdmem.index.protocol import Match
from mdmem.retrieval.bearings import bearings_of, claimants_first, ended_match
from mdmem.retrieval.question import AnswerBasis, Hit, Question, SearchResult, likeness_key
from mdmem.retrieval.retrieve import find_text, problems_in
from mdmem.workspace.proposals import view_of
from mdmem.workspace.scope import Filters, Scope, reading_scope
from mdmem.workspace.workspace import Workspace


def search_in(workspace: Workspace, scope: Scope, question: Question) -> SearchResult:
    """Return the hits in a scope, best first; equal scores put what is current before what ended."""
    catalog, today = workspace.catalog, workspace.today
    answer = find_text(workspace, question, [address for address in catalog.entries if scope.holds(address)])
    hits: dict[str, Hit] = {}
    for match in answer.matches:
        for hit in _hits_of(catalog, scope, match, question.filters, today=today):
            hits[hit.entry.address] = _merged(hits.get(hit.entry.address), hit)
    held = frozenset(term for match in answer.matches for term in match.terms)
    return SearchResult(
        query=question.words,
        hits=_ordered(hits.values()),
        terms=frozenset(answer.terms),
        drafts=sum(_is_hidden_draft(catalog.entries[match.key], question.filters, today) for match in answer.matches),
        basis=AnswerBasis(
            problems=problems_in(catalog, scope),
            unmatched_terms=tuple(answer.words[term] for term in answer.terms if term not in held),
            degraded=answer.degraded,
            why_degraded=answer.why,
            source=answer.source,
            ended=ended_match(catalog, answer.matches, question.filters),
        ),
    )


def with_versions(result: SearchResult, other: SearchResult, addresses: Collection[str]) -> SearchResult:
    """Return a result with those hits of another one that are at some addresses: versions that are only proposed."""
    more = [hit for hit in other.hits if hit.entry.address in addresses]
    unmatched = tuple(word for word in result.basis.unmatched_terms if word in other.basis.unmatched_terms)
    basis = replace(result.basis, unmatched_terms=unmatched)
    return replace(result, hits=_ordered([*result.hits, *more]), basis=basis)


def _ordered(hits: Iterable[Hit]) -> tuple[Hit, ...]:
    """Order by score; equal ones put what is current before what ended, and what binds before what is proposed.

    Within a type, what claims an entry's place comes before it.
    """

    def key(hit: Hit) -> tuple[tuple[float, float, float], bool, bool, str]:
        return (
            likeness_key(hit.entry, hit.score),
            hit.entry.address not in hit.heads,
            hit.is_proposal,
            hit.entry.address,
        )

    return claimants_first(sorted(hits, key=key))


def passes(entry: Entry, filters: Filters, today: date) -> bool:
    """Say whether an entry passes every filter but wing and room, by its status of the day."""
    statuses = {entry.status, entry.status_on(today)}
    return (
        filters.lets_in(entry)
        and (not filters.focuses or entry.focus in filters.focuses)
        and (not filters.statuses or not statuses.isdisjoint(filters.statuses))
    )


def is_shown(catalog: Catalog, entry: Entry, filters: Filters) -> bool:
    """Say whether an entry is shown under its own name: current, or of a kind that was asked for."""
    if entry.status is Status.DRAFT:
        return filters.include_drafts or Status.DRAFT in filters.statuses
    wanted = filters.include_deprecated or Status.DEPRECATED in filters.statuses
    lineage = catalog.lineage
    return wanted or lineage.is_current(entry.address) or lineage.is_unresolved(entry.address)


def _is_hidden_draft(entry: Entry, filters: Filters, today: date) -> bool:
    is_asked_for = filters.include_drafts or filters.statuses
    return entry.status is Status.DRAFT and not is_asked_for and passes(entry, filters, today)


def _hits_of(catalog: Catalog, scope: Scope, match: Match, filters: Filters, *, today: date) -> Iterator[Hit]:
    entry = catalog.entries[match.key]
    heads = catalog.lineage.heads(entry.address)
    if passes(entry, filters, today) and is_shown(catalog, entry, filters):
        yield _hit(catalog, scope, entry, match, today=today)
    if heads and entry.address not in heads and passes(entry, replace(filters, statuses=()), today):
        for head in heads:
            own = _hit(catalog, scope, catalog.entries[head], match, today=today)
            yield replace(own, via=(entry.address,), terms=frozenset())


def _hit(catalog: Catalog, scope: Scope, entry: Entry, match: Match, *, today: date) -> Hit:
    return Hit(
        entry=entry,
        status=entry.status_on(today),
        score=match.score,
        terms=match.terms,
        heads=catalog.lineage.heads(entry.address),
        stance=catalog.stance(entry.address),
        **bearings_of(catalog, entry, scope),
    )


def _merged(first: Hit | None, second: Hit) -> Hit:
    if first is None:
        return second
    via = tuple(sorted({*first.via, *second.via}))
    return replace(first, score=max(first.score, second.score), via=via, terms=first.terms | second.terms)


def search(workspace: Workspace, question: Question) -> SearchResult:
    """Return the hits for a question, superseded ones resolved to their heads."""
    view = view_of(workspace)
    result = _searched(view.effective, question)
    return with_versions(result, _searched(view.checkout, question), view.alternatives) if view.alternatives else result


def _searched(workspace: Workspace, question: Question) -> SearchResult:
    scope = reading_scope(workspace.catalog, workspace.settings, question.filters)
    return search_in(workspace, scope, question)


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
