"""The tools for the life of an entry: its history, the checks of its file, and a new draft."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, TypedDict, Unpack

from pydantic import Field

from mdmem.change.history import why
from mdmem.checks.run import CheckRequest, check
from mdmem.mcp.arguments import Agent, AsText, Focus, LongText, Name, Room, Text, Texts, Type, Wing
from mdmem.mcp.tools.shape import Facts, ToolResult, tool
from mdmem.render.findings.json import findings_json
from mdmem.render.findings.report import CheckedRoot, Look
from mdmem.render.findings.text import text as findings_text
from mdmem.render.history import why_text
from mdmem.render.ink import Ink
from mdmem.render.json import why_json
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.propose import ProposeRequest, propose


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
    ignore: Annotated[Texts, Field(description="Without these checks.")] = (),
) -> ToolResult:
    """After writing entries, before a commit: errors and warnings in the memory's files, and how to fix them. Not for
    code. An `error` blocks the commit. With `base`, only what changed since is reported; `old` counts the rest.
    """
    # As on the command line, findings of the level "info" are for those who select their checks.
    asked = CheckRequest(
        paths=paths, base=base, select=select, ignore=ignore, with_info=bool(select), with_uncommitted=True
    )
    checked = CheckedRoot(
        report=check(workspace, asked),
        under="",
        line_of=workspace.line_of,
        bytes_of=workspace.bytes_of,
        show_path=str,
    )
    return ToolResult(
        text=lambda: findings_text([checked], Look(is_whole=True)),
        facts=lambda: {name: one for name, one in findings_json([checked]).items() if name not in ("root", "fixed")},
    )


class _ProposeArguments(TypedDict):
    title: Annotated[Name, Field(description="Short; the id is made from it.")]
    body: Annotated[LongText, Field(description="Markdown.")]
    type: Annotated[Type | None, Field(default=None, description="Default: decision, or that of the superseded entry.")]
    wing: Wing
    room: Room
    supersedes: Annotated[
        str | None,
        Field(default=None, max_length=300, description="The full address of the entry that it supersedes."),
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
    return propose(workspace, ProposeRequest(**known), now=datetime.now(UTC)).as_json()


LIFECYCLE = (_why, _check, _propose)
