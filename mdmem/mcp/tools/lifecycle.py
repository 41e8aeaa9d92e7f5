"""The tools around an entry's life: how it came to bind, whether the memory is sound, and a draft for people."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, TypedDict, Unpack

from pydantic import Field

from mdmem.change.why import why
from mdmem.checks.run import CheckRequest, check
from mdmem.mcp.arguments import Agent, AsText, Focus, LongText, Name, Room, Text, Texts, Type, Wing
from mdmem.mcp.tools.shape import Facts, Told, Tool
from mdmem.render.findings.json import findings_json
from mdmem.render.findings.report import CheckedRoot, Look
from mdmem.render.findings.text import text as findings_text
from mdmem.render.history import why_text
from mdmem.render.ink import Ink
from mdmem.render.json import why_json
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.propose import ProposeRequest, propose


def _why(
    workspace: Workspace, *, address: Annotated[Text, Field(description="`wing/room/entry-id`, or a short form.")]
) -> Told:
    explained = why(workspace, address)
    return Told(text=lambda: why_text(explained, Ink()), facts=lambda: why_json(explained))


_WHY = Tool(
    name="why",
    title="How an entry came to bind",
    about=(
        "History of one entry: what it replaced, what replaced it, the reasons, and the drafts that would replace it."
    ),
    call=_why,
    # Of the commits.
)


def _check(
    workspace: Workspace,
    *,
    paths: Annotated[Texts, Field(description="Only in or below these.")] = (),
    base: Annotated[Name | None, Field(description="A branch, tag or commit to compare with.")] = None,
    select: Annotated[Texts, Field(description="Only these codes.")] = (),
    ignore: Annotated[Texts, Field(description="Not these codes.")] = (),
) -> Told:
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
    return Told(
        text=lambda: findings_text([checked], Look(is_whole=True)),
        facts=lambda: {name: one for name, one in findings_json([checked]).items() if name not in ("root", "fixed")},
    )


_CHECK = Tool(
    name="check",
    title="Check the memory's files",
    about=(
        "After writing entries, before a commit: what is wrong in the memory's files, and what to do about it. Not for "
        "code. An `error` blocks the commit. With `base`, only what changed since is told; `old` counts the rest."
    ),
    call=_check,
    noise=frozenset(("column", "edits", "renames")),
)


class _ProposeArguments(TypedDict):
    title: Annotated[Name, Field(description="Short; the id is made from it.")]
    body: Annotated[LongText, Field(description="Markdown.")]
    type: Annotated[Type | None, Field(default=None, description="Default: decision, or as what it supersedes.")]
    wing: Wing
    room: Room
    supersedes: Annotated[
        str | None,
        Field(default=None, max_length=300, description="The full address of what it replaces."),
        AsText,
    ]
    reason: Annotated[Text | None, Field(default=None, description="Why it replaces that.")]
    applies_to: Annotated[Texts | None, Field(default=None, description="Globs of code, as `src/nav/**`.")]
    tags: Annotated[Texts | None, Field(default=None, description="Tags.")]
    focus: Focus
    agent: Agent
    governance_token: Annotated[
        Name | None,
        Field(default=None, description="What a person got from `mdmem token`; needed where the wing is shared."),
    ]


def _propose(workspace: Workspace, **stated: Unpack[_ProposeArguments]) -> Facts:
    known: dict[str, Any] = {name: value for name, value in stated.items() if value is not None}
    return propose(workspace, ProposeRequest(**known), now=datetime.now(UTC)).as_json()


_PROPOSE = Tool(
    name="propose",
    title="Propose an entry",
    about=(
        "Write a rule, decision, pattern or note, or the successor of an entry that no longer fits, as a draft for "
        "people to approve: until then nothing changes. One sentence that states it, then why, after a line "
        "`Rationale:`. Look at what `near` names before you go on."
    ),
    call=_propose,
    writes=True,
)

LIFECYCLE = (_WHY, _CHECK, _PROPOSE)
