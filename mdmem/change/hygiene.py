"""Hygiene over a workspace: how far it reaches, what it is told besides the entries, and that it ran."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from msgspec import Struct

from mdmem.change.examine import HygieneReach, Surroundings, examine
from mdmem.change.hygiene_report import HygieneFindings, hygiene_fields
from mdmem.checks.case import Case
from mdmem.checks.engine import chosen_codes, run_checks
from mdmem.errors import EnvironmentFaultError, GitError, UsageError
from mdmem.markdown.layout import UnpatchableError
from mdmem.markdown.text import content_of
from mdmem.model.finding import Finding
from mdmem.store.catalog import Catalog
from mdmem.store.git import Repository
from mdmem.store.git.history import last_changes
from mdmem.store.state.local_records import record_hygiene
from mdmem.store.state.pending_writes import Blocked, PendingWrite, PendingWrites
from mdmem.store.workspace.scope import find_wing, get_wing
from mdmem.store.workspace.visibility import is_visible, visible_findings
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.change_set import ChangeSet, Verb, WriteAction, patched
from mdmem.write.save import blocked_saves, concerns
from mdmem.write.write import WriteOptions, WriteResult, write_once

# What the checks find anyway, and what a round of hygiene is for.
_CHECKED = ("link-to-superseded", "expired", "review-overdue")
_NOT_KNOWN = "whether the code changed since an entry was verified is not known"
SCOPES = ("global", "project", "focus")


def record_in_state(workspace: Workspace, wings: Collection[str] | None, remarks: list[str]) -> None:
    """Keep that hygiene ran today, over some wings or over everything (None); remark it where that fails."""
    try:
        written = record_hygiene(workspace.state_folder, wings, workspace.today)
        reason = "" if written else "it cannot be written"
    except EnvironmentFaultError as error:
        reason = str(error)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
    if reason:
        remarks.append(f"that hygiene ran is not kept in {workspace.state_folder}: {reason}")


def record_in_manifests(
    workspace: Workspace, wings: Iterable[str], remarks: list[str], *, commit: bool | None = None
) -> WriteResult:
    """Write today's date into the manifests of wings, and nothing else, and remark those that cannot hold it.

    `commit` as in WriteOptions. Raises what `write_once` raises.
    """
    catalog = workspace.whole_catalog
    changes = []
    for name in sorted(wings):
        path = f"{name}/README.md"
        if not catalog.wings[name].has_manifest:
            remarks.append(_why_not(catalog, name))
            continue
        try:
            changes.append(patched(catalog, path, {"last_hygiene_at": workspace.today.isoformat()}))
        except UnpatchableError as error:
            remarks.append(str(error))
    named = ", ".join(change.path.removesuffix("/README.md") for change in changes)
    change_set = ChangeSet(tuple(changes), actions=(WriteAction(Verb.TEND, named),))
    return write_once(workspace, lambda _: change_set, WriteOptions(commit=commit))


def _why_not(catalog: Catalog, name: str) -> str:
    path = f"{name}/README.md"
    if any(file.path == path for file in (*catalog.files, *catalog.others)):
        return f"{path} states no wing to record in; `mdmem check` says what is wrong, or write `kind: project` in it"
    return f"`{name}` has no manifest to record in; write {path} with `kind: project`"


class HygieneRequest(Struct, frozen=True, kw_only=True):
    """What one run of hygiene was asked for.

    `wing` is a name or a `project_id`, None for everything; `scope` narrows to the shared wings that it reads (global),
    to the wing itself (project), or to its entries with a focus. `record` writes the day into the manifests, `commit`
    says whether that is committed, None leaves it to the settings.
    """

    wing: str | None = None
    scope: str | None = None
    pending_only: bool = False
    record: bool = False
    commit: bool | None = None

    @property
    def is_full(self) -> bool:
        """Say whether the wings within reach are looked at in full, and not only what has a focus or waits."""
        return not self.pending_only and self.scope != "focus"


class HygieneReport(Struct, frozen=True, kw_only=True):
    """What needs maintenance, the manifests that were changed with the commit of it, and remarks about the run itself.

    `pending_only`: nothing but the writes that wait was looked at.
    """

    hygiene: HygieneFindings
    recorded: tuple[str, ...] = ()
    commit: str | None = None
    remarks: tuple[str, ...] = ()
    pending_only: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return what the contract of `run_hygiene` names, with more keys beside."""
        more = {"recorded": list(self.recorded), "commit": self.commit, "remarks": list(self.remarks)}
        return hygiene_fields(self.hygiene) | more


