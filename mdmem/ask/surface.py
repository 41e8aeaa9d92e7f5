"""Answer the quick calls of the contracts: `memory_surface` and `get_scope_state`."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from msgspec.structs import replace

from mdmem.ask.answer import VIA_NAMED, AnswerBasis, Item, SearchResult
from mdmem.ask.bundle import SCOPE_WORDS
from mdmem.ask.problems import problems_json
from mdmem.ask.question import Question, Tier, tidy
from mdmem.ask.search import search_in
from mdmem.errors import GoneError
from mdmem.markdown.text import content_of
from mdmem.model.entry import Status, label_of
from mdmem.store.index.snippet import snippet
from mdmem.store.workspace.remarks import freshness_on
from mdmem.store.workspace.scope import Filters, Scope, ScopeAnswer, ScopeState
from mdmem.store.workspace.visibility import may_write_to, scope_seen
from mdmem.store.workspace.workspace import Workspace

_MOST = 50
_WIDTH = 300


def get_scope_state(workspace: Workspace, *, project_id: str | None, focus: str | None = None) -> ScopeAnswer:
    """Return whether a scope exists and may be written; if a name is unknown, with the nearest known names.

    The answer about a project that the caller may not read does not depend on whether it exists.
    """
    catalog = workspace.catalog
    project_id, focus = tidy(project_id) or None, tidy(focus) or None
    answer = replace(scope_seen(workspace, project_id, focus), is_writable=may_write_to(workspace, project_id))
    if answer.state is ScopeState.RESOLVED:
        return answer
    if answer.wing:
        wanted = focus
        known = {one.focus for one in catalog.entries.values() if one.wing == answer.wing and one.focus}
    else:
        wanted = project_id
        known = {wing.project_id or name for name, wing in catalog.wings.items() if not wing.is_shared}
    folded = {one.casefold(): one for one in sorted(known)}
    close = get_close_matches((wanted or "").casefold(), folded, n=3, cutoff=0.5)
    return replace(answer, nearest=tuple([folded[one] for one in close] or sorted(known)[:12]))


def memory_surface(
    workspace: Workspace, *, query: str, project_id: str | None = None, limit: int = 5
) -> dict[str, Any]:
    """Return the best matches of words in one project's wing, or in every wing; the limit is 1 to 50."""
    words, named = tidy(query), tidy(project_id) or None
    state = scope_seen(workspace, named)
    if named is not None and state.wing is None:
        return _surface(words, state.message or "")
    if not words:
        return _surface("", "write the words to search for in `query`")
    wings = (state.wing,) if state.wing is not None else tuple(workspace.catalog.wings)
    question = Question(words=words, filters=Filters(include_drafts=True))
    found = search_in(workspace, Scope(wing=state.wing, wings=wings), question)
    drafts = [hit for hit in found.hits if hit.status is Status.DRAFT]
    current = [hit for hit in found.hits if hit.status is not Status.DRAFT]
    most = min(max(limit, 1), _MOST)
    if current:
        more = f"; {len(current) - most} more match, raise `limit` to see them" if len(current) > most else ""
        next_step = f"call `retrieve_context` with the project for the rules, in the order of authority{more}"
    else:
        unread = "; an unreadable file may contain them" if found.basis.problems else ""
        next_step = (
            f"no current entry contains these words{unread}; try others, or call `retrieve_context` for the rules"
        )
    return _surface(
        words,
        next_step,
        found.basis,
        matches=[_match(workspace, hit, found) for hit in current[:most]],
        total=len(current),
        proposed=[_match(workspace, hit, found) for hit in drafts[:most]],
    )


def _surface(
    query: str,
    next_step: str,
    basis: AnswerBasis | None = None,
    *,
    matches: Sequence[dict[str, Any]] = (),
    total: int = 0,
    proposed: Sequence[dict[str, Any]] = (),
) -> dict[str, Any]:
    """Return a search result in the contract's shape; `next_step` names the call that shows more."""
    basis = basis or AnswerBasis(source="index")
    return {
        "problems": problems_json(basis.problems),
        "matches": list(matches),
        "query_used": query,
        "total_found": total,
        "next_step": next_step,
        "proposed": list(proposed),
        **basis.as_json("unmatched_terms", "source", "degraded", "why_degraded"),
    }


def _match(workspace: Workspace, hit: Item, found: SearchResult) -> dict[str, Any]:
    """Return one match in the contract's shape, with the passage that fits best."""
    entry, wing = hit.entry, workspace.catalog.wings[hit.entry.wing]
    tier = Tier.SHARED if wing.is_shared else Tier.FOCUS if entry.focus else Tier.PROJECT
    try:
        content = content_of(entry, workspace.catalog.body(entry.address))
        passage = snippet(content, hit.terms or found.terms, width=_WIDTH)
    except GoneError:
        passage = ""
    return {
        "id": entry.address,
        "label": label_of(entry).value,
        "name": entry.title,
        "content": passage,
        "scope": SCOPE_WORDS[tier],
        "freshness": freshness_on(entry, workspace.today).value,
        "bm25_score": round(hit.score, 4),
        "project_id": None if wing.is_shared else wing.project_id or wing.name,
        "status": hit.status.value,
        **({"via": list(hit.via[:VIA_NAMED])} if hit.via else {}),
    }
