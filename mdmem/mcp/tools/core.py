"""Define the tools of the profile `core`, and `synthesis_plan`, which outlines a text."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, TypedDict, Unpack

from pydantic import AliasChoices, Field

from mdmem.ask.answer import VIA_NAMED, Question, read_request
from mdmem.ask.context import ContextRequest, compile_context
from mdmem.ask.retrieve import retrieve, with_code_paths
from mdmem.ask.search import search, show, show_about, snippets
from mdmem.ask.synthesis import SynthesisRequest, plan_synthesis
from mdmem.change.history import why
from mdmem.checks.run import CheckRequest, check
from mdmem.errors import UsageError
from mdmem.mcp.answers import mark_line
from mdmem.mcp.tools.tool import (
    Agent,
    AsText,
    Choice,
    Facts,
    Focus,
    Listed,
    LongText,
    Name,
    Paths,
    Project,
    Prose,
    Record,
    Room,
    Shown,
    Text,
    Texts,
    ToolResult,
    Type,
    Wing,
    optional,
    tool,
    without_memory,
)
from mdmem.model.entry import EntryType
from mdmem.render import findings
from mdmem.render.answers import answers_json, answers_text
from mdmem.render.context import pack_markdown, plan_markdown
from mdmem.render.entries import entries_json, excerpts_json, excerpts_text, search_json, search_text, shown_text
from mdmem.render.history import why_json, why_text
from mdmem.render.text import Style, one_line
from mdmem.store.workspace.scope import Filters
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.propose import ProposeRequest, propose
from mdmem.write.remember import Kind, remember

# The most entries that one call shows.
_MANY = 200


class FilterArguments(TypedDict):
    """The arguments that narrow a question; `question_of` reads them."""

    wing: Wing
    rooms: Annotated[Texts | None, optional("Only these.")]
    types: Annotated[tuple[Type, ...] | None, Listed, optional("Only these.")]
    tags: Annotated[Texts | None, optional("Only with one of these.")]
    focus: Focus


class WideFilterArguments(FilterArguments):
    """The arguments of `FilterArguments`, and arguments that add other wings, deprecated entries and drafts."""

    all_wings: Annotated[bool, optional("Read every wing.", default=False)]
    include_deprecated: Annotated[bool, optional("Also deprecated ones.", default=False)]
    include_drafts: Annotated[bool, optional("Also drafts.", default=False)]


def from_top(workspace: Workspace, paths: Sequence[str] | None) -> tuple[str, ...]:
    """Return paths from the repository's top as absolute paths; an agent does not know the server's directory."""
    top = workspace.location.base.resolve()
    # `os.path.join` keeps the slash at the end of a folder's path.
    return tuple(os.path.join(top, path) for path in paths or ())  # noqa: PTH118


def question_of(words: str | None, filters: Mapping[str, Any]) -> Question:
    """Return a question with some words and the filters in a tool's arguments."""
    return Question(
        words=words or "",
        filters=Filters(
            wings=(filters["wing"],) if filters["wing"] else (),
            rooms=filters["rooms"] or (),
            types=tuple(EntryType(one) for one in filters["types"] or ()),
            tags=filters["tags"] or (),
            focuses=(filters["focus"],) if filters["focus"] else (),
            all_wings=filters.get("all_wings", False),
            include_deprecated=filters.get("include_deprecated", False),
            include_drafts=filters.get("include_drafts", False),
        ),
    )