def run_hygiene(
    workspace: Workspace, project_id: str | None = None, scope: str | None = None, *, check_pending_only: bool = False
) -> dict[str, Any]:
    """Return hygiene as the tool of that name answers it, recorded as `run` does; raises UsageError for no scope.

    A project that has no wing yet needs no maintenance, but its writes may wait.
    """
    request = HygieneRequest(wing=project_id or None, scope=scope, pending_only=check_pending_only)
    if request.wing is None or find_wing(request.wing, workspace.catalog.wings) is not None:
        return run(workspace, request).as_json()
    _refuse_unknown_scope(scope)
    remarks = [f"there is no wing for the project `{project_id}` yet"]
    hygiene = _only_pending(workspace, request, remarks)
    return HygieneReport(hygiene=hygiene, remarks=tuple(remarks), pending_only=check_pending_only).as_json()


def run(workspace: Workspace, request: HygieneRequest) -> HygieneReport:
    """Return what needs maintenance; a full run over files on disk is recorded in the state.

    A run is full for every wing within its reach, so one that is narrowed to a project is full for that project, and
    makes no other's next run later. One that looks only at entries with a focus, or at the writes that wait, is full
    for none. Raises UsageError for a wing or scope that does not exist, and what `write_once` raises where `record` is
    set.
    """
    is_kept = request.is_full and workspace.snapshot.is_working_tree
    if request.record and not is_kept:
        raise UsageError("only a full run over files on disk is recorded; leave out what narrows it, or --record")
    _refuse_unknown_scope(request.scope)
    remarks: list[str] = []
    if request.pending_only:
        if request.wing is not None:
            get_wing(request.wing, workspace.catalog.wings)
        hygiene = _only_pending(workspace, request, remarks)
        return HygieneReport(hygiene=hygiene, remarks=tuple(remarks), pending_only=True)
    reach = _reach(workspace.whole_catalog, request)
    hygiene = _examined(workspace, request, reach, remarks)
    if is_kept:
        is_everything = request.wing is None and request.scope is None
        is_everything = is_everything and not workspace.access.is_narrow
        record_in_state(workspace, None if is_everything else reach.wings, remarks)
    if not request.record:
        return HygieneReport(hygiene=hygiene, remarks=tuple(remarks))
    written = record_in_manifests(workspace, reach.wings, remarks, commit=request.commit)
    recorded = tuple(change.path for change in written.changes)
    return HygieneReport(hygiene=hygiene, recorded=recorded, commit=written.commit, remarks=tuple(remarks))


def _refuse_unknown_scope(scope: str | None) -> None:
    if scope not in (None, *SCOPES):
        raise UsageError(f"there is no scope `{scope}`; write one of {', '.join(SCOPES)}")


def _examined(
    workspace: Workspace, request: HygieneRequest, reach: HygieneReach, remarks: list[str]
) -> HygieneFindings:
    catalog = workspace.whole_catalog
    unresolved, blocked = _unresolved(workspace, request, remarks)
    around = Surroundings(
        text={entry.address: content_of(entry, catalog.body(entry.address)) for entry in catalog.entries.values()},
        changes=_Changes(workspace, remarks),
        rooms=tuple(_rooms_on_disk(workspace, catalog)),
        unresolved=unresolved,
        blocked=blocked,
        found=_checked(workspace, catalog),
    )
    unread = {*catalog.broken, *(one.place.path for one in catalog.closed)}
    if left_out := [path for path in unread if request.wing is None or path.split("/")[0] in reach.wings]:
        how = "mdmem check --no-baseline" if workspace.settings.baseline else "mdmem check"
        files, them = ("file was", "it") if len(left_out) == 1 else ("files were", "them")
        remarks.append(f"{len(left_out)} unreadable {files} left out; `{how}` names {them}")
    return examine(catalog, around, today=workspace.today, reach=reach)


