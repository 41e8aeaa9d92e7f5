"""The reading tools of mdmem's own words: what is binding, what is there, one entry in full."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mdmem.errors import UsageError
from mdmem.mcp.tools.shape import (
    AT,
    COUNT,
    FLAG,
    OBJECT,
    OBJECTS,
    PATHS,
    PROBLEMS,
    READ_STATUS,
    TEXT,
    TEXTS,
    Facts,
    Parameter,
    ParameterKind,
    Tool,
)

if TYPE_CHECKING:
    from mdmem.retrieval.question import Question
    from mdmem.workspace.workspace import Workspace

TYPES = ("invariant", "decision", "pattern", "note")

# Entries that one call shows.
_MANY = 200
_FILTERS = (
    Parameter(name="wing", about="The wing to read, by its name or project id. Default: the active one.", longest=200),
    Parameter(name="rooms", kind=ParameterKind.TEXTS, about="Only these rooms."),
    Parameter(name="types", kind=ParameterKind.TEXTS, choices=TYPES, about="Only these types."),
    Parameter(name="tags", kind=ParameterKind.TEXTS, about="Only entries with one of these tags."),
    Parameter(name="focus", about="The focus area at hand.", longest=200),
)


def is_invariant(member: Any) -> bool:
    """Say whether a member of an answer is an invariant, or holds one."""
    if not isinstance(member, dict):
        return False
    if "invariant" in (member.get("type"), str(member.get("label")).lower()):
        return True
    return any(is_invariant(inner) for value in member.values() if isinstance(value, list) for inner in value)


def from_top(workspace: Workspace, paths: Sequence[str] | None) -> tuple[str, ...]:
    """Return paths of code from the repository's top: an agent does not know in which folder the server was started."""
    top = workspace.location.base.resolve()
    return tuple(str(top / path) for path in paths or ())


def _question(words: str | None, filters: Mapping[str, Any], **shown: bool) -> Question:
    from mdmem.entry.model import EntryType
    from mdmem.retrieval.question import Question
    from mdmem.workspace.scope import Filters

    return Question(
        words=words or "",
        filters=Filters(
            wings=(filters["wing"],) if filters["wing"] else (),
            rooms=filters["rooms"] or (),
            types=tuple(EntryType(one) for one in filters["types"] or ()),
            tags=filters["tags"] or (),
            focuses=(filters["focus"],) if filters["focus"] else (),
            all_wings=shown.get("all_wings", False),
            include_deprecated=shown.get("include_deprecated", False),
            include_drafts=shown.get("include_drafts", False),
        ),
    )


def _search(
    workspace: Workspace,
    *,
    query: str,
    limit: int,
    include_deprecated: bool,
    include_drafts: bool,
    all_wings: bool,
    **filters: Any,
) -> Facts:
    from mdmem.render.json import search_json
    from mdmem.retrieval.search import search, snippets

    shown = {"include_deprecated": include_deprecated, "include_drafts": include_drafts, "all_wings": all_wings}
    result = search(workspace, _question(query, filters, **shown))
    status = "succeeded" if result.hits else "empty"
    return {"retrieval_status": status, **search_json(result, limit=limit, snippet_of=snippets(workspace, result))}


def _no_search(status: str, message: str, arguments: Mapping[str, Any]) -> Facts:
    shape: Facts = {"query": arguments["query"], "total": 0, "hits": [], "unmatched_terms": [], "problems": []}
    return {"retrieval_status": status, "message": message, **shape, "degraded": True}


_SEARCH = Tool(
    name="search",
    title="Search the memory",
    about=(
        "Call this to find entries of the project's memory by words: what was decided, which rules hold, what is "
        "known about a subject. A hit on an entry that was superseded yields what replaced it, with the old one in "
        "`via`. For everything that binds the work at hand, call `retrieve` instead: a search finds what is alike, "
        "not what is binding. `get_entry` shows a hit in full."
    ),
    parameters=(
        Parameter(name="query", needed=True, about="What is looked for, in plain words."),
        Parameter(name="limit", kind=ParameterKind.WHOLE, default=10, least=1, most=100, about="Hits at most."),
        *_FILTERS,
        Parameter(name="all_wings", kind=ParameterKind.FLAG, default=False, about="Read every wing."),
        Parameter(name="include_deprecated", kind=ParameterKind.FLAG, default=False, about="Show what ended, too."),
        Parameter(name="include_drafts", kind=ParameterKind.FLAG, default=False, about="Show drafts, too."),
        AT,
    ),
    answers={
        "retrieval_status": READ_STATUS,
        "query": TEXT,
        "total": COUNT,
        "hits": OBJECTS,
        "unmatched_terms": TEXTS,
        "problems": PROBLEMS,
        "degraded": FLAG,
        "source": TEXT,
        "message": TEXT,
    },
    call=_search,
    fall_back=_no_search,
)