@tool(
    "Rules for the work at hand",
    has_at=True,
    noise=("score",),
    fall_back=without_memory(covered=False),
    is_first=True,
    asks=("query", "queries"),
)
def _retrieve(
    workspace: Workspace,
    *,
    query: Annotated[Text | None, optional("What you are about to do. Without it: everything current.")],
    queries: Annotated[Prose | None, optional("All your questions, in whole sentences.")],
    paths: Paths,
    budget: Annotated[int | None, optional("Tokens (of 4 bytes) for all but invariants.", ge=0, le=1_000_000)],
    shown: Shown,
    **filters: Unpack[FilterArguments],
) -> ToolResult:
    """Before editing files or deciding: returns the rules and decisions that apply to these files and this task. Give
    `query` and every file in `paths`, once; again only when the files change. Several questions go into one call, in
    `queries`. Invariants always come first, then decisions, patterns, notes. Proposed entries do not bind;
    contradictions are for people to resolve; files that cannot be read may contain rules.
    """
    questions = [question_of(one, filters) for one in dict.fromkeys(queries or ()) if one]
    main = None
    if query or paths or not questions:
        main = with_code_paths(workspace, question_of(query, filters), from_top(workspace, paths))
    answers = retrieve(workspace, main, questions, budget=budget, shown=shown)
    parts = ((one.items, one.proposed, one.basis.problems, one.basis.fallback) for one in answers.all)
    status = "succeeded" if any(map(any, parts)) else "empty"
    facts = {"retrieval_status": status, "covered": any(one.basis.covered for one in answers.all)}
    return ToolResult(
        text=lambda: answers_text(answers, Style(is_markdown=True)),
        facts=lambda: {**answers_json(answers), **facts},
        shown=answers.shown,
    )


@tool("Search the memory", has_at=True, noise=("score", "wing", "room"), fall_back=without_memory("query"))
def _search(
    workspace: Workspace,
    *,
    query: Annotated[Text, Field(description="Plain words.")],
    limit: Annotated[int, optional("Maximum results.", default=10, ge=1, le=100)],
    **filters: Unpack[WideFilterArguments],
) -> ToolResult:
    """Find entries by words when you look for a known subject. A result is similar, not necessarily binding. In place
    of a superseded entry you get the current one.
    """
    result = search(workspace, question_of(query, filters))
    status = "succeeded" if result.hits else "empty"
    best = snippets(workspace, result, limit)

    def text() -> str:
        found = search_text(result, best, Style(), more="raise `limit` to see them")
        nothing = [] if result.hits else ["No current entry matches."]
        unmatched = result.basis.unmatched_terms
        missing = [f"No entry contains {', '.join(map(one_line, unmatched))}."] if unmatched else []
        return "\n\n".join(part for part in (found, *nothing, *missing) if part)

    return ToolResult(
        text=text, facts=lambda: {"retrieval_status": status, **search_json(result, best, named=VIA_NAMED)}
    )


@tool("Show entries in full", has_at=True)
def _get_entry(
    workspace: Workspace,
    *,
    # Some agents use the former name of the argument.
    address: Annotated[
        Texts, Field(validation_alias=AliasChoices("address", "addresses"), description="Their addresses.")
    ],
    about: Annotated[
        Prose | None, optional("Only the passages most relevant to these words: one text for all, or one per address.")
    ],
    shown: Shown,
) -> ToolResult:
    """Full text of entries whose addresses you have: `wing/room/entry-id`, `entry-id` if it is unique, or `wing/room/`
    for all in it.
    """
    if not address:
        raise UsageError("name at least one entry in `address`, as `wing/room/entry-id`")
    if about:
        found = show_about(workspace, address, about, shown=shown)
        notes = {one.entry.address: one.note for one in found}
        return ToolResult(
            text=lambda: excerpts_text(found, Style(is_markdown=True)), facts=lambda: excerpts_json(found), shown=notes
        )
    entries = show(workspace, address)
    if len(entries) > _MANY:
        raise UsageError(f"`address` means {len(entries)} entries; name {_MANY} at most, or call `search`")
    return ToolResult(
        text=lambda: shown_text(entries, Style(is_markdown=True)),
        facts=lambda: entries_json(entries),
        shown={one.entry.address: one.digest for one in entries},
    )


@tool("History of an entry")
def _why(
    workspace: Workspace, *, address: Annotated[Text, Field(description="`wing/room/entry-id`, or a short form.")]
) -> ToolResult:
    """History of one entry: what it superseded, what superseded it, the reasons, and the drafts that would supersede
    it.
    """
    explained = why(workspace, address)
    return ToolResult(text=lambda: why_text(explained, Style()), facts=lambda: why_json(explained))


