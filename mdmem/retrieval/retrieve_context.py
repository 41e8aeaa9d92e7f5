"""The contract's bundle over a workspace: attempted within a time, with every failure as a status."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from time import monotonic

from mdmem.catalog import Catalog
from mdmem.errors import EnvironmentFaultError, GoneError
from mdmem.finding import Finding
from mdmem.retrieval.bundle import BundleRequest, BundleScope, ContextBundle, RetrievalStatus, bundle_item, read_asked
from mdmem.retrieval.bundle_merge import MergedBundle, merge, narrowed, overriders
from mdmem.retrieval.question import Question, Retrieval
from mdmem.retrieval.retrieve import forgiving_settings, passages_elsewhere, problems_in, retrieved, with_code_paths
from mdmem.workspace.deadline import Clock, OverdueError, within
from mdmem.workspace.freshness import is_due
from mdmem.workspace.proposals import view_of
from mdmem.workspace.scope import Filters, Scope, ScopeAnswer, ScopeState, resolve_scope, scope_state
from mdmem.workspace.workspace import Workspace

_ATTEMPTS = 2


def retrieve_context(
    workspace: Workspace,
    *,
    project_id: str | None,
    scope: str = "project",
    focus: str | None = None,
    categories: Sequence[str] | None = None,
    topic: str | None = None,
    paths: Sequence[str] = (),
    at: str | None = None,
    clock: Clock = monotonic,
) -> ContextBundle:
    """Return the bundle of a project, `at` a revision or a date; what goes wrong is told by its status.

    The settings limit an attempt; one that takes longer, or whose files go away meanwhile, is made once more.
    Raises UsageError for a scope or category that is not known, and for a revision or date that is none.
    """
    workspace = workspace.as_of(at)
    asked = read_asked(project_id=project_id, scope=scope, focus=focus, categories=categories, topic=topic)
    current, why = workspace, ""
    for _ in range(_ATTEMPTS):
        try:
            return _Bundling(current, asked, paths, clock).bundle()
        except OverdueError:
            why = ""
        except GoneError as error:
            why = str(error)
        except (EnvironmentFaultError, OSError) as error:
            return _failed(workspace, asked, str(error))
        current = workspace.reread()
    return _failed(workspace, asked, why) if why else _timed_out(asked)


class _Bundling:
    """One attempt at one bundle."""

    def __init__(self, workspace: Workspace, asked: BundleRequest, paths: Sequence[str], clock: Clock) -> None:
        settings, _ = forgiving_settings(workspace)
        self.workspace = within(workspace, settings.timeout_seconds, clock=clock)
        self.asked, self.paths = asked, paths

    def bundle(self) -> ContextBundle:
        catalog = view_of(self.workspace).effective.catalog
        state = scope_state(catalog, self.asked.project_id, self.asked.focus)
        if state.wing is None:
            return _without_wing(catalog, self.asked, state)
        settings, faults = forgiving_settings(self.workspace)
        is_uncertain = state.state is ScopeState.UNCERTAIN
        focuses = (self.asked.focus,) if self.asked.focus is not None and not is_uncertain else ()
        # By its id, since a wing's name may be the id of another; one that cannot be listed has only its name.
        named = ((self.asked.project_id or "") if state.wing in catalog.wings else state.wing,)
        filters = Filters(wings=named, focuses=focuses, types=self.asked.types)
        scope = narrowed(catalog, resolve_scope(catalog, settings, filters), self.asked)
        question = Question(words=self.asked.topic, filters=filters)
        # Where a server was started says nothing about the paths that its callers mean.
        at_top = replace(self.workspace, cwd=self.workspace.location.base)
        question = with_code_paths(at_top, question, self.paths)
        found = retrieved(view_of(self.workspace), scope, question)
        found = replace(found, problems=(*faults, *found.problems))
        merged = merge(catalog, found, self.asked, wing=state.wing, is_uncertain=is_uncertain)
        return self._told(found, merged, state)

    def _told(self, found: Retrieval, merged: MergedBundle, state: ScopeAnswer) -> ContextBundle:
        catalog, wing = view_of(self.workspace).effective.catalog, state.wing or ""
        files = view_of(self.workspace).checkout.catalog
        by = overriders(catalog, wing)
        bundle = ContextBundle(
            status=_status(found, merged, catalog),
            scope_state=state.state,
            problems=found.problems,
            items=tuple(bundle_item(catalog, item, by.get(item.entry.address, ())) for item in merged.items),
            proposed=tuple(bundle_item(files, item, ()) for item in merged.proposed),
            conflicts=merged.conflicts,
            suspected=merged.suspected,
            invariants_left_out=merged.invariants_left_out,
            omitted=merged.omitted,
            omitted_counts=merged.omitted_counts,
            hygiene_due=is_due(self.workspace, self.asked.project_id or wing),
            wing=wing,
            shared_wings=found.scope.shared_wings,
            focus=found.scope.focus,
            covered=found.covered,
            unmatched_terms=found.unmatched_terms,
            source=found.source,
            degraded=found.degraded,
            why_degraded=found.why_degraded,
        )
        bundle = replace(bundle, message=_message(bundle, self.asked, state))
        if bundle.status is RetrievalStatus.FAILED:
            return _with_fallback(self.workspace, bundle, self.asked)
        return bundle


def _status(found: Retrieval, merged: MergedBundle, catalog: Catalog) -> RetrievalStatus:
    if merged.conflicts:
        return RetrievalStatus.CONFLICTED
    if merged.items or merged.proposed:
        return RetrievalStatus.SUCCEEDED
    hidden = any(problem.place.path.split("/")[0] in found.scope.wings for problem in found.problems)
    is_dark = hidden and not any(entry.wing in found.scope.wings for entry in catalog.entries.values())
    return RetrievalStatus.FAILED if is_dark else RetrievalStatus.EMPTY


def _message(bundle: ContextBundle, asked: BundleRequest, state: ScopeAnswer) -> str | None:
    """Return what an agent is to know that no other key says, in one line."""
    parts = [state.message] if state.message else []
    if state.message and asked.scope is not BundleScope.GLOBAL:
        parts.append("until then the project alone is read, with the invariants of the shared wings that it names")
    if asked.scope is BundleScope.FOCUS and asked.focus is None:
        parts.append("no `focus` is given, so the project is read")
    if asked.topic and not any(letter.isalnum() for letter in asked.topic):
        parts.append("`topic` holds no word to look for")
    if bundle.status is RetrievalStatus.FAILED:
        parts.append("no entry of this scope can be read; go on without memory")
    elif bundle.problems and bundle.status is RetrievalStatus.EMPTY:
        parts.append("nothing that can be read matches, and what cannot be read may bind")
    return "; ".join(parts) or None


def _without_wing(catalog: Catalog, asked: BundleRequest, state: ScopeAnswer) -> ContextBundle:
    """Return the answer where no project is named, or one that is not there; what cannot be read may be its wing."""
    problems: tuple[Finding, ...] = ()
    if asked.project_id is not None:
        problems = problems_in(catalog, Scope(wing=None, wings=(asked.project_id,), state=state.state))
    return ContextBundle(
        status=RetrievalStatus.EMPTY,
        scope_state=state.state,
        message=state.message,
        problems=problems,
        focus=asked.focus,
    )


def _timed_out(asked: BundleRequest) -> ContextBundle:
    return ContextBundle(
        status=RetrievalStatus.TIMED_OUT,
        scope_state=_unknown(asked),
        message="the memory was not read in time, at the second attempt either; go on without it, or ask again later",
        focus=asked.focus,
        degraded=True,
        why_degraded="the time for an answer was over",
    )


def _failed(workspace: Workspace, asked: BundleRequest, why: str) -> ContextBundle:
    bundle = ContextBundle(
        status=RetrievalStatus.FAILED,
        scope_state=_unknown(asked),
        message="the memory cannot be read; go on without it",
        focus=asked.focus,
        why_degraded=why,
    )
    return _with_fallback(workspace, bundle, asked)


def _unknown(asked: BundleRequest) -> ScopeState:
    return ScopeState.UNCERTAIN if asked.project_id is not None else ScopeState.UNRESOLVED


def _with_fallback(workspace: Workspace, bundle: ContextBundle, asked: BundleRequest) -> ContextBundle:
    source, passages = passages_elsewhere(workspace, asked.topic)
    why = bundle.why_degraded or "no entry of the scope can be read"
    return replace(bundle, fallback=passages, source=source, degraded=True, why_degraded=why)
