"""Answer the quick calls of the contracts: `memory_surface` and `get_scope_state`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from difflib import get_close_matches
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from mdmem.ask.answer import VIA_NAMED, AnswerBasis, Item, SearchResult
from mdmem.ask.bundle import SCOPE_WORDS, plain, problems_json
from mdmem.ask.question import Question, Tier
from mdmem.ask.search import search_in
from mdmem.errors import GoneError
from mdmem.markdown.text import content_of
from mdmem.model.entry import Entry, NodeLabel, Status, label_of
from mdmem.store.catalog import Catalog
from mdmem.store.index.snippet import snippet
from mdmem.store.workspace.remarks import Freshness, age_of, freshness_of
from mdmem.store.workspace.scope import Filters, Scope, ScopeAnswer, ScopeState
from mdmem.store.workspace.visibility import may_write_to, scope_seen
from mdmem.store.workspace.workspace import Workspace


class SurfaceMatch(Struct, frozen=True, kw_only=True):
    """One entry that a quick look-up found; `content` is the passage that matches best."""

    id: str
    label: NodeLabel
    name: str
    content: str
    scope: str
    freshness: str
    score: float
    project_id: str | None
    status: Status
    via: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the match in the contract's shape."""
        return {
            "id": self.id,
            "label": self.label.value,
            "name": self.name,
            "content": self.content,
            "scope": self.scope,
            "freshness": self.freshness,
            "bm25_score": round(self.score, 4),
            "project_id": self.project_id,
            "status": self.status.value,
            **({"via": list(self.via[:VIA_NAMED])} if self.via else {}),
        }


class Surface(Struct, frozen=True, kw_only=True):
    """The best matches, drafts apart, and how many there are; `next_step` says what to call to learn more."""

    query: str
    next_step: str
    matches: tuple[SurfaceMatch, ...] = ()
    proposed: tuple[SurfaceMatch, ...] = ()
    total: int = 0
    basis: AnswerBasis = field(default_factory=lambda: AnswerBasis(source="index"))

    def as_json(self) -> dict[str, Any]:
        """Return the look-up in the contract's shape."""
        return {
            "problems": problems_json(self.basis),
            "matches": [match.as_json() for match in self.matches],
            "query_used": self.query,
            "total_found": self.total,
            "next_step": self.next_step,
            "proposed": [match.as_json() for match in self.proposed],
            **self.basis.as_json("unmatched_terms", "source", "degraded", "why_degraded"),
        }


MOST = 50
_WIDTH = 300


def get_scope_state(workspace: Workspace, *, project_id: str | None, focus: str | None = None) -> ScopeAnswer:
    """Return how certain a scope is, with the nearest names where one is not there, and whether it may be written.

    The answer about a project that the caller may not read does not depend on whether it exists.
    """
    catalog = workspace.catalog
    project_id, focus = plain(project_id), plain(focus)
    answer = replace(scope_seen(workspace, project_id, focus), is_writable=may_write_to(workspace, project_id))
    if answer.state is ScopeState.RESOLVED:
        return answer
    if answer.wing:
        wanted = focus
        known = {one.focus for one in catalog.entries.values() if one.wing == answer.wing and one.focus}
    else:
        wanted = project_id
        known = {wing.project_id or name for name, wing in catalog.wings.items() if not wing.is_shared}
    return replace(answer, nearest=tuple(_nearest(wanted or "", sorted(known))))


def _nearest(wanted: str, known: Sequence[str]) -> Sequence[str]:
    """Return up to three names that are close to one, else the first dozen of all."""
    folded = {one.casefold(): one for one in known}
    close = get_close_matches(wanted.casefold(), folded, n=3, cutoff=0.5)
    return [folded[one] for one in close] or known[:12]


def memory_surface(workspace: Workspace, *, query: str, project_id: str | None = None, limit: int = 5) -> Surface:
    """Return the best matches of words in one project's wing, or in every wing; the limit is 1 to 50."""
    words, named, catalog = plain(query) or "", plain(project_id), workspace.catalog
    state = scope_seen(workspace, named)
    if named is not None and state.wing is None:
        return Surface(query=words, next_step=state.message or "")
    if not words:
        return Surface(query="", next_step="write the words to search for in `query`")
    wings = (state.wing,) if state.wing is not None else tuple(catalog.wings)
    question = Question(words=words, filters=Filters(include_drafts=True))
    found = search_in(workspace, Scope(wing=state.wing, wings=wings), question)
    drafts = [hit for hit in found.hits if hit.status is Status.DRAFT]
    binding = [hit for hit in found.hits if hit.status is not Status.DRAFT]
    most = min(max(limit, 1), MOST)
    return Surface(
        query=words,
        matches=tuple(_match(catalog, hit, found, workspace.today) for hit in binding[:most]),
        proposed=tuple(_match(catalog, hit, found, workspace.today) for hit in drafts[:most]),
        total=len(binding),
        next_step=_next_step(len(binding), most, found),
        basis=found.basis,
    )


def _match(catalog: Catalog, hit: Item, found: SearchResult, today: date) -> SurfaceMatch:
    entry = hit.entry
    wing = catalog.wings[entry.wing]
    return SurfaceMatch(
        id=entry.address,
        label=label_of(entry),
        name=entry.title,
        content=_passage(catalog, hit, found),
        scope=SCOPE_WORDS[_tier(catalog, entry)],
        freshness=freshness_on(entry, today).value,
        score=hit.score,
        project_id=None if wing.is_shared else wing.project_id or wing.name,
        status=hit.status,
        via=hit.via,
    )


def freshness_on(entry: Entry, today: date) -> Freshness:
    """Return how fresh an entry is on a day; one without a date is stale."""
    age = age_of(entry, today)
    return freshness_of(age) if age is not None else Freshness.STALE


def _passage(catalog: Catalog, hit: Item, found: SearchResult) -> str:
    address = hit.entry.address
    try:
        return snippet(content_of(hit.entry, catalog.body(address)), hit.terms or found.terms, width=_WIDTH)
    except GoneError:
        return ""


def _tier(catalog: Catalog, entry: Entry) -> Tier:
    """Return the scope that an entry was written for."""
    if catalog.wings[entry.wing].is_shared:
        return Tier.SHARED
    return Tier.FOCUS if entry.focus else Tier.PROJECT


def _next_step(total: int, most: int, found: SearchResult) -> str:
    if not total:
        unread = "; an unreadable file may contain them" if found.basis.problems else ""
        return f"no current entry contains these words{unread}; try others, or call `retrieve_context` for the rules"
    more = f"; {total - most} more match, raise `limit` to see them" if total > most else ""
    return f"call `retrieve_context` with the project for the rules, in the order of authority{more}"