@tool("Check the memory's files", noise=("column", "edits", "renames"))
def _check(
    workspace: Workspace,
    *,
    paths: Annotated[Texts, optional("Only these files and folders.", default=())],
    base: Annotated[Name | None, optional("A branch, tag or commit to compare with.")],
    select: Annotated[Texts, optional("Only these checks, by code.", default=())],
    ignore: Annotated[Texts, optional("Not these.", default=())],
) -> ToolResult:
    """After writing entries, before a commit: errors and warnings in the memory's files, and how to fix them. Not for
    code. An `error` blocks the commit. With `base`, only newer findings are listed; `old` counts the others.
    """
    # As on the command line, findings of the level "info" are included only if the caller selects checks.
    request = CheckRequest(
        paths=paths, base=base, select=select, ignore=ignore, with_info=bool(select), with_uncommitted=True
    )
    checked = findings.CheckedRoot(report=check(workspace, request), under="", line_of=workspace.line_of, show_path=str)
    return ToolResult(
        text=lambda: findings.text([checked], Style(is_whole=True)),
        facts=lambda: {
            name: one for name, one in findings.findings_json([checked]).items() if name not in ("root", "fixed")
        },
    )


class _ProposeArguments(TypedDict):
    title: Annotated[Name, Field(description="Short; the id is made from it.")]
    body: Annotated[LongText, Field(description="Text in Markdown.")]
    type: Annotated[Type | None, optional("Default: decision, or that of the superseded entry.")]
    wing: Wing
    room: Room
    supersedes: Annotated[str | None, optional("Full address of the entry that it supersedes.", max_length=300), AsText]
    reason: Annotated[Text | None, optional("Why it supersedes that entry.")]
    applies_to: Annotated[Texts | None, optional("Globs of code, as `src/nav/**`.")]
    tags: Annotated[Texts | None, optional("Tags.")]
    focus: Focus
    agent: Agent
    governance_token: Annotated[Name | None, optional("From a person who ran `mdmem token`; needed for a shared wing.")]


@tool("Propose an entry", writes=True)
def _propose(workspace: Workspace, **arguments: Unpack[_ProposeArguments]) -> Facts:
    """Write a rule, decision, pattern or note, or the successor of an entry that no longer fits, as a draft for people
    to approve: until then nothing changes. State it in one sentence, then the reasons after a line `Rationale:`.
    Read the entries in `near` before you go on.
    """
    known: dict[str, Any] = {name: value for name, value in arguments.items() if value is not None}
    return propose(workspace, ProposeRequest(**known), now=datetime.now(UTC))


_Intent = Literal["build", "plan", "ideate", "research", "debug", "decide", "learn", "general"]
_Layer = Literal["wake", "recall", "deep_search"]
_Output = Literal["documentation", "report", "briefing", "roadmap", "release_notes", "audit_packet", "custom"]
_Domain = Annotated[Name | None, optional("Only this tag, topic, label, room or focus.")]
_QUALITY = ("origin", "source", "url", "created_at", "updated_at", "valid_at", "project_id")
_ITEM = ("id", "type", "name", "content", "score", "facet", "title", "reason", "source", "metadata", "related")


class _ContextArguments(TypedDict):
    goal: Annotated[Text, Field(description="What you want to accomplish.")]
    intent: Annotated[_Intent, Choice, optional("What the goal is about.", default="build")]
    layer: Annotated[_Layer, Choice, optional("`wake`: compact. `deep_search`: for research.", default="recall")]
    domain: _Domain
    project: Project
    agent_id: Annotated[Name | None, optional("Include this agent's diary.")]
    limit: Annotated[int, optional("Maximum items, 1 to 50.", default=24)]
    include_related: Annotated[bool, optional("Add linked entries.", default=True)]
    related_limit: Annotated[int, optional("Linked entries for each item.", default=3)]


class _ContextPack(TypedDict):
    goal: str
    intent: str
    query: str
    domain: str | None
    project: str | None
    layer: str
    sections: list[dict[str, Any]]
    total_items: int
    usage_hint: str
    markdown: str


