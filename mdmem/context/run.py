"""Compiling a context pack over a root and the caller's own memory, and keeping in the audit log that it was done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mdmem.context.compile import compile_pack as compile_pack
from mdmem.context.gather import Memory
from mdmem.context.pack import ContextPack
from mdmem.context.request import ContextRequest, Intent
from mdmem.errors import GitError, GoneError, MdmemError
from mdmem.git import find_repository
from mdmem.retrieval.fallback import answer_elsewhere
from mdmem.retrieval.question import Question
from mdmem.retrieval.retrieve import forgiving_settings, text_query
from mdmem.state.audit import Audit, record
from mdmem.state.places import WING
from mdmem.workspace.own_memory import find_own_memory
from mdmem.workspace.proposals import view_of
from mdmem.workspace.scope import Filters, Scope, ScopeState, resolve_scope
from mdmem.workspace.visibility import project_scope
from mdmem.workspace.workspace import Workspace

Now = Callable[[], datetime]


def compile_context(
    workspace: Workspace, asked: ContextRequest, *, at: str | None = None, now: Now | None = None
) -> ContextPack:
    """Return the pack for a goal; that it was asked for is kept, and a log that cannot be written is only remarked.

    With `at` it is what mattered at a revision or a date. Raises AccessDeniedError for a project that the caller may
    not read, UsageError for a revision or date that is none, and GoneError where files keep going away.
    """
    workspace = workspace.as_of(at)
    try:
        pack = _compiled(workspace, asked)
    except MdmemError as error:
        _audit(workspace, asked, (), now, {"refused": str(error)})
        raise
    counts = {"proposed": [item.id for item in pack.proposed], "problems": len(pack.problems)}
    fault = _audit(workspace, asked, tuple(item.id for item in pack.items), now, counts)
    return replace(pack, remarks=(*pack.remarks, fault)) if fault else pack


def _audit(
    workspace: Workspace, asked: ContextRequest, returned: tuple[str, ...], now: Now | None, more: Mapping[str, Any]
) -> str | None:
    audit = Audit(
        verb="context",
        asked={name: value for name, value in asdict(asked).items() if value is not None},
        returned=returned,
        when=now() if now is not None else datetime.now(UTC),
        caller=workspace.access.name,
        more=more,
    )
    return record(workspace.state_folder, audit)


def _compiled(workspace: Workspace, asked: ContextRequest) -> ContextPack:
    """Compile from files that stood still; where one goes away meanwhile, everything is read again, once."""
    try:
        return _compile(workspace, asked)
    except GoneError:
        return _compile(workspace.reread(), asked)


def _compile(workspace: Workspace, asked: ContextRequest) -> ContextPack:
    settings, faults = forgiving_settings(workspace)
    view, question = view_of(workspace), Question(words=asked.query)
    scope = project_scope(view.effective, settings, asked.project, widely=asked.intent is Intent.GENERAL)
    files = Memory(catalog=view.checkout.catalog, scope=scope, ask=text_query(view.checkout, question))
    team = replace(files, catalog=view.effective.catalog, ask=text_query(view.effective, question), faults=faults)
    memories = [replace(team, files=files, beside=view.alternatives) if view.alternatives else team]
    own, remarks = _own_memory(workspace, asked)
    memories += own
    pack = compile_pack(asked, memories, today=workspace.today, budget=settings.budget, remarks=remarks)
    nothing_read = not workspace.catalog.entries and bool(pack.problems)
    return _with_fallback(workspace, pack) if nothing_read else pack


def _own_memory(workspace: Workspace, asked: ContextRequest) -> tuple[list[Memory], tuple[str, ...]]:
    """Return the caller's own memory where there is one; history has none, and a fault of it is only remarked."""
    if not workspace.snapshot.is_working_tree:
        return [], ()
    try:
        own = find_own_memory(workspace)
        if own is None:
            return [], ()
        settings, faults = forgiving_settings(own)
        scope = resolve_scope(own.catalog, settings, Filters(wings=(WING,)))
    except (MdmemError, OSError) as error:
        return [], (f"your own memory cannot be read: {error}",)
    ask = text_query(own, Question(words=asked.query))
    return [Memory(catalog=own.catalog, scope=scope, ask=ask, is_private=True, faults=faults)], ()


def _with_fallback(workspace: Workspace, pack: ContextPack) -> ContextPack:
    location = workspace.location
    source, passages = answer_elsewhere(location.base, location.repository, pack.query)
    why = "no entry of the memory can be read"
    return replace(pack, source=source, degraded=True, why_degraded=why, fallback=passages)


def context_without_root(cwd: Path, asked: ContextRequest, *, why: str) -> ContextPack:
    """Return the answer of docs, README or workspace where there is no memory to ask; there is no log to keep it in."""
    try:
        repository = find_repository(cwd)
    except GitError:
        repository = None
    base = repository.top if repository is not None else cwd
    source, passages = answer_elsewhere(base, repository, asked.query)
    return ContextPack(
        goal=asked.goal,
        intent=asked.intent,
        query=asked.query,
        domain=asked.domain,
        project=asked.project,
        layer=asked.layer,
        sections=(),
        scope=Scope(wing=None, wings=(), state=ScopeState.UNRESOLVED),
        degraded=True,
        why_degraded=why,
        source=source,
        fallback=passages,
    )
