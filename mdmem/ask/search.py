"""Search the full text; if a superseded entry matches, its current successors are the results."""

from __future__ import annotations

from contextlib import suppress
from datetime import date

from msgspec.structs import replace

from mdmem.ask.answer import AnswerBasis, Item, SearchResult
from mdmem.ask.problems import problems_in
from mdmem.ask.question import Question
from mdmem.ask.rank import claimants_first, find_text, fit_key
from mdmem.ask.relate import claimants_in_scope, ended_match, relations_of
from mdmem.errors import GoneError
from mdmem.model.entry import Entry, Status
from mdmem.store.catalog.model import Catalog
from mdmem.store.index.analysis import snippet
from mdmem.store.workspace.proposals import view_of
from mdmem.store.workspace.scope import Filters, Scope, reading_scope
from mdmem.store.workspace.workspace import Workspace


def search(workspace: Workspace, question: Question) -> SearchResult:
    """Return the results for a question, best first, including proposed versions of entries."""
    view = view_of(workspace)
    result = _search_active(view.effective, question)
    if not view.alternatives:
        return result
    other = _search_active(view.checkout, question)
    proposed = [hit for hit in other.hits if hit.address in view.alternatives]
    if proposed and result.hits and proposed[0].score == other.hits[0].score and proposed[0].terms == other.terms:
        # A proposed version with exactly this title must not come before the binding version.
        proposed[0] = replace(proposed[0], score=result.hits[0].score)
    unmatched = tuple(word for word in result.basis.unmatched_terms if word in other.basis.unmatched_terms)
    claimed_by = view.effective.catalog.lineage.claimed_by
    hits = claimants_first(
        sorted([*result.hits, *proposed], key=_order), lambda hit: hit.entry, lambda entry: claimed_by(entry.address)
    )
    return replace(result, hits=tuple(hits), basis=replace(result.basis, unmatched_terms=unmatched))


def _search_active(workspace: Workspace, question: Question) -> SearchResult:
    scope = reading_scope(workspace.catalog, workspace.settings, question.filters)
    return search_in(workspace, scope, question)


def search_in(workspace: Workspace, scope: Scope, question: Question) -> SearchResult:
    """Return the results in a scope, best first; among equal scores, current entries come first."""
    catalog, today, filters = workspace.catalog, workspace.today, question.filters
    answer = find_text(workspace, question, scope.read(catalog, unasked=False))
    found: dict[str, Item] = {}
    for match in answer.matches:
        matched, heads = catalog.entries[match.key], catalog.lineage.heads(match.key)
        shown = [match.key] if is_shown(catalog, matched, filters) and passes(matched, filters, today) else []
        # Its current successors are results only if the match itself passes the filters.
        if match.key not in heads and passes(matched, replace(filters, statuses=()), today):
            shown += heads
        for address in shown:
            entry, heads, is_itself = catalog.entries[address], catalog.lineage.heads(address), address == match.key
            item = found.get(address) or Item(
                entry=entry,
                status=entry.status_on(today),
                heads=heads,
                current=address in heads,
                branch_state=catalog.branch_state(address),
            )
            found[address] = replace(
                item,
                score=max(item.score, match.score),
                terms=item.terms | match.terms if is_itself else item.terms,
                via=item.via if is_itself else tuple(sorted({*item.via, match.key})),
            )
    contained = frozenset[str]().union(*{match.terms for match in answer.matches})
    related = (replace(one, relations=relations_of(catalog, one.entry, scope)) for one in found.values())
    hits = sorted(related, key=_order)
    hits = claimants_first(hits, lambda hit: hit.entry, lambda entry: claimants_in_scope(catalog, entry, scope))
    is_hidden = not (filters.include_drafts or filters.statuses)
    keys = (match.key for match in answer.matches if is_hidden)
    drafts = [key for key in keys if catalog.entries[key].status is Status.DRAFT]
    return SearchResult(
        query=question.words,
        hits=tuple(hits),
        terms=frozenset(answer.terms),
        drafts=sum(passes(catalog.entries[one], filters, today) for one in drafts),
        basis=AnswerBasis(
            problems=problems_in(catalog, scope),
            unmatched_terms=tuple(dict.fromkeys(answer.words[one] for one in answer.terms if one not in contained)),
            degraded=answer.degraded,
            why_degraded=answer.why,
            source=answer.source,
            ended=ended_match(catalog, answer.matches, filters),
        ),
    )


def _order(hit: Item) -> tuple[object, ...]:
    return (-hit.score, not hit.current, hit.is_proposal, *fit_key(hit))


def passes(entry: Entry, filters: Filters, today: date) -> bool:
    """Return whether an entry passes all filters except wing and room; an expired entry counts as under review."""
    return (
        filters.matches_entry(entry)
        and (not filters.focuses or entry.focus in filters.focuses)
        and (not filters.statuses or not {entry.status, entry.status_on(today)}.isdisjoint(filters.statuses))
    )


def is_shown(catalog: Catalog, entry: Entry, filters: Filters) -> bool:
    """Return whether an entry may be a result, instead of its current successor.

    It may if it is current, or if the filters ask for its status. If entries supersede one another in a circle, so that
    none is current, each of them may be a result, too.
    """
    if entry.status is Status.DRAFT:
        return filters.include_drafts or Status.DRAFT in filters.statuses
    lineage = catalog.lineage
    return filters.includes_ended or lineage.is_current(entry.address) or lineage.is_unresolved(entry.address)


def snippets(workspace: Workspace, result: SearchResult, limit: int) -> list[tuple[Item, str]]:
    """Return the best results, at most `limit`, each with the passage that contains the most words of the question.

    The passage is empty if the file was deleted meanwhile.
    """
    view, found = view_of(workspace), list[tuple[Item, str]]()
    for hit in result.hits[:limit]:
        is_answer = view.effective.catalog.entries.get(hit.address) is hit.entry
        catalog, passage = (view.effective if is_answer else view.checkout).catalog, ""
        with suppress(GoneError):
            passage = snippet(catalog.body(hit.address), hit.terms or result.terms)
        found.append((hit, passage))
    return found