def _retrieve(
    workspace: Workspace, *, query: str | None, paths: Sequence[str] | None, budget: int | None, **filters: Any
) -> Facts:
    from mdmem.render.json import pack_json
    from mdmem.retrieval.retrieve import retrieve, with_code_paths

    question = with_code_paths(workspace, _question(query, filters), from_top(workspace, paths))
    pack = retrieve(workspace, question, budget=budget)
    is_empty = not (pack.items or pack.proposed or pack.basis.problems or pack.basis.fallback)
    return {"retrieval_status": "empty" if is_empty else "succeeded", **pack_json(pack)}


def _retrieve_elsewhere(cwd: Path, why: str, *, query: str | None, budget: int | None, **filters: Any) -> Facts:
    from mdmem.render.json import pack_json
    from mdmem.retrieval.fallback import retrieve_without_root

    pack = retrieve_without_root(cwd, _question(query, filters), why=why, budget=budget)
    return {"retrieval_status": "failed", "message": why, **pack_json(pack)}


def _no_retrieve(status: str, message: str, arguments: Mapping[str, Any]) -> Facts:  # noqa: ARG001  # one signature
    lists = ("items", "proposed", "conflicts", "omitted", "problems", "fallback", "unmatched_terms", "searched")
    shape: Facts = {name: [] for name in lists}
    return {"retrieval_status": status, "message": message, **shape, "covered": False, "degraded": True}


_RETRIEVE = Tool(
    name="retrieve",
    title="What binds the work at hand",
    about=(
        "Call this before you change code or decide anything: it answers what is binding here and now. Say what you "
        "are about to do in `query` and which files you touch in `paths`. Invariants of the scope always come, and "
        "first; then decisions, patterns and notes that match, in that order of authority. `proposed` holds drafts "
        "and what the default branch has not got: they do not bind. `covered` is false where nothing binding covers "
        "the question. `problems` names files that cannot be read and may bind. `conflicts` are for people to resolve."
    ),
    parameters=(
        Parameter(name="query", about="What you are about to do, in plain words. Without it: everything in force."),
        PATHS,
        Parameter(
            name="budget", kind=ParameterKind.WHOLE, least=0, most=1_000_000, about="Tokens for all pages together."
        ),
        *_FILTERS,
        AT,
    ),
    answers={
        "retrieval_status": READ_STATUS,
        "scope": OBJECT,
        "items": OBJECTS,
        "proposed": OBJECTS,
        "conflicts": OBJECTS,
        "omitted": OBJECTS,
        "omitted_counts": OBJECTS,
        "problems": PROBLEMS,
        "fallback": OBJECTS,
        "tokens": COUNT,
        "budget": COUNT,
        "over_budget": FLAG,
        "covered": FLAG,
        "unmatched_terms": TEXTS,
        "searched": TEXTS,
        "degraded": FLAG,
        "source": TEXT,
        "message": TEXT,
        "invariants_remaining": COUNT,
    },
    call=_retrieve,
    fall_back=_no_retrieve,
    rootless=_retrieve_elsewhere,
    binds=is_invariant,
)


def _get_entry(workspace: Workspace, *, addresses: Sequence[str]) -> Facts:
    from mdmem.render.json import entries_json
    from mdmem.retrieval.entries import show

    if not addresses:
        raise UsageError("name at least one entry in `addresses`, as `wing/room/entry-id`")
    shown = show(workspace, addresses)
    if len(shown) > _MANY:
        raise UsageError(f"`addresses` means {len(shown)} entries; name {_MANY} at most, or call `search`")
    return entries_json(shown)


_GET_ENTRY = Tool(
    name="get_entry",
    title="Show entries in full",
    about=(
        "Call this to read entries in full when you know their addresses, from `retrieve`, `search` or a link. An "
        "address is `wing/room/entry-id`; the short form `entry-id` is enough where only one entry bears it, and "
        "`wing/room/` means all entries below. `current` says whether the entry is in force; where it is not, "
        "`heads` names what replaced it."
    ),
    parameters=(
        Parameter(name="addresses", kind=ParameterKind.TEXTS, needed=True, about="The addresses of the entries."),
        AT,
    ),
    answers={"entries": OBJECTS},
    call=_get_entry,
)

CORE = (_RETRIEVE, _SEARCH, _GET_ENTRY)
