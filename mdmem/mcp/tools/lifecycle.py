"""The tools around an entry's life: how it came to bind, whether the memory is sound, and a draft for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mdmem.mcp.tools.core import TYPES
from mdmem.mcp.tools.shape import (
    AGENT,
    COUNT,
    FLAG,
    FOCUS,
    OBJECTS,
    ROOM,
    TEXT,
    TEXT_OR_NULL,
    TEXTS,
    TOKEN,
    Facts,
    Parameter,
    ParameterKind,
    Tool,
)

if TYPE_CHECKING:
    from mdmem.workspace.workspace import Workspace


def _why(workspace: Workspace, *, address: str) -> Facts:
    from mdmem.history.why import why
    from mdmem.render.json import why_json

    return why_json(why(workspace, address))


_WHY = Tool(
    name="why",
    title="How an entry came to bind",
    about=(
        "Call this when you want to know why an entry holds, or what became of it: its chain of supersessions in both "
        "directions, oldest first, with reasons, dates and commits. `heads` are the entries now in force at the end "
        "of the chain, none where it ended. `drafts` are proposed successors that bind nobody yet."
    ),
    parameters=(Parameter(name="address", needed=True, about="The entry: `wing/room/entry-id`, or a short form."),),
    answers={
        "address": TEXT,
        "heads": TEXTS,
        "contradictory": FLAG,
        "chain": OBJECTS,
        "drafts": TEXTS,
        "claimed_by": TEXTS,
        "amends": TEXTS,
        "amended_by": TEXTS,
        "overrides": TEXTS,
        "overridden_by": TEXTS,
        "conflicts": TEXTS,
    },
    call=_why,
)


def _check(
    workspace: Workspace,
    *,
    paths: Sequence[str] | None,
    base: str | None,
    select: Sequence[str] | None,
    ignore: Sequence[str] | None,
) -> Facts:
    from mdmem.checks.run import CheckRequest, check
    from mdmem.render.findings.json import findings_json
    from mdmem.render.findings.report import CheckedRoot

    asked = CheckRequest(paths=tuple(paths or ()), base=base, select=tuple(select or ()), ignore=tuple(ignore or ()))
    checked = CheckedRoot(
        report=check(workspace, asked),
        under="",
        line_of=workspace.line_of,
        bytes_of=workspace.bytes_of,
        show_path=str,
    )
    return {name: value for name, value in findings_json([checked]).items() if name not in ("root", "fixed")}


_CHECK = Tool(
    name="check",
    title="Check the memory",
    about=(
        "Call this after entries were written or edited, and before a commit: it checks every file and every link of "
        "the memory and returns what is wrong, where, and what to do about it. It changes nothing. Findings of "
        "severity `error` block a commit. With `base`, only what changed since that revision brought is told; `old` "
        "counts the rest."
    ),
    parameters=(
        Parameter(name="paths", kind=ParameterKind.TEXTS, about="Report only what lies in or below these paths."),
        Parameter(name="base", about="A branch, tag or commit to compare with, as `main`.", longest=200),
        Parameter(name="select", kind=ParameterKind.TEXTS, about="Run only these checks, by their codes."),
        Parameter(name="ignore", kind=ParameterKind.TEXTS, about="Leave out these checks, by their codes."),
    ),
    answers={
        "tree": TEXT,
        "base": TEXT_OR_NULL,
        "checked": COUNT,
        "findings": OBJECTS,
        "incomplete": TEXTS,
    },
    call=_check,
)


def _propose(workspace: Workspace, **stated: Any) -> Facts:
    from datetime import UTC, datetime

    from mdmem.authoring.propose import ProposeRequest, propose

    proposal = ProposeRequest(**{name: value for name, value in stated.items() if value is not None})
    return propose(workspace, proposal, now=datetime.now(UTC)).as_json()


_PROPOSE = Tool(
    name="propose",
    title="Propose an entry",
    about=(
        "Call this to propose a rule, a decision, a pattern or a note for the project's memory, or a successor of an "
        "entry that no longer fits. It writes a draft: nothing changes until a person approves it, and the entry that "
        "it supersedes stays in force until then. State the rule or choice in one sentence, then why, after a line "
        "`Rationale:`. `near` names entries that say nearly the same: look at them before you go on."
    ),
    parameters=(
        Parameter(name="title", needed=True, about="A short title; the entry's id is made from it.", longest=200),
        Parameter(name="body", needed=True, about="The text in Markdown.", longest=60_000),
        Parameter(
            name="type",
            choices=TYPES,
            about="What it is. Default: decision, or the type of the entry that it supersedes.",
        ),
        Parameter(name="wing", about="The wing, by name or project id. Default: the active one.", longest=200),
        ROOM,
        Parameter(name="supersedes", about="The address of the entry that this one is to replace.", longest=300),
        Parameter(name="reason", about="Why it replaces that one; needed with `supersedes`."),
        Parameter(
            name="applies_to", kind=ParameterKind.TEXTS, about="Globs of the code that it is about, as `src/nav/**`."
        ),
        Parameter(name="tags", kind=ParameterKind.TEXTS, about="Tags."),
        FOCUS,
        AGENT,
        replace(TOKEN, about="What a person got from `mdmem token`; needed where the wing is shared."),
    ),
    answers={
        "status": {"type": "string", "enum": ["saved", "duplicate_skip"]},
        "address": TEXT,
        "path": TEXT,
        "entry_status": TEXT,
        "supersedes": TEXTS,
        "near": OBJECTS,
        "remarks": TEXTS,
        "commit": TEXT_OR_NULL,
        "next_step": TEXT,
    },
    call=_propose,
    writes=True,
    repeats=False,
)

LIFECYCLE = (_WHY, _CHECK, _PROPOSE)
