"""Rank entries: the full-text search gives them scores, and authority decides their order in an answer.

Coverage says how far the current invariants and decisions answer a question.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date
from math import fsum, inf, log, nextafter
from typing import Any, TypeVar

from msgspec.structs import replace

from mdmem.ask.answer import Coverage, Item, Question, Tier
from mdmem.ask.limits import COVERAGE_GROWTH, COVERED, EACH_TERM, FEW_ENTRIES, PASSAGE
from mdmem.errors import UsageError
from mdmem.model.entry import Entry, EntryType, Status, instant_of
from mdmem.store.index import Match, QuerySyntaxError, TextAnswer
from mdmem.store.index.analysis import GENERAL_TERMS, ask, finder, normal
from mdmem.store.workspace.workspace import Workspace

_T = TypeVar("_T")
# Only the bodies of this many best matches are read.
_READ = 3


def find_text(workspace: Workspace, question: Question, addresses: Collection[str]) -> TextAnswer:
    """Search the full text of the entries at some addresses; raises UsageError if the query has a syntax error.

    An entry whose title has exactly the words of the question comes first, except in query syntax. If several notes
    have this title, they do not, since they would take the space of decisions.
    """
    try:
        answer = workspace.find_text(question.words, addresses, syntax=question.syntax)
    except QuerySyntaxError as error:
        raise UsageError(str(error)) from error
    if question.syntax:
        return answer
    wanted, matches, entries = frozenset(answer.terms), answer.matches, workspace.catalog.entries
    titled = [
        one
        for one in matches
        if one.terms == wanted and one.key in entries and frozenset(ask(entries[one.key].title).terms) == wanted
    ]
    notes = [one for one in titled if entries[one.key].type is EntryType.NOTE]
    if len(notes) > 1:
        titled = [one for one in titled if one not in notes]
    if not titled or titled == list(matches[: len(titled)]):
        return answer
    best = nextafter(matches[0].score, inf)
    keys = {one.key for one in titled}
    first = [one._replace(score=best) for one in titled]
    return replace(answer, matches=[*first, *(one for one in matches if one.key not in keys)])


def authority_key(item: Item, *, starts_shared: bool = False) -> tuple[Any, ...]:
    """Return a sort key: type, then current or not, approved or not, scope, status, and `fit_key`.

    The type comes first, so that a better score never moves a note before a rule. With `starts_shared`, shared wings
    come before the project.
    """
    entry = item.entry
    tier = int(item.tier is not Tier.SHARED) if starts_shared else list(Tier).index(item.tier)
    return (
        entry.type.rank,
        not item.current,
        item.is_proposal,
        tier,
        item.status is not Status.ACTIVE,
        *fit_key(item),
    )


def fit_key(item: Item) -> tuple[float, float, float, str]:
    """Return a sort key: best score, highest `relevance_score`, newest `created_at`, then the address."""
    entry = item.entry
    made = instant_of(entry.created_at).timestamp() if isinstance(entry.created_at, date) else 0.0
    return (-item.score, -(entry.relevance_score or 0.0), -made, entry.address)


def claimants_first(
    items: Sequence[_T], entry_of: Callable[[_T], Entry], claimed_by: Callable[[Entry], Iterable[str]]
) -> list[_T]:
    """Move each one-sided successor directly before the entry that it supersedes, if both have the same type."""
    places = {entry_of(one).address: one for one in reversed(items)}
    ordered: dict[int, _T] = {}
    for item in items:
        # Chains of claims may be long, and may run in a circle.
        chain, seen = [item], {id(item)}
        while chain:
            entry = entry_of(chain[-1])
            claimants = (places[address] for address in claimed_by(entry) if address in places)
            first = next(
                (one for one in claimants if entry_of(one).type is entry.type and id(one) not in seen | ordered.keys()),
                None,
            )
            if first is not None:
                seen.add(id(first))
                chain.append(first)
            else:
                last = chain.pop()
                ordered.setdefault(id(last), last)
    return list(ordered.values())


def weights_of(terms: Iterable[str], matched: Iterable[frozenset[str]], total: int) -> dict[str, float]:
    """Return a weight for each term; rare terms have a high weight.

    `total` is the number of entries, and `matched` has the terms that each matching entry contains. The weight is
    log(1 + N / n), with n = 1/2 for a term that no entry contains. General words have the weight 0.
    """
    counts = Counter(term for terms in matched for term in terms)
    return {term: 0.0 if term in GENERAL_TERMS else log(1 + total / (counts[term] or 0.5)) for term in terms}


def coverage_of(
    weights: Mapping[str, float],
    matches: Iterable[tuple[Entry, Match]],
    body: Callable[[str], str],
    total: int,
    *,
    has_unknown: bool,
) -> Coverage:
    """Return how well the best single passage of the best matches covers a question; `total` is the number of entries.

    A term counts if the passage or the title of its entry contains it. Coverage is partial if the evidence reaches
    `COVERED`, or more in a large memory. The evidence is the share of these terms in the total weight, plus half the
    share of those in the title, plus `EACH_TERM` for each. Coverage is full if all terms count, or if the evidence is
    higher by twice `EACH_TERM` and some entry contains each term, that is, not `has_unknown`.
    """
    needed = COVERED + COVERAGE_GROWTH * log(max(1, total / FEW_ENTRIES))
    # These sums do not depend on the order of the terms.
    whole = fsum(weights.values())
    if not whole:
        return Coverage.NONE
    best = 0.0
    for entry, _ in sorted(matches, key=lambda one: -one[1].score)[:_READ]:
        title = frozenset(ask(" ".join((entry.title, *entry.tags))).terms) & weights.keys()
        in_title = fsum(weights[term] for term in title) / whole / 2
        for terms in _passages(weights, title, body(entry.address)):
            counted = [weights[term] for term in terms if weights[term]]
            share = fsum(counted) / whole
            evidence = share + in_title + EACH_TERM * len(counted)
            if share >= 1 or (evidence >= needed + 2 * EACH_TERM and not has_unknown):
                return Coverage.FULL
            best = max(best, evidence)
    return Coverage.PARTIAL if best >= needed else Coverage.NONE


def _passages(weights: Mapping[str, float], title: frozenset[str], body: str) -> Iterable[frozenset[str]]:
    """Yield the terms of the title, then for each passage of the body the terms of title and passage together."""
    yield title
    hits = finder(frozenset(weights))(normal(body))
    for first, (start, _, _) in enumerate(hits):
        terms = set(title)
        for later in range(first, len(hits)):
            at, _, contained = hits[later]
            if at - start > PASSAGE:
                break
            terms |= contained
        yield frozenset(terms)
