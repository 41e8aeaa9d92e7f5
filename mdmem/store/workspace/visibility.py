"""What of a root a caller may see: findings, commits, writes that wait, and which wings a project means."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from mdmem.errors import UsageError
from mdmem.markdown.parse import Document, without_code
from mdmem.model.access import AccessDeniedError
from mdmem.model.fields import LINK_FIELDS
from mdmem.model.finding import Finding
from mdmem.store.catalog import Catalog
from mdmem.store.catalog.links import references_in
from mdmem.store.git.history import Commit, paths_of_commits
from mdmem.store.settings import Settings
from mdmem.store.state.pending_writes import PendingWrite
from mdmem.store.workspace.scope import (
    AmbiguousWingError,
    Filters,
    Scope,
    ScopeAnswer,
    ScopeState,
    find_wing,
    resolve_scope,
    scope_state,
    wing_name_for,
)
from mdmem.store.workspace.workspace import Workspace

_ADDRESS = re.compile(r"[\w-]+(?:/[\w-]+){2}")


def visible_findings(catalog: Catalog, findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings that name nothing of a wing that is not seen, without the fixes that would."""
    if not catalog.access.is_narrow:
        return list(findings)
    others = _Others(catalog)
    seen = (one for one in findings if not others.are_named_in(one.message, one.help))
    return [replace(one, fix=None) if one.fix and others.are_named_in(*_texts_of_fix(one)) else one for one in seen]


def _texts_of_fix(finding: Finding) -> Iterator[str]:
    if finding.fix is not None:
        yield finding.fix.title
        yield from (edit.content.decode("utf-8", "replace") for edit in finding.fix.edits)


class _Others(Struct, frozen=True, dict=True):
    """How the files that are seen name what is not."""

    catalog: Catalog

    def are_named_in(self, *texts: str) -> bool:
        return any(name in text for text in texts for name in self._names)

    @cached_property
    def _names(self) -> frozenset[str]:
        written = [*self._in_front_matters(), *self._in_bodies()]
        addresses = {found for text in written for found in _ADDRESS.findall(text) if self.catalog.hides(found)}
        return frozenset(addresses).union(written, (f"`{address.split('/')[0]}`" for address in addresses))

    def _documents(self) -> Iterator[Document]:
        manifests = (f"{name}/README.md" for name, wing in self.catalog.wings.items() if wing.has_manifest)
        yield from (document for _, document in self.catalog.documents(tuple(self.catalog.entries)))
        yield from map(self.catalog.document, manifests)

    def _in_front_matters(self) -> Iterator[str]:
        for document in self._documents():
            fields: Mapping[str, Any] = document.fields or {}
            texts = (text for name in (*LINK_FIELDS, "relations") for text in _texts_in(fields.get(name)))
            yield from (text for text in texts if self.catalog.names_hidden(text, document.path))

    def _in_bodies(self) -> Iterator[str]:
        catalog = self.catalog
        documents = catalog.documents(tuple(catalog.entries))
        prose = {address: without_code(document.body) for address, document in documents}
        for found in references_in(prose, catalog.addresses):
            if catalog.hides(found.target or "", found.address) or catalog.hides_path(found.path or "."):
                yield found.link.target


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        yield from (text for item in value for text in _texts_in(item))
    elif value is not None:
        yield str(value)


def visible_commits(workspace: Workspace, commits: Sequence[Commit]) -> list[Commit]:
    """Return the commits, without the subject of those that did something to wings that are not seen, or name one."""
    access, location = workspace.access, workspace.location
    if not access.is_narrow or not commits or location.repository is None:
        return list(commits)
    prefix = f"{location.under}/" if location.under else ""
    touched = paths_of_commits(location.repository, [commit.digest for commit in commits], location.under)
    others = {
        digest for digest, paths in touched.items() if not all(access.sees(path.removeprefix(prefix)) for path in paths)
    }
    return [
        replace(one, subject="") if one.digest in others or workspace.catalog.names_hidden(one.subject, ".") else one
        for one in commits
    ]


