"""Hygiene over a workspace: what it is told besides the entries, when it ran, and the manifests that say so."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from mdmem.authoring.plan import Change, Plan, carry_out
from mdmem.budget import content_of
from mdmem.catalog import Catalog
from mdmem.checks.case import Case
from mdmem.checks.engine import chosen_codes, run
from mdmem.document.patch import apply_edits, set_fields
from mdmem.errors import EnvironmentFaultError, UsageError
from mdmem.finding import Finding
from mdmem.gitrepo import Repository
from mdmem.gitrepo.activity import last_changes
from mdmem.hygiene.examine import Reach, Surroundings, examine
from mdmem.hygiene.model import Hygiene
from mdmem.scope import find_wing, get_wing
from mdmem.state.ledger import Ledger
from mdmem.state.ledger_model import PendingWrite
from mdmem.state.times import record_hygiene
from mdmem.workspace.opened import Opened

# What the checks tell anyway, and what a round of hygiene is for.
TOLD = ("link-to-superseded", "expired", "review-overdue")
SCOPES = ("global", "project", "focus")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tending:
    """What one run of hygiene was asked for.

    `wing` is a name or a `project_id`, None for everything; `scope` narrows to the shared wings that it reads (global),
    to the wing itself (project), or to its entries with a focus. `record` writes the day into the manifests.
    """

    wing: str | None = None
    scope: str | None = None
    pending_only: bool = False
    record: bool = False


@dataclass(frozen=True, slots=True)
class Tended:
    """What needs maintenance, the manifests that were changed, and remarks about the run itself.

    `pending_only`: nothing but the writes that wait was looked at.
    """

    hygiene: Hygiene
    recorded: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    pending_only: bool = False


def tend(workspace: Opened, asked: Tending) -> Tended:
    """Return what needs maintenance; a full run over files on disk is recorded in the state.

    Raises UsageError for a wing or scope that does not exist, and what `carry_out` raises where `record` is asked for.
    """
    if asked.record and (asked.pending_only or asked.scope or not workspace.moment.is_working_tree):
        raise UsageError("only a full run over files on disk is recorded; leave out what narrows it, or --record")
    if asked.pending_only:
        return _only_pending(workspace, asked)
    catalog = workspace.whole_catalog
    reach = _reach(catalog, asked)
    remarks: list[str] = []
    around = Surroundings(
        text={entry.address: content_of(entry, catalog.body(entry.address)) for entry in catalog.entries.values()},
        changes=_Changes(workspace, remarks),
        rooms=tuple(_rooms_on_disk(workspace, catalog)),
        unresolved=_unresolved(workspace, catalog, reach, remarks),
        found=_told(workspace, catalog),
    )
    hygiene = examine(catalog, around, today=workspace.today, reach=reach)
    if catalog.broken:
        remarks.append(_left_out(len(catalog.broken)))
    recorded: tuple[str, ...] = ()
    if asked.record:
        recorded = _record_in_manifests(workspace, catalog, reach, remarks)
    if asked.scope is None and workspace.moment.is_working_tree:
        _record_in_state(workspace, next(iter(reach.wings)) if asked.wing is not None else None, remarks)
    return Tended(hygiene, recorded, tuple(remarks))


def _left_out(number: int) -> str:
    files, them = ("file was", "it") if number == 1 else ("files were", "them")
    return f"{number} unreadable {files} left out; `mdmem check` names {them}"


def _only_pending(workspace: Opened, asked: Tending) -> Tended:
    """Look at the writes that wait alone: only where one wing is meant are entries read at all."""
    catalog = workspace.catalog if asked.wing is not None or asked.scope is not None else None
    reach = _reach(catalog, asked) if catalog is not None else Reach(wings=frozenset())
    remarks: list[str] = []
    unresolved = _unresolved(workspace, catalog, reach, remarks)
    hygiene = Hygiene(checked_at=workspace.today, project_id=reach.project_id, scope=reach.scope, unresolved=unresolved)
    return Tended(hygiene, remarks=tuple(remarks), pending_only=True)


def _reach(catalog: Catalog, asked: Tending) -> Reach:
    if asked.scope not in (None, *SCOPES):
        raise UsageError(f"there is no scope `{asked.scope}`; write one of {', '.join(SCOPES)}")
    wings = catalog.wings
    if asked.wing is None:
        meant = [
            name for name, wing in wings.items() if asked.scope is None or wing.is_shared == (asked.scope == "global")
        ]
        return Reach(wings=frozenset(meant), scope=asked.scope)
    name = get_wing(asked.wing, wings)
    project_id = wings[name].project_id or name
    if asked.scope != "global":
        return Reach(wings=frozenset({name}), project_id=project_id, scope=asked.scope)
    shared = wings[name].shared_wings
    read = [one.name for one in wings.values() if one.is_shared and (shared is None or one.name in shared)]
    return Reach(wings=frozenset(read), project_id=project_id, scope=asked.scope)


def _told(workspace: Opened, catalog: Catalog) -> list[Finding]:
    codes = [code for code in chosen_codes(workspace.settings) if code in TOLD]
    return run(Case(catalog, workspace.settings, workspace.today), codes)


@dataclass(frozen=True, slots=True)
class _Changes:
    """Asks git when files last changed, and says where it cannot tell."""

    workspace: Opened
    remarks: list[str]

    def __call__(self, places: Sequence[str], since: date) -> Mapping[str, date]:
        repository: Repository | None = self.workspace.location.repository
        if repository is None:
            self.remarks.append("not in a git repository: whether the code changed is not known")
            return {}
        until = self.workspace.commits[0] if self.workspace.commits else None
        activity = last_changes(repository, places, since=since, until=until)
        if activity.is_cut:
            self.remarks.append(
                "the clone is shallow: older changes of the code are not known; `git fetch --unshallow`"
            )
        return activity.days


def _rooms_on_disk(workspace: Opened, catalog: Catalog) -> Iterator[str]:
    """Yield every folder in a wing: git and the tree list files alone, so that an empty one shows only here."""
    if not workspace.moment.is_working_tree:
        return
    for wing in catalog.wings:
        try:
            with os.scandir(workspace.location.root / wing) as items:
                names = sorted(item.name for item in items if item.is_dir(follow_symlinks=False))
        except OSError:
            continue
        folders = ((name, Path(workspace.location.root, wing, name, ".git")) for name in names if name[0] != ".")
        yield from (f"{wing}/{name}" for name, git in folders if not os.path.lexists(git))


def _unresolved(workspace: Opened, catalog: Catalog | None, reach: Reach, remarks: list[str]) -> tuple[str, ...]:
    try:
        pending = Ledger(workspace.state_folder).pending()
    except EnvironmentFaultError as error:
        remarks.append(f"writes that wait cannot be told: {error}")
        return ()
    narrowed = catalog is not None and (reach.project_id is not None or reach.scope is not None)
    return tuple(one.id for one in pending if catalog is None or not narrowed or _concerns(one, catalog, reach))


def _concerns(record: PendingWrite, catalog: Catalog, reach: Reach) -> bool:
    named = record.arguments.get("project_id")
    return isinstance(named, str) and find_wing(named, catalog.wings) in reach.wings


def _record_in_manifests(workspace: Opened, catalog: Catalog, reach: Reach, remarks: list[str]) -> tuple[str, ...]:
    changes = []
    for name in sorted(reach.wings):
        path = f"{name}/README.md"
        if not catalog.wings[name].has_manifest:
            remarks.append(f"`{name}` has no manifest to record in; write {path} with `kind: project`")
            continue
        document = catalog.document(path)
        edits = set_fields(document, {"last_hygiene_at": workspace.today.isoformat()})
        if edits:
            changes.append(Change(path, path, document.data, apply_edits(document.data, edits)))
    carry_out(workspace.location.root, Plan(tuple(changes)), state=workspace.state_folder)
    return tuple(change.path for change in changes)


def _record_in_state(workspace: Opened, wing: str | None, remarks: list[str]) -> None:
    try:
        written = record_hygiene(workspace.state_folder, wing, workspace.today)
        reason = "" if written else "it cannot be written"
    except EnvironmentFaultError as error:
        reason = str(error)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
    if reason:
        remarks.append(f"that hygiene ran is not kept in {workspace.state_folder}: {reason}")