@tool(
    "An overview for a goal",
    has_at=True,
    kept=("items", "quality", "relationship", "direction", "distance", *_QUALITY, *_ITEM),
    view=lambda facts: "\n\n".join(filter(None, (mark_line(facts), pack_markdown(facts)))),
    fall_back=without_memory(
        *("goal", "intent", "domain", "project", "layer"),
        query=lambda _, arguments: arguments["goal"],
        sections=[],
        total_items=0,
        usage_hint=lambda message, _: message,
    ),
    asks=("goal",),
)
def _context(workspace: Workspace, **arguments: Unpack[_ContextArguments]) -> Annotated[Facts, _ContextPack]:
    """Call it once, before a task whose files are not known yet. It returns an overview by facets (constraints,
    decisions, open work, gotchas), each item with its reason.
    """
    return compile_context(workspace, read_request(ContextRequest, arguments))


class _RememberArguments(TypedDict):
    title: Annotated[str, Field(max_length=300, description="Short."), AsText]
    content: Annotated[str, Field(max_length=100_000, description="Text in Markdown."), AsText]
    kind: Annotated[Kind, Choice, optional("What kind of memory it is.", default="episode")]
    domain: Annotated[Name | None, optional("The subject area.")]
    project: Project
    tags: Annotated[Texts | None, optional("Tags.")]
    related_to: Annotated[Texts | None, optional("Ids of entries.")]
    metadata: Annotated[Record | None, optional("Anything else, by name.")]
    agent: Agent
    room: Room


class _Remembered(TypedDict):
    success: bool
    id: str | None
    message: str | None
    timestamp: str | None
    conflicts: list[dict[str, Any]]


_NOT_SAVED: Facts = {"success": False, "id": None, "timestamp": None, "conflicts": []}


@tool("Keep what was learned", writes=True, refuse=lambda message, _: {**_NOT_SAVED, "message": message})
def _remember(workspace: Workspace, **arguments: Unpack[_RememberArguments]) -> Annotated[Facts, _Remembered]:
    """Store an experience, plan or procedure for later agents, word for word. After a session, use kind `session`
    for what was done and what is open. It never binds. It goes to the wing of `project`, else to the
    default wing; with project `private` only your own `context` reads it. `conflicts` lists entries that it may
    contradict or repeat.
    """
    return remember(workspace, {name: value for name, value in arguments.items() if value is not None}).as_json()


class _PlanArguments(TypedDict):
    goal: Annotated[Text, Field(description="What the text is to achieve.")]
    output_type: Annotated[_Output, Choice, optional("What kind of text it is.", default="documentation")]
    audience: Annotated[Text | None, optional("Who reads it.")]
    depth: Annotated[Literal["brief", "standard", "deep"], Choice, optional("How detailed it is.", default="standard")]
    seed_query: Annotated[Text | None, optional("What to search for, if the goal does not say it.")]
    project: Project
    domain: _Domain
    entity_ids: Annotated[Texts | None, optional("Entities that must be sources.")]
    decision_ids: Annotated[Texts | None, optional("Decisions that must be sources.")]
    required_sections: Annotated[Texts | None, optional("Each a title or `Title::what it should say`.")]
    constraints: Annotated[Texts | None, optional("What the text must comply with.")]
    max_sections: Annotated[int, optional("Maximum sections.", default=6)]
    include_neighborhoods: Annotated[bool, optional("Add linked entries.", default=True)]


class _Plan(TypedDict):
    goal: str
    output_type: str
    sections: list[dict[str, Any]]
    gaps: list[dict[str, Any]]
    verification: dict[str, Any]


@tool("Outline a text with its sources")
def _synthesis_plan(workspace: Workspace, **arguments: Unpack[_PlanArguments]) -> Annotated[Facts, _Plan]:
    """Before writing a document, report, briefing, roadmap, release notes or audit packet from the memory. It returns
    an outline: each section has its sources and its gaps. Write from these, and say where there are gaps.
    `verification` says whether every section has enough sources.
    """
    plan = plan_synthesis(workspace, read_request(SynthesisRequest, arguments))
    return {**plan, "markdown": plan_markdown(plan)}
