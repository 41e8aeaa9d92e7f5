"""The tools around an entry's life: how it came to bind, whether the memory is sound, and a draft for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from mdmem.mcp.texts import findings_text
from mdmem.mcp.tools.core import TYPES
from mdmem.mcp.tools.shape import AGENT, FOCUS, ROOM, TOKEN, Facts, Parameter, ParameterKind, Told, Tool

if TYPE_CHECKING:
    from mdmem.workspace.workspace import Workspace


def _why(workspace: Workspace, *, address: str) -> Told:
    from mdmem.history.why import why
    from mdmem.render.history import why_text
    from mdmem.render.ink import Ink
    from mdmem.render.json import why_json

    explained = why(workspace, address)
    return Told(text=lambda: why_text(explained, Ink()), facts=lambda: why_json(explained))


_WHY = Tool(
    name="why",
    title="How an entry came to bind",
    about=(
        "History of one entry: what it replaced, what replaced it, the reasons, and the drafts that would replace it."
    ),
    parameters=(Parameter(name="address", needed=True, about="`wing/room/entry-id`, or a short form."),),
    call=_why,
    # Of the commits.
    reads_own=True,
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

    codes, left_out = tuple(select or ()), tuple(ignore or ())
    asked = CheckRequest(
        paths=tuple(paths or ()),
        base=base,
        select=codes,
        ignore=left_out,
        # As on the command line: what is only of interest is told to who asks for it.
        with_info=bool(codes),
        with_uncommitted=True,
    )
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
    title="Check the memory's files",
    about=(
        "After writing entries, before a commit: what is wrong in the memory's files, and what to do about it. Not for "
        "code. An `error` blocks the commit. With `base`, only what changed since is told; `old` counts the rest."
    ),
    parameters=(
        Parameter(name="paths", kind=ParameterKind.TEXTS, about="Only in or below these."),
        Parameter(name="base", about="A branch, tag or commit to compare with.", longest=200),
        Parameter(name="select", kind=ParameterKind.TEXTS, about="Only these codes."),
        Parameter(name="ignore", kind=ParameterKind.TEXTS, about="Not these codes."),
    ),
    call=_check,
    tell=findings_text,
    noise=frozenset(("column", "edits", "renames")),
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
        "Write a rule, decision, pattern or note, or the successor of an entry that no longer fits, as a draft for "
        "people to approve: until then nothing changes. One sentence that states it, then why, after a line "
        "`Rationale:`. Look at what `near` names before you go on."
    ),
    parameters=(
        Parameter(name="title", needed=True, about="Short; the id is made from it.", longest=200),
        Parameter(name="body", needed=True, about="Markdown.", longest=60_000),
        Parameter(name="type", choices=TYPES, about="Default: decision, or as what it supersedes."),
        Parameter(name="wing", about="Default: the active one.", longest=200),
        ROOM,
        Parameter(name="supersedes", about="The full address of what it replaces.", longest=300),
        Parameter(name="reason", about="Why it replaces that."),
        Parameter(name="applies_to", kind=ParameterKind.TEXTS, about="Globs of code, as `src/nav/**`."),
        Parameter(name="tags", kind=ParameterKind.TEXTS, about="Tags."),
        FOCUS,
        AGENT,
        replace(TOKEN, about="What a person got from `mdmem token`; needed where the wing is shared."),
    ),
    call=_propose,
    writes=True,
    repeats=False,
)

LIFECYCLE = (_WHY, _CHECK, _PROPOSE)
