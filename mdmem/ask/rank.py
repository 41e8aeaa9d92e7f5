"""Rank entries: the full-text search gives them scores, and authority decides their order in an answer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date
from math import inf, nextafter
from typing import Any, TypeVar

from msgspec.structs import replace

from mdmem.ask.answer import Item
from mdmem.ask.question import Question, Tier
from mdmem.errors import UsageError
from mdmem.model.entry import Entry, EntryType, Status, instant_of
from mdmem.store.index import QuerySyntaxError, TextAnswer
from mdmem.store.index.analysis import ask
from mdmem.store.workspace.workspace import Workspace

_T = TypeVar("_T")


def find_text(workspace: Workspace, question: Question, addresses: Collection[str]) -> TextAnswer:
    """Search the full text of the entries at some addresses; raises UsageError if the query has a syntax error.

    An entry whose title has exactly the words of the question comes first, except in query syntax.
    """
    try:
        answer = workspace.find_text(question.words, addresses, syntax=question.syntax)
    except QuerySyntaxError as error:
        raise UsageError(str(error)) from error
    return answer if question.syntax else _with_exact_titles_first(answer, workspace.catalog.entries)


def _with_exact_titles_first(answer: TextAnswer, entries: Mapping[str, Entry]) -> TextAnswer:
    """Move entries to the front whose title has exactly the words of the question.

    If several notes share this title, they are not moved, since they would take the space of decisions.
    """
    wanted, matches = frozenset(answer.terms), answer.matches
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
    tier = int(item.tier is not Tier.SHARED) if starts_shared else item.tier.rank
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
