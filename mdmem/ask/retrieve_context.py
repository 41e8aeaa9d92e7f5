"""The contract's bundle over a workspace: attempted within a time, with every failure as a status."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic

from msgspec.structs import replace

from mdmem.ask.bundle import BundleRequest, BundleScope, ContextBundle, RetrievalStatus, bundle_item, read_request
from mdmem.ask.bundle_merge import MergedBundle, merge, narrowed, overriders
from mdmem.ask.problems import problems_in
from mdmem.ask.question import AnswerBasis, Question
from mdmem.ask.ranks import Retrieval
from mdmem.ask.retrieve import (
    Reading,
    read_steadily,
    with_code_paths,
    with_fallback,
    with_outside,
)
from mdmem.errors import EnvironmentFaultError, GoneError
from mdmem.model.entry import EntryType
from mdmem.store.catalog import Catalog
from mdmem.store.workspace.deadline import Clock, OverdueError, within
from mdmem.store.workspace.remarks import is_due
from mdmem.store.workspace.scope import Filters, Scope, ScopeAnswer, ScopeState, resolve_scope
from mdmem.store.workspace.visibility import scope_seen
from mdmem.store.workspace.workspace import Workspace


def retrieve_context(
    workspace: Workspace,
    *,
    project_id: str | None,
    scope: str = "project",
    focus: str | None = None,
    categories: Sequence[str] | None = None,
    topic: str | None = None,
    agent: str | None = None,
    paths: Sequence[str] = (),
    at: str | None = None,
    clock: Clock = monotonic,
) -> ContextBundle:
    """Return the bundle of a project for an agent, `at` a revision or a date; what goes wrong is told by its status.

    The settings limit an attempt; one that takes longer, or whose files go away meanwhile, is made once more.
    Raises UsageError for a scope or category that is not known, and for a revision or date that is none.
    """
    workspace = workspace.as_of(at)
    request = read_request(
        project_id=project_id, scope=scope, focus=focus, categories=categories, topic=topic, agent=agent
    )

    def attempt(reading: Reading) -> ContextBundle:
        timed = within(reading.workspace, reading.settings.timeout_seconds, clock=clock)
        return _bundle(replace(reading, workspace=timed), request, paths)

    try:
        return read_steadily(workspace, attempt, unsettled=(GoneError, OverdueError))
    except OverdueError:
        return _timed_out(workspace, request)
    except (EnvironmentFaultError, OSError) as error:
        return _failed(workspace, request, str(error))


def _bundle(reading: Reading, request: BundleRequest, paths: Sequence[str]) -> ContextBundle:
    catalog, workspace = reading.catalog, reading.workspace
    state = scope_seen(reading.view.effective, request.project_id, request.focus)
    if state.wing is None:
        return _without_wing(catalog, request, state)
    is_uncertain = state.state is ScopeState.UNCERTAIN
    focuses = (request.focus,) if request.focus is not None and not is_uncertain else ()
    # By its id, since a wing's name may be the id of another; one that cannot be listed has only its name.
    named = ((request.project_id or "") if state.wing in catalog.wings else state.wing,)
    filters = Filters(wings=named, focuses=focuses, types=request.types)
    resolved = resolve_scope(catalog, reading.settings, filters, tracked=workspace.tracked_files)
    scope = narrowed(catalog, resolved, request)
    # Where a server was started says nothing about the paths that its callers mean.
    at_top = replace(workspace, cwd=workspace.location.base)
    question = with_code_paths(at_top, Question(words=request.topic, filters=filters), paths)
    found = reading.retrieve(scope, question)
    merged = merge(catalog, found, request, wing=state.wing, is_uncertain=is_uncertain)
    # What the project overrides in a narrower place stands among the shared knowledge itself.
    by = overriders(catalog, state.wing) if request.scope is BundleScope.GLOBAL else {}
    files = reading.view.checkout.catalog
    bundle = ContextBundle(
        status=_status(found, merged, catalog),
        scope_state=state.state,
        items=tuple(bundle_item(catalog, item, by.get(item.entry.address, ())) for item in merged.items),
        proposed=tuple(bundle_item(files, item) for item in merged.proposed),
        suspected=merged.suspected,
        invariants_left_out=merged.invariants_left_out,
        hygiene_due=is_due(workspace, request.project_id or state.wing),
        wing=state.wing,
        shared_wings=scope.shared_wings,
        focus=scope.focus,
        basis=merged.basis,
    )
    bundle = replace(bundle, message=_message(bundle, request, state))
    if bundle.status is not RetrievalStatus.FAILED:
        return replace(bundle, basis=with_outside(merged.basis, workspace, request.topic))
    why = merged.basis.why_degraded or "no entry of the scope can be read"
    return replace(bundle, basis=with_fallback(merged.basis, workspace, request.topic, why=why))


def _status(found: Retrieval, merged: MergedBundle, catalog: Catalog) -> RetrievalStatus:
    if merged.basis.conflicts:
        return RetrievalStatus.CONFLICTED
    if merged.items or merged.proposed:
        return RetrievalStatus.SUCCEEDED
    hidden = any(problem.place.path.split("/")[0] in found.scope.wings for problem in found.basis.problems)
    is_dark = hidden and not any(entry.wing in found.scope.wings for entry in catalog.entries.values())
    return RetrievalStatus.FAILED if is_dark else RetrievalStatus.EMPTY


def _message(bundle: ContextBundle, request: BundleRequest, state: ScopeAnswer) -> str | None:
    """Return what an agent is to know that no other key says, in one line."""
    parts = [state.message] if state.message else []
    if state.message and request.scope is not BundleScope.GLOBAL:
        parts.append("until then the project alone is read, with the invariants of its shared wings")
    if request.scope is BundleScope.FOCUS and request.focus is None:
        parts.append("no `focus` is given, so the project is read")
    if request.topic and not any(letter.isalnum() for letter in request.topic):
        parts.append("`topic` holds no word to look for")
    parts += (f"{one.count} rules of the wing `{one.wing}` apply to these paths" for one in bundle.basis.elsewhere)
    if bundle.proposed and all(item.type is EntryType.INVARIANT for item in bundle.items):
        only = "beside invariants, only" if bundle.items else "only"
        parts.append(f"{only} drafts were found: they stand in `proposed` and bind nobody until a person approves them")
    if bundle.status is RetrievalStatus.FAILED:
        parts.append("no entry of this scope can be read; go on without memory")
    elif bundle.basis.problems and bundle.status is RetrievalStatus.EMPTY:
        parts.append("nothing that can be read matches, and what cannot be read may bind")
    return "; ".join(parts) or None


def _without_wing(catalog: Catalog, request: BundleRequest, state: ScopeAnswer) -> ContextBundle:
    """Return the answer where no project is named, or one that is not there; what cannot be read may be its wing."""
    basis = AnswerBasis()
    if request.project_id is not None:
        scope = Scope(wing=None, wings=(request.project_id,), state=state.state)
        basis = AnswerBasis(problems=problems_in(catalog, scope))
    return ContextBundle(
        status=RetrievalStatus.EMPTY, scope_state=state.state, message=state.message, focus=request.focus, basis=basis
    )


def _timed_out(workspace: Workspace, request: BundleRequest) -> ContextBundle:
    late = AnswerBasis(degraded=True, why_degraded="the time for an answer was over")
    return ContextBundle(
        status=RetrievalStatus.TIMED_OUT,
        scope_state=_unknown(request),
        message="the memory was not read in time, at the second attempt either; go on without it, or ask again later",
        focus=request.focus,
        # To tell the wings from other folders of a repository's top, the memory would have to be read once more.
        basis=with_outside(late, workspace, request.topic) if workspace.location.under else late,
    )


def _failed(workspace: Workspace, request: BundleRequest, why: str) -> ContextBundle:
    return ContextBundle(
        status=RetrievalStatus.FAILED,
        scope_state=_unknown(request),
        message="the memory cannot be read; go on without it",
        focus=request.focus,
        basis=with_fallback(AnswerBasis(), workspace, request.topic, why=why),
    )


def _unknown(request: BundleRequest) -> ScopeState:
    return ScopeState.UNCERTAIN if request.project_id is not None else ScopeState.UNRESOLVED