def require_project(workspace: Workspace, project_id: str) -> None:
    """Raise AccessDeniedError for a project that is not the caller's to read, be it there or not."""
    if workspace.access.is_narrow and find_wing(project_id, workspace.catalog.wings) is None:
        raise AccessDeniedError(project_id)


def require_writable(workspace: Workspace, project_id: str | None, *, is_global: bool = False) -> None:
    """Raise AccessDeniedError for a project, or for the shared wing, that is not the caller's to write.

    It is asked before anything is looked up, so that no other answer tells what is there.
    """
    if project_id is not None and not workspace.access.writes(wing_of(workspace.catalog, project_id)):
        raise AccessDeniedError(project_id)
    if is_global:
        workspace.access.require_write(workspace.settings.default_shared_wing, named="global")


def may_write_to(workspace: Workspace, project_id: str | None) -> bool:
    """Say whether the caller may write to a project; to a shared wing nobody may where the settings give no tokens."""
    if project_id is None:
        return False
    name = wing_of(workspace.catalog, project_id)
    wing = workspace.catalog.wings.get(name)
    is_open = wing is None or not wing.is_shared or workspace.settings.global_writes
    return is_open and workspace.access.writes(name)


def wing_of(catalog: Catalog, project_id: str) -> str:
    """Return the wing of a project, or the name that one would get; the id itself where it gives none."""
    found = find_wing(project_id, catalog.wings)
    if found is not None:
        return found
    try:
        return wing_name_for(project_id, catalog)
    except UsageError:
        return project_id


def scope_seen(workspace: Workspace, project_id: str | None, focus: str | None = None) -> ScopeAnswer:
    """Return how certain a scope is; a caller to whom a project is denied does not learn that it could be made."""
    answer = scope_state(workspace.catalog, project_id, focus)
    if project_id is None or answer.wing is not None:
        return answer
    is_seen = workspace.access.reads(wing_of(workspace.catalog, project_id))
    return answer if is_seen else replace(answer, message=str(AccessDeniedError(project_id)))


def is_visible(workspace: Workspace, record: PendingWrite) -> bool:
    """Say whether a write that waits is for a wing that is seen."""
    named = record.arguments.get("project_id")
    if not workspace.access.is_narrow:
        return True
    return isinstance(named, str) and workspace.access.reads(wing_of(workspace.catalog, named))


def may_retry(workspace: Workspace, record: PendingWrite) -> bool:
    """Say whether a write that waits may be tried again for this caller: one of others waits for them."""
    access, named = workspace.access, record.arguments.get("project_id")
    if not access.is_narrow and access.writable is None:
        return True
    records = (value for value in record.arguments.values() if isinstance(value, Mapping))
    is_global = any("global" in (one.get("scope"), one.get("save_scope")) for one in records)
    try:
        require_writable(workspace, named if isinstance(named, str) else "", is_global=is_global)
    except AccessDeniedError:
        return False
    return True


def project_scope(workspace: Workspace, settings: Settings, project: str | None, *, widely: bool = False) -> Scope:
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
        named = Filters(wings=(answer.wing,))
        return resolve_scope(workspace.catalog, settings, named, tracked=workspace.tracked_files)
    shared = tuple(name for name, wing in workspace.catalog.wings.items() if wing.is_shared)
    return Scope(wing=None, wings=shared, shared_wings=shared, state=ScopeState.UNCERTAIN)


def _without_project(workspace: Workspace, settings: Settings, *, widely: bool) -> Scope:
    try:
        widened = Filters(all_wings=widely)
        return resolve_scope(workspace.catalog, settings, widened, tracked=workspace.tracked_files)
    except AmbiguousWingError:
        return Scope(wing=None, wings=tuple(workspace.catalog.wings), state=ScopeState.UNRESOLVED)
