"""Which wings a project means to a caller, and what is to be said where it means none."""

from __future__ import annotations

from mdmem.scope import AmbiguousWingError, Filters, Scope, ScopeState, resolve_scope, scope_state
from mdmem.settings import Settings
from mdmem.workspace.opened import Opened
from mdmem.workspace.seen import require_project


def project_scope(workspace: Opened, settings: Settings, project: str | None, *, widely: bool = False) -> Scope:
    """Return the scope of a project.

    A project that is not there yet has the shared wings alone, none of which binds it. Without a project it is the
    active wing, `widely` with all others beside; where that cannot be told, all wings, and none binds.
    Raises AccessDeniedError for a project that the caller may not read, or that is not there as far as they can tell.
    """
    if project is None:
        return _without_project(workspace, settings, widely=widely)
    require_project(workspace, project)
    answer = scope_state(workspace.catalog, project)
    if answer.wing is not None:
        return resolve_scope(workspace.catalog, settings, Filters(wings=(answer.wing,)))
    shared = tuple(name for name, wing in workspace.catalog.wings.items() if wing.is_shared)
    return Scope(wing=None, wings=shared, shared_wings=shared, state=ScopeState.UNCERTAIN)


def _without_project(workspace: Opened, settings: Settings, *, widely: bool) -> Scope:
    try:
        return resolve_scope(workspace.catalog, settings, Filters(all_wings=widely))
    except AmbiguousWingError:
        return Scope(wing=None, wings=tuple(workspace.catalog.wings), state=ScopeState.UNRESOLVED)