def _only_pending(workspace: Workspace, request: HygieneRequest, remarks: list[str]) -> HygieneFindings:
    """Look at the writes that wait alone: only where a project is meant are the wings read at all."""
    unresolved, blocked = _unresolved(workspace, request, remarks)
    return HygieneFindings(
        checked_at=workspace.today,
        project_id=request.wing,
        scope=request.scope,
        unresolved=unresolved,
        blocked=blocked,
    )


def _reach(catalog: Catalog, request: HygieneRequest) -> HygieneReach:
    wings = catalog.wings
    if request.wing is None:
        is_meant = {None: (True, False), "global": (True,)}.get(request.scope, (False,))
        meant = frozenset(name for name, wing in wings.items() if wing.is_shared in is_meant)
    elif request.scope == "global":
        read = wings[get_wing(request.wing, wings)].shared_wings
        meant = frozenset(one.name for one in wings.values() if one.is_shared and (read is None or one.name in read))
    else:
        meant = frozenset({get_wing(request.wing, wings)})
    # What lives in another repository is tended there.
    return HygieneReach(wings=meant - catalog.fetched_wings, project_id=request.wing, scope=request.scope)


def _checked(workspace: Workspace, catalog: Catalog) -> list[Finding]:
    codes = [code for code in chosen_codes(workspace.settings) if code in _CHECKED]
    return visible_findings(catalog, run_checks(Case(catalog, workspace.settings, workspace.today), codes))


class _Changes(Struct, frozen=True):
    """Asks git when files last changed, and says where it cannot tell."""

    workspace: Workspace
    remarks: list[str]

    def __call__(self, places: Sequence[str], since: date) -> Mapping[str, date]:
        repository: Repository | None = self.workspace.location.repository
        if repository is None:
            said = self.workspace.location.git_fault or "not in a git repository"
            self.remarks.append(f"{said}: {_NOT_KNOWN}")
            return {}
        until = self.workspace.commits[0] if self.workspace.commits else None
        try:
            activity = last_changes(repository, places, since=since, until=until)
        except GitError as error:
            self.remarks.append(f"{error}: {_NOT_KNOWN}")
            return {}
        if activity.is_cut:
            self.remarks.append(
                "the clone is shallow: older changes of the code are not known; `git fetch --unshallow`"
            )
        return activity.days


def _rooms_on_disk(workspace: Workspace, catalog: Catalog) -> Iterator[str]:
    """Yield every folder in a wing: git and the tree list files alone, so that an empty one shows only here."""
    if not workspace.snapshot.is_working_tree:
        return
    for wing in catalog.wings:
        try:
            with os.scandir(workspace.location.root / wing) as items:
                names = sorted(item.name for item in items if item.is_dir(follow_symlinks=False))
        except OSError:
            continue
        folders = ((name, Path(workspace.location.root, wing, name, ".git")) for name in names if name[0] != ".")
        yield from (f"{wing}/{name}" for name, git in folders if not os.path.lexists(git))


def _unresolved(
    workspace: Workspace, request: HygieneRequest, remarks: list[str]
) -> tuple[tuple[PendingWrite, ...], tuple[Blocked, ...]]:
    """Return the writes that failed on the way, and those that a similar entry stopped."""
    try:
        ledger = PendingWrites(workspace.state_folder)
        pending, torn = ledger.pending(), ledger.unreadable()
        blocked = blocked_saves(workspace, ledger, project=request.wing, scope=request.scope)
    except EnvironmentFaultError as error:
        remarks.append(f"writes that wait cannot be told: {error}")
        return (), ()
    remarks += [f"{path} cannot be read; it may have been a write" for path in torn]
    pending = tuple(one for one in pending if is_visible(workspace, one))
    wings = workspace.catalog.wings if pending and request.wing is not None else {}
    meant = tuple(one for one in pending if concerns(one, wings, project=request.wing, scope=request.scope))
    return meant, blocked
