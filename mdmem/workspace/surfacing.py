"""The quick verbs of the contracts: what a few words surface, and how certain a scope is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from difflib import get_close_matches

from mdmem.budget import content_of
from mdmem.catalog import Catalog
from mdmem.entry.labels import label_of
from mdmem.entry.model import Entry, Status
from mdmem.errors import GoneError
from mdmem.hygiene.freshness import Freshness, age_of, freshness_of
from mdmem.index.snippet import snippet
from mdmem.retrieval.asked import plain
from mdmem.retrieval.bundle import SCOPE_WORDS
from mdmem.retrieval.model import Hit, Question, SearchResult, Tier
from mdmem.retrieval.search import search
from mdmem.retrieval.surface import Surface, SurfaceMatch
from mdmem.scope import Filters, Scope, ScopeAnswer, ScopeState, scope_state
from mdmem.workspace.asking import asker
from mdmem.workspace.opened import Opened

MOST = 50
_WIDTH = 300


def get_scope_state(workspace: Opened, *, project_id: str | None, focus: str | None = None) -> ScopeAnswer:
    """Return how certain a scope is, with the nearest names where one is not there."""
    catalog = workspace.catalog
    project_id, focus = plain(project_id), plain(focus)
    answer = scope_state(catalog, project_id, focus)
    if answer.state is ScopeState.RESOLVED:
        return answer
    wanted, known = (focus, _focuses(catalog, answer.wing)) if answer.wing else (project_id, _projects(catalog))
    return replace(answer, nearest=tuple(_nearest(wanted or "", sorted(set(known)))))


def _projects(catalog: Catalog) -> Iterator[str]:
    return (wing.project_id or name for name, wing in catalog.wings.items() if not wing.is_shared)


def _focuses(catalog: Catalog, wing: str) -> Iterator[str]:
    return (entry.focus for entry in catalog.entries.values() if entry.wing == wing and entry.focus)


def _nearest(wanted: str, known: Sequence[str]) -> Sequence[str]:
    """Return up to three names that are close to one, else the first dozen of all."""
    folded = {one.casefold(): one for one in known}
    close = get_close_matches(wanted.casefold(), folded, n=3, cutoff=0.5)
    return [folded[one] for one in close] or known[:12]


def memory_surface(workspace: Opened, *, query: str, project_id: str | None = None, limit: int = 5) -> Surface:
    """Return the best matches of words in one project's wing, or in every wing; the limit is 1 to 50."""
    words, named, catalog = plain(query) or "", plain(project_id), workspace.catalog
    state = scope_state(catalog, named)
    if named is not None and state.wing is None:
        return Surface(query=words, next_step=state.message or "")
    if not words:
        return Surface(query="", next_step="write in `query` what to look for")
    wings = (state.wing,) if state.wing is not None else tuple(catalog.wings)
    question = Question(words=words, filters=Filters(include_drafts=True))
    ask = asker(workspace, question)
    found = search(catalog, Scope(wing=state.wing, wings=wings), question, ask=ask, today=workspace.today)
    drafts = [hit for hit in found.hits if hit.status is Status.DRAFT]
    binding = [hit for hit in found.hits if hit.status is not Status.DRAFT]
    most = min(max(limit, 1), MOST)
    return Surface(
        query=words,
        matches=tuple(_match(catalog, hit, found, workspace.today) for hit in binding[:most]),
        proposed=tuple(_match(catalog, hit, found, workspace.today) for hit in drafts[:most]),
        total=len(binding),
        next_step=_next_step(len(binding), most, found),
        problems=found.problems,
        unmatched_terms=found.unmatched_terms,
        source=found.source,
        degraded=found.degraded,
        why_degraded=found.why_degraded,
    )


def _match(catalog: Catalog, hit: Hit, found: SearchResult, today: date) -> SurfaceMatch:
    entry = hit.entry
    wing = catalog.wings[entry.wing]
    age = age_of(entry, today)
    return SurfaceMatch(
        id=entry.address,
        label=label_of(entry),
        name=entry.title,
        content=_passage(catalog, hit, found),
        scope=SCOPE_WORDS[_tier(catalog, entry)],
        # Nobody is known to have looked at what bears no date.
        freshness=(freshness_of(age) if age is not None else Freshness.STALE).value,
        score=hit.score,
        project_id=None if wing.is_shared else wing.project_id or wing.name,
        status=hit.status,
        via=hit.via,
    )


def _passage(catalog: Catalog, hit: Hit, found: SearchResult) -> str:
    address = hit.entry.address
    try:
        return snippet(content_of(hit.entry, catalog.body(address)), hit.terms or found.terms, width=_WIDTH)
    except GoneError:
        return ""


def _tier(catalog: Catalog, entry: Entry) -> Tier:
    """Return the scope that an entry was written for; nothing is asked here that it could stand to."""
    if catalog.wings[entry.wing].is_shared:
        return Tier.SHARED
    return Tier.FOCUS if entry.focus else Tier.PROJECT


def _next_step(total: int, most: int, found: SearchResult) -> str:
    if not total:
        unread = "; what cannot be read may hold it" if found.problems else ""
        return f"nothing in force holds these words{unread}; try others, or call `retrieve_context` for what binds"
    more = f"; {total - most} more match, raise `limit` to see them" if total > most else ""
    return f"call `retrieve_context` with the project for what binds, in the order of authority{more}"
