"""Define the tools of the profile `core`: rules for a task, search, entries, their history, checks, and new drafts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, TypedDict, Unpack

from pydantic import AliasChoices, Field

from mdmem.ask.answer import VIA_NAMED, Answers, Item, SearchResult
from mdmem.ask.fallback import retrieve_without_root
from mdmem.ask.question import Question
from mdmem.ask.retrieve import retrieve, with_code_paths
from mdmem.ask.search import search, snippets
from mdmem.ask.show import ShownEntry, digests_of, show, show_about, stance_of
from mdmem.change.history import why
from mdmem.checks.run import CheckRequest, check
from mdmem.errors import UsageError
from mdmem.markdown.text import quoted
from mdmem.mcp.tools.tool import (
    Agent,
    AsText,
    Facts,
    Focus,
    Listed,
    LongText,
    Name,
    Paths,
    Prose,
    Room,
    Shown,
    Text,
    Texts,
    ToolResult,
    Type,
    Wing,
    tool,
    without_memory,
)
from mdmem.model.entry import Entry, EntryType
from mdmem.model.lineage import standing_marks
from mdmem.render.answers import Style, answers_json, answers_text
from mdmem.render.entries import entry_list, excerpts_json, excerpts_text, search_text, standing
from mdmem.render.findings.json import findings_json
from mdmem.render.findings.report import CheckedRoot, ReportStyle
from mdmem.render.findings.text import text as findings_text
from mdmem.render.history import why_text
from mdmem.render.ink import Ink
from mdmem.render.json import agents_json, entries_json, search_json, why_json
from mdmem.render.text import one_line
from mdmem.store.workspace.scope import Filters
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.propose import ProposeRequest, propose

# The most entries that one call shows.
_MANY = 200


class Narrowed(TypedDict):
    """The arguments that narrow a question; `question_of` reads them."""

    wing: Wing
    rooms: Annotated[Texts | None, Field(default=None, description="Only these.")]
    types: Annotated[tuple[Type, ...] | None, Listed, Field(default=None, description="Only these.")]
    tags: Annotated[Texts | None, Field(default=None, description="Only with one of these.")]
    focus: Focus


class Widened(Narrowed):
    """Like `Narrowed`, with arguments that include more than the current entries of the scope."""

    all_wings: Annotated[bool, Field(default=False, description="Read every wing.")]
    include_deprecated: Annotated[bool, Field(default=False, description="Also deprecated ones.")]
    include_drafts: Annotated[bool, Field(default=False, description="Also drafts.")]


def from_top(workspace: Workspace, paths: Sequence[str] | None) -> tuple[str, ...]:
    """Make an agent's paths, which start at the repository's top, absolute.

    They are not relative to the working directory of the server, which an agent does not know.
    """
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


@tool("Search the memory", has_at=True, noise=frozenset(("score", "wing", "room")), fall_back=without_memory("query"))
def _search(
    workspace: Workspace,
    *,
    query: Annotated[Text, Field(description="Plain words.")],
    limit: Annotated[int, Field(ge=1, le=100, description="Maximum results.")] = 10,
    **filters: Unpack[Widened],
) -> ToolResult:
    """Find entries by words when you look for a known subject. A result is similar, not necessarily binding. In place
    of a superseded entry you get the current one.
    """
    result = search(workspace, question_of(query, filters))
    status = "succeeded" if result.hits else "empty"
    passages = snippets(workspace, result)
    return ToolResult(
        text=lambda: hits_text(result, limit=limit, snippet_of=passages),
        facts=lambda: {
            "retrieval_status": status,
            **search_json(result, limit=limit, snippet_of=passages, named=VIA_NAMED),
        },
    )


def hits_text(result: SearchResult, *, limit: int, snippet_of: Callable[[Item], str]) -> str:
    """Return the results of a search as text, or a sentence if there are none, and the words that no entry contains."""
    found = search_text(result, Style(), limit=limit, snippet_of=snippet_of, more="raise `limit` to see them")
    nothing = [] if result.hits else ["No current entry matches."]
    unmatched = result.basis.unmatched_terms
    missing = [f"No entry contains {', '.join(map(one_line, unmatched))}."] if unmatched else []
    return "\n\n".join(part for part in (found, *nothing, *missing) if part)


def _retrieve_elsewhere(
    cwd: Path, why: str, *, query: str | None, queries: Sequence[str] | None, budget: int | None, **filters: Any
) -> ToolResult:
    words = " ".join(filter(None, (query, *(queries or ()))))
    answer = retrieve_without_root(cwd, question_of(words, filters), why=why, budget=budget)
    return _result_of(Answers(answer), retrieval_status="failed", message=why)


@tool(
    "Rules for the work at hand",
    has_at=True,
    noise=frozenset(("score",)),
    fall_back=without_memory(covered=False),
    rootless=_retrieve_elsewhere,
    is_first=True,
    asks=("query", "queries"),
)
def _retrieve(
    workspace: Workspace,
    *,
    query: Annotated[
        Text | None, Field(description="What you are about to do. Without it: everything current.")
    ] = None,
    queries: Annotated[Prose | None, Field(description="All your questions, in whole sentences.")] = None,
    paths: Paths = None,
    budget: Annotated[
        int | None,
        Field(ge=0, le=1_000_000, description="Tokens (of 4 bytes) for all but invariants."),
    ] = None,
    shown: Shown,
    **filters: Unpack[Narrowed],
) -> ToolResult:
    """Before editing files or deciding: returns the rules and decisions that apply to these files and this task. Give
    `query` and every file in `paths`, once; again only when the files change. Several questions go into one call, in
    `queries`. Invariants always come first, then decisions, patterns, notes. Proposed entries do not bind;
    contradictions are for people to resolve; files that cannot be read may contain rules.
    """
    asked = [question_of(one, filters) for one in dict.fromkeys(queries or ()) if one]
    main = None
    if query or paths or not asked:
        main = with_code_paths(workspace, question_of(query, filters), from_top(workspace, paths))
    answers = retrieve(workspace, main, asked, budget=budget, shown=shown)
    parts = ((one.items, one.proposed, one.basis.problems, one.basis.fallback) for one in answers.all)
    return _result_of(answers, retrieval_status="succeeded" if any(map(any, parts)) else "empty")


def _result_of(answers: Answers, **status: str) -> ToolResult:
    facts = {**status, "covered": any(one.basis.covered for one in answers.all)}
    return ToolResult(
        text=lambda: answers_text(answers, Style(is_markdown=True)),
        facts=lambda: {**answers_json(answers, agents_json), **facts},
        shown=answers.shown,
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
        Prose | None,
        Field(description="Only the passages most relevant to these words: one text for all, or one per address."),
    ] = None,
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
        text=lambda: entries_text(entries),
        facts=lambda: entries_json(entries),
        shown=digests_of(workspace, entries),
    )


def list_text(workspace: Workspace, entries: Iterable[Entry]) -> str:
    """Return one line for each entry, with a mark if it is only proposed or not approved."""
    listed = list(entries)
    marks = {one.address: " ".join(standing_marks(stance_of(workspace, one))) for one in listed}
    return entry_list(listed, Style(), marks)


def entries_text(shown: Iterable[ShownEntry]) -> str:
    """Return entries in full, each below a heading and its state; every line of a body is quoted."""
    return "\n\n".join(map(_entry_text, shown))


def _entry_text(one: ShownEntry) -> str:
    entry = one.entry
    fields = {name: value for name, value in one.front_matter.items() if name not in ("type", "title", "status")}
    lines = [f"`{entry.address}` ({one_line(standing(one))})"]
    lines += [f"{name}: {one_line(_field_text(value))}" for name, value in fields.items()]
    body = quoted(one.body.strip("\n"))
    return "\n\n".join([f"### {entry.type}: {one_line(entry.title)}", "\n".join(lines), body]).rstrip()


def _field_text(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_field_text, value))
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_field_text(inner)}" for name, inner in value.items())
    return "" if value is None else str(value)


@tool("History of an entry")
def _why(
    workspace: Workspace, *, address: Annotated[Text, Field(description="`wing/room/entry-id`, or a short form.")]
) -> ToolResult:
    """History of one entry: what it superseded, what superseded it, the reasons, and the drafts that would supersede
    it.
    """
    explained = why(workspace, address)
    return ToolResult(text=lambda: why_text(explained, Ink()), facts=lambda: why_json(explained))


@tool("Check the memory's files", noise=frozenset(("column", "edits", "renames")))
def _check(
    workspace: Workspace,
    *,
    paths: Annotated[Texts, Field(description="Only these files and folders.")] = (),
    base: Annotated[Name | None, Field(description="A branch, tag or commit to compare with.")] = None,
    select: Annotated[Texts, Field(description="Only these checks, by code.")] = (),
    ignore: Annotated[Texts, Field(description="Not these.")] = (),
) -> ToolResult:
    """After writing entries, before a commit: errors and warnings in the memory's files, and how to fix them. Not for
    code. An `error` blocks the commit. With `base`, only newer findings are listed; `old` counts the others.
    """
    # As on the command line, findings of the level "info" are included only if the caller selects checks.
    asked = CheckRequest(
        paths=paths, base=base, select=select, ignore=ignore, with_info=bool(select), with_uncommitted=True
    )
    checked = CheckedRoot(
        report=check(workspace, asked),
        under="",
        line_of=workspace.line_of,
        show_path=str,
    )
    return ToolResult(
        text=lambda: findings_text([checked], ReportStyle(is_whole=True)),
        facts=lambda: {name: one for name, one in findings_json([checked]).items() if name not in ("root", "fixed")},
    )


class _ProposeArguments(TypedDict):
    title: Annotated[Name, Field(description="Short; the id is made from it.")]
    body: Annotated[LongText, Field(description="Text in Markdown.")]
    type: Annotated[Type | None, Field(default=None, description="Default: decision, or that of the superseded entry.")]
    wing: Wing
    room: Room
    supersedes: Annotated[
        str | None,
        Field(default=None, max_length=300, description="Full address of the entry that it supersedes."),
        AsText,
    ]
    reason: Annotated[Text | None, Field(default=None, description="Why it supersedes that entry.")]
    applies_to: Annotated[Texts | None, Field(default=None, description="Globs of code, as `src/nav/**`.")]
    tags: Annotated[Texts | None, Field(default=None, description="Tags.")]
    focus: Focus
    agent: Agent
    governance_token: Annotated[
        Name | None,
        Field(default=None, description="From a person who ran `mdmem token`; needed for a shared wing."),
    ]


@tool("Propose an entry", writes=True)
def _propose(workspace: Workspace, **stated: Unpack[_ProposeArguments]) -> Facts:
    """Write a rule, decision, pattern or note, or the successor of an entry that no longer fits, as a draft for people
    to approve: until then nothing changes. State it in one sentence, then the reasons after a line `Rationale:`.
    Read the entries in `near` before you go on.
    """
    known: dict[str, Any] = {name: value for name, value in stated.items() if value is not None}
    return propose(workspace, ProposeRequest(**known), now=datetime.now(UTC))


CORE = (_retrieve, _search, _get_entry, _why, _check, _propose)
