"""Carries out what a verb means to write: proved on the files as they would be, written, and committed where wanted."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from mdmem.authoring.change_set import Change, ChangeSet, Intent, apply
from mdmem.authoring.message import WriteAction, commit_message, subject_of
from mdmem.catalog import Catalog, load_cached
from mdmem.catalog.edges import EdgeKind, classify
from mdmem.entry.model import LINK_FIELDS
from mdmem.errors import GitError, KeptAsideError, LostRaceError, UsageError
from mdmem.finding import Severity
from mdmem.git import Repository
from mdmem.git.commit import commit_paths
from mdmem.git.status import refuse_while_busy
from mdmem.tree import OverlaidTree
from mdmem.workspace.remote_wings import refuse_remote
from mdmem.workspace.workspace import Workspace

_HARMLESS = (EdgeKind.SOUND, EdgeKind.PENDING)


def new_faults(
    before: Catalog, after: Catalog, touched: Collection[str], *, moved: Mapping[str, str] | None = None
) -> Iterator[str]:
    """Yield a sentence for each fault that the touched addresses have afterwards and had not before, sorted.

    `moved` gives the new address of each that has another one.
    """

    def now(address: str) -> str:
        return moved.get(address, address) if moved else address

    yield from _unread(before, after, touched, now)
    yield from _dangling(before, after, touched, now)
    known = {(now(edge.old), now(edge.new), edge.kind) for edge in classify(before)}
    for edge in classify(after):
        is_new = (edge.old, edge.new, edge.kind) not in known
        if is_new and edge.kind not in _HARMLESS and not {edge.old, edge.new}.isdisjoint(touched):
            yield f"`{edge.new}` supersedes `{edge.old}`: {_MEANT.get(edge.kind, edge.kind.value)}"


_MEANT = {
    EdgeKind.ACROSS_WINGS: "a project entry overrides one of another wing, it does not supersede it",
    EdgeKind.CYCLE: "the two would supersede each other",
    EdgeKind.DANGLING: "one of them does not exist",
    EdgeKind.MISMATCH: "the older one names another successor",
    EdgeKind.SELF: "an entry cannot supersede itself",
    EdgeKind.TWO_SUCCESSORS: "another entry supersedes it already",
    EdgeKind.UNKNOWN: "one of them cannot be read",
}


Now = Callable[[str], str]


def _unread(before: Catalog, after: Catalog, touched: Collection[str], now: Now) -> Iterator[str]:
    broken = {now(path.removesuffix(".md")) for path in before.broken}
    for address in sorted(touched):
        path = f"{address}.md"
        if path in after.broken and address not in broken:
            first = after.broken[path].findings[0]
            yield f"{path}:{first.place.line}: {first.message}; {first.help}"
    known = {(one.code, now(one.place.path.removesuffix(".md")), one.message) for one in before.findings}
    for finding in after.findings:
        address = finding.place.path.removesuffix(".md")
        is_new = (finding.code, address, finding.message) not in known
        is_ours = address in touched
        if is_new and is_ours and finding.severity is not Severity.WARNING and finding.place.path not in after.broken:
            yield f"{finding.place.path}:{finding.place.line}: {finding.message}; {finding.help}"


def _dangling(before: Catalog, after: Catalog, touched: Collection[str], now: Now) -> Iterator[str]:
    was = {now(address): address for address in before.entries}
    for address in sorted(after.entries.keys() & touched):
        known = {link for name in LINK_FIELDS for link in _links(before, was.get(address, address), name)}
        for name in LINK_FIELDS:
            for link in _links(after, address, name):
                if link not in after.addresses and link not in known:
                    yield f"`{name}` of `{address}` would name `{link}`, which does not exist"


def _links(catalog: Catalog, address: str, name: str) -> tuple[str, ...]:
    entry = catalog.entries.get(address)
    return entry.links(name) if entry is not None else ()


Root = TypeVar("Root", bound=Workspace)


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteOptions:
    """How a write is carried out: for show, and with a commit or without; None leaves that to the settings."""

    is_dry: bool = False
    commit: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteResult:
    """What was written, or would have been; `commit` is the commit that holds it, None where there is none."""

    changes: tuple[Change, ...]
    deeds: tuple[WriteAction, ...] = ()
    remarks: tuple[str, ...] = ()
    commit: str | None = None
    is_dry: bool = False


def write_once(workspace: Root, plan: Callable[[Root], Intent], options: WriteOptions) -> WriteResult:
    """Carry out what is planned on the files as they are, and return what was written.

    Where they changed by the time at which no other writer can change them any more, it is planned anew on what is
    there then. Raises UsageError where the result would break the memory, or a commit cannot be made now, and
    LostRaceError where somebody else wrote what makes it so; then nothing is written.
    Raises what `apply` raises, and EnvironmentFaultError where the files are written and git refuses the commit.
    """
    if not workspace.snapshot.is_working_tree:
        raise UsageError("only files on disk can be written; leave out --at")
    # What is compared later was read before what is planned on it.
    known = workspace.catalog.file_digests
    intent = _proved(workspace, plan(workspace))
    repository = _repository_to_commit_to(workspace, options)

    def newest() -> ChangeSet:
        nonlocal intent
        fresh = workspace.reread()
        if not is_unchanged(workspace, fresh, known):
            try:
                intent = _proved(fresh, plan(fresh))
            except _BrokenError as error:
                raise LostRaceError(f"the memory changed while it was looked at; {error}") from error
        return intent.plan

    if not options.is_dry:
        apply(workspace.location.root, intent.plan, state=workspace.state_folder, newest=newest)
    commit = None
    if repository is not None and intent.plan.changes:
        commit = _commit(workspace, repository, intent)
    return WriteResult(
        changes=intent.plan.changes, deeds=intent.deeds, remarks=intent.remarks, commit=commit, is_dry=options.is_dry
    )


class _BrokenError(UsageError):
    """The memory would be broken by a plan."""


def _proved(workspace: Workspace, intent: Intent) -> Intent:
    """Return an intent without the changes that are none; raises where it may not be carried out."""
    for wing in sorted({path.split("/", 1)[0] for one in intent.plan.changes for path in (one.path, one.to)}):
        workspace.access.require_write(wing)
        refuse_remote(workspace, wing)
    plan = ChangeSet(tuple(one for one in intent.plan.changes if (one.path, one.before) != (one.to, one.after)))
    _prove(workspace, plan)
    return replace(intent, plan=plan)


def is_unchanged(workspace: Workspace, fresh: Workspace, known: Mapping[str, str]) -> bool:
    """Say whether all that can be named is as it was when a plan was made: the files, and the contents of entries.

    `known` are the digests of what was read then.
    """
    files = fresh.tree.files()
    return files == workspace.tree.files() and known == fresh.tree.digests([one for one in files if one.path in known])


def _commit(workspace: Workspace, repository: Repository, intent: Intent) -> str | None:
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


def _repository_to_commit_to(workspace: Workspace, options: WriteOptions) -> Repository | None:
    wanted = workspace.settings.commit if options.commit is None else options.commit
    if not wanted or options.is_dry:
        return None
    location = workspace.location
    if location.repository is None:
        raise GitError(location.git_fault or f"{location.root} is in no git repository; leave out --commit")
    refuse_while_busy(location.repository)
    return location.repository


def _prove(workspace: Workspace, plan: ChangeSet) -> None:
    touched = {path.removesuffix(".md") for change in plan.changes for path in (change.path, change.to)}
    moved = {change.path.removesuffix(".md"): change.to.removesuffix(".md") for change in plan.changes}
    faults = sorted(new_faults(workspace.catalog, catalog_after(workspace, plan), touched, moved=moved))
    if faults:
        _refuse_overtaken(workspace)
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        raise _BrokenError(f"nothing is written: {faults[0]}{more}")


def _refuse_overtaken(workspace: Workspace) -> None:
    """Raise LostRaceError where the files are not those of the plan any more: the fault may be another's write."""
    if workspace.reread().catalog.digests != workspace.catalog.digests:
        raise LostRaceError("the memory changed while it was looked at; nothing was written, try again")


def catalog_after(workspace: Workspace, plan: ChangeSet) -> Catalog:
    """Return the entries as they would be with a plan carried out."""
    contents = {change.path: change.after for change in plan.changes if change.after is not None}
    renames = [(change.path, change.to) for change in plan.changes if change.path != change.to]
    gone = frozenset(change.path for change in plan.changes if change.after is None)
    overlaid = OverlaidTree(workspace.tree, gone=gone).with_changes(contents, renames)
    return load_cached(overlaid, workspace.cache_folder, parsed=workspace.parsed)


def write(workspace: Workspace, plan: Callable[[Workspace], Intent], options: WriteOptions) -> WriteResult:
    """Plan and carry out; where somebody else wrote in between, plan once more on what is there then.

    Names mean what they mean on the files that are planned on: what they meant before may have moved.
    """
    try:
        return write_once(workspace, plan, options)
    except KeptAsideError:
        raise
    except LostRaceError:
        return write_once(workspace.reread(), plan, options)
