"""Carries out what a verb means to write: proved on the files as they would be, written, and committed where wanted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from mdmem.authoring.intent import Intent
from mdmem.authoring.message import Deed, commit_message, subject_of
from mdmem.authoring.plan import Change, Plan, carry_out
from mdmem.authoring.proving import new_faults
from mdmem.catalog import load_cached
from mdmem.errors import GitError, LostRaceError, UsageError
from mdmem.gitrepo import Repository
from mdmem.gitrepo.committing import commit_paths
from mdmem.gitrepo.ongoing import refuse_while_busy
from mdmem.tree import OverlaidTree
from mdmem.workspace.fetched import refuse_remote
from mdmem.workspace.opened import Opened

if TYPE_CHECKING:
    from mdmem.catalog import Catalog

Root = TypeVar("Root", bound=Opened)


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteOptions:
    """How a write is carried out: for show, and with a commit or without; None leaves that to the settings."""

    is_dry: bool = False
    commit: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What was written, or would have been; `commit` is the commit that holds it, None where there is none."""

    changes: tuple[Change, ...]
    deeds: tuple[Deed, ...] = ()
    remarks: tuple[str, ...] = ()
    commit: str | None = None
    is_dry: bool = False


def carry(workspace: Root, plan: Callable[[Root], Intent], options: WriteOptions) -> Written:
    """Carry out what is planned on the files as they are, and return what was written.

    Where they changed by the time at which no other writer can change them any more, it is planned anew on what is
    there then. Raises UsageError where the result would break the memory, or a commit cannot be made now, and
    LostRaceError where somebody else wrote what makes it so; then nothing is written.
    Raises what `carry_out` raises, and EnvironmentFaultError where the files are written and git refuses the commit.
    """
    if not workspace.moment.is_working_tree:
        raise UsageError("only files on disk can be written; leave out --at")
    # What is compared later was read before what is planned on it.
    known = workspace.catalog.file_digests
    intent = _proved(workspace, plan(workspace))
    repository = _repository_to_commit_to(workspace, options)

    def newest() -> Plan:
        nonlocal intent
        fresh = replace(workspace)
        if not is_unchanged(workspace, fresh, known):
            try:
                intent = _proved(fresh, plan(fresh))
            except _BrokenError as error:
                raise LostRaceError(f"the memory changed while it was looked at; {error}") from error
        return intent.plan

    if not options.is_dry:
        carry_out(workspace.location.root, intent.plan, state=workspace.state_folder, newest=newest)
    commit = None
    if repository is not None and intent.plan.changes:
        commit = _commit(workspace, repository, intent)
    return Written(
        changes=intent.plan.changes, deeds=intent.deeds, remarks=intent.remarks, commit=commit, is_dry=options.is_dry
    )


class _BrokenError(UsageError):
    """The memory would be broken by a plan."""


def _proved(workspace: Opened, intent: Intent) -> Intent:
    """Return an intent without the changes that are none; raises where it may not be carried out."""
    for wing in sorted({path.split("/", 1)[0] for one in intent.plan.changes for path in (one.path, one.to)}):
        workspace.access.require_write(wing)
        refuse_remote(workspace, wing)
    plan = Plan(tuple(one for one in intent.plan.changes if (one.path, one.before) != (one.to, one.after)))
    _prove(workspace, plan)
    return replace(intent, plan=plan)


def is_unchanged(workspace: Opened, fresh: Opened, known: Mapping[str, str]) -> bool:
    """Say whether all that can be named is as it was when a plan was made: the files, and the contents of entries.

    `known` are the digests of what was read then.
    """
    files = fresh.tree.files()
    return files == workspace.tree.files() and known == fresh.tree.digests([one for one in files if one.path in known])


def _commit(workspace: Opened, repository: Repository, intent: Intent) -> str | None:
    message = commit_message(
        subject_of(intent.deeds),
        reason=intent.reason,
        entries=[one for deed in intent.deeds for one in (deed.address, deed.other) if one and "/" in one],
        supersedes=intent.supersedes,
        agent=intent.agent,
    )
    under = f"{workspace.location.under}/" if workspace.location.under else ""
    before = {f"{under}{change.path}": change.before for change in intent.plan.changes}
    before |= {f"{under}{change.to}": None for change in intent.plan.changes if change.to != change.path}
    return commit_paths(repository, sorted(before), message, before=before)


def _repository_to_commit_to(workspace: Opened, options: WriteOptions) -> Repository | None:
    wanted = workspace.settings.commit if options.commit is None else options.commit
    if not wanted or options.is_dry:
        return None
    location = workspace.location
    if location.repository is None:
        raise GitError(location.git_fault or f"{location.root} is in no git repository; leave out --commit")
    refuse_while_busy(location.repository)
    return location.repository


def _prove(workspace: Opened, plan: Plan) -> None:
    touched = {path.removesuffix(".md") for change in plan.changes for path in (change.path, change.to)}
    moved = {change.path.removesuffix(".md"): change.to.removesuffix(".md") for change in plan.changes}
    faults = sorted(new_faults(workspace.catalog, catalog_after(workspace, plan), touched, moved=moved))
    if faults:
        _refuse_overtaken(workspace)
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        raise _BrokenError(f"nothing is written: {faults[0]}{more}")


def _refuse_overtaken(workspace: Opened) -> None:
    """Raise LostRaceError where the files are not those of the plan any more: the fault may be another's write."""
    if replace(workspace).catalog.digests != workspace.catalog.digests:
        raise LostRaceError("the memory changed while it was looked at; nothing was written, try again")


def catalog_after(workspace: Opened, plan: Plan) -> Catalog:
    """Return the entries as they would be with a plan carried out."""
    contents = {change.path: change.after for change in plan.changes if change.after is not None}
    renames = [(change.path, change.to) for change in plan.changes if change.path != change.to]
    gone = frozenset(change.path for change in plan.changes if change.after is None)
    overlaid = OverlaidTree(workspace.tree, gone=gone).having(contents, renames)
    return load_cached(overlaid, workspace.cache_folder, parsed=workspace.parsed)
