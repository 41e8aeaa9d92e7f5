"""Writes what a verb means to write: proved on the files as they would be, written, and committed where wanted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import date
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from mdmem.checks.case import Case
from mdmem.checks.engine import chosen_codes, run_checks
from mdmem.disk import read_regular
from mdmem.errors import GitError, KeptAsideError, LostRaceError, UsageError
from mdmem.model.fields import LINK_FIELDS
from mdmem.model.finding import Severity
from mdmem.store.catalog import Catalog, load, load_cached
from mdmem.store.catalog.links import EdgeKind, classify
from mdmem.store.git import Repository
from mdmem.store.git.commit import commit_paths
from mdmem.store.git.status import refuse_while_busy
from mdmem.store.settings import Settings
from mdmem.store.tree import OverlaidTree, TreeFile, Unreadable
from mdmem.store.workspace.remote_wings import refuse_remote
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.apply import apply
from mdmem.write.change_set import Change, ChangeSet, Verb, commit_message, subject_of

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
    about = {*touched, *(moved or ())}
    known = {(now(edge.old), now(edge.new), edge.kind) for edge in classify(before, about=about)}
    for edge in classify(after, about=about):
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


class WriteOptions(Struct, frozen=True, kw_only=True):
    """How something is written: for show, and with a commit or without; None leaves that to the settings."""

    is_dry: bool = False
    commit: bool | None = None


class WriteResult(Struct, frozen=True, kw_only=True):
    """What was written, or would have been; `commit` is the commit that holds it, None where there is none.

    `approved` are the addresses of those that it put in force by name.
    """

    changes: tuple[Change, ...]
    remarks: tuple[str, ...] = ()
    commit: str | None = None
    is_dry: bool = False
    approved: tuple[str, ...] = ()


def write_once(workspace: Root, plan: Callable[[Root], ChangeSet], options: WriteOptions) -> WriteResult:
    """Apply what is planned on the files as they are, and return what was written.

    Where they changed by the time at which no other writer can change them any more, it is planned anew on what is
    there then. Raises UsageError where the result would break the memory, or a commit cannot be made now, and
    LostRaceError where somebody else wrote what makes it so; then nothing is written.
    Raises what `apply` raises, and EnvironmentFaultError where the files are written and git refuses the commit.
    """
    if not workspace.snapshot.is_working_tree:
        raise UsageError("only files on disk can be written; leave out --at")
    # What is compared later was read before what is planned on it.
    known = workspace.catalog.file_digests
    change_set = _proved(workspace, plan(workspace))
    repository = repository_to_commit_to(workspace, commit=options.commit) if not options.is_dry else None

    def newest() -> ChangeSet:
        nonlocal change_set
        fresh = workspace.reread()
        if not is_unchanged(workspace, fresh, known):
            try:
                change_set = _proved(fresh, plan(fresh))
            except _BrokenError as error:
                raise LostRaceError(f"the memory changed while it was looked at; {error}") from error
        return change_set

    if not options.is_dry:
        apply(workspace.location.root, change_set, state=workspace.state_folder, newest=newest)
    commit = None
    if repository is not None and change_set.changes:
        commit = _commit(workspace, repository, change_set)
    approved = tuple(one.address for one in change_set.actions if one.verb is Verb.APPROVE)
    return WriteResult(
        changes=change_set.changes,
        remarks=change_set.remarks,
        commit=commit,
        is_dry=options.is_dry,
        approved=approved,
    )


class _BrokenError(UsageError):
    """The memory would be broken by a plan."""


def _proved(workspace: Workspace, change_set: ChangeSet) -> ChangeSet:
    """Return a change set without the changes that are none; raises where it may not be applied."""
    changes = permitted(workspace, change_set)
    if not change_set.tells_faults:
        # A file that is planned as it is may be new to the catalog.
        _prove(workspace, change_set.changes)
    return replace(change_set, changes=changes)


def permitted(workspace: Workspace, change_set: ChangeSet) -> tuple[Change, ...]:
    """Return the changes that change something; raises UsageError where the caller may not make them."""
    for wing in sorted({path.split("/", 1)[0] for one in change_set.changes for path in (one.path, one.to)}):
        workspace.access.require_write(wing)
        refuse_remote(workspace, wing)
    return tuple(one for one in change_set.changes if (one.path, one.before) != (one.to, one.after))


def is_unchanged(workspace: Workspace, fresh: Workspace, known: Mapping[str, str]) -> bool:
    """Say whether all that can be named is as it was when a plan was made: the files, and the contents of entries.

    `known` are the digests of what was read then.
    """
    files = fresh.tree.files()
    return files == workspace.tree.files() and known == fresh.tree.digests([one for one in files if one.path in known])


def commit_files(
    workspace: Workspace, change_set: ChangeSet, written: WriteResult, *, also: Sequence[str], commit: bool | None
) -> WriteResult:
    """Return what was written with the commit of it, and of more paths from the top, where one is wanted."""
    repository = repository_to_commit_to(workspace, commit=commit)
    if repository is None or not (written.changes or also):
        return written
    return replace(written, commit=_commit(workspace, repository, change_set, also=also))


def _commit(
    workspace: Workspace, repository: Repository, change_set: ChangeSet, *, also: Sequence[str] = ()
) -> str | None:
    message = commit_message(
        subject_of(change_set.actions),
        reason=change_set.reason,
        entries=[one for action in change_set.actions for one in (action.address, action.other) if one and "/" in one],
        supersedes=change_set.supersedes,
        agent=change_set.agent,
    )
    under = f"{workspace.location.under}/" if workspace.location.under else ""
    before = {f"{under}{change.path}": change.before for change in change_set.changes}
    before |= {f"{under}{change.to}": None for change in change_set.changes if change.to != change.path}
    return commit_paths(repository, sorted({*before, *also}), message, before=before)


def repository_to_commit_to(workspace: Workspace, *, commit: bool | None) -> Repository | None:
    """Return where a write is committed, None where it is not; None for `commit` leaves that to the settings."""
    if not (workspace.settings.commit if commit is None else commit):
        return None
    location = workspace.location
    if location.repository is None:
        raise GitError(location.git_fault or f"{location.root} is in no git repository; leave out --commit")
    refuse_while_busy(location.repository)
    return location.repository


def _prove(workspace: Workspace, changes: Sequence[Change]) -> None:
    try:
        refuse_faults(workspace.catalog, catalog_after(workspace, changes), changes)
    except _BrokenError as error:
        # The fault may be another's write: then the files are not those that were planned on any more.
        if workspace.reread().catalog.digests != workspace.catalog.digests:
            raise LostRaceError("the memory changed while it was looked at; nothing was written, try again") from error
        raise


def refuse_faults(before: Catalog, after: Catalog, changes: Sequence[Change]) -> None:
    """Raise UsageError where the entries as they would be with changes made have faults that they had not before."""
    touched = {path.removesuffix(".md") for change in changes for path in (change.path, change.to)}
    moved = {change.path.removesuffix(".md"): change.to.removesuffix(".md") for change in changes}
    faults = sorted(new_faults(before, after, touched, moved=moved))
    if faults:
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        raise _BrokenError(f"nothing is written: {faults[0]}{more}")


def catalog_after(workspace: Workspace, changes: Sequence[Change]) -> Catalog:
    """Return the entries as they would be with changes made."""
    contents = {change.path: change.after for change in changes if change.after is not None}
    renames = [(change.path, change.to) for change in changes if change.path != change.to]
    gone = frozenset(change.path for change in changes if change.after is None)
    overlaid = OverlaidTree(workspace.tree, gone=gone).with_changes(contents, renames)
    return load_cached(overlaid, workspace.entry_cache)


def write(workspace: Workspace, plan: Callable[[Workspace], ChangeSet], options: WriteOptions) -> WriteResult:
    """Plan and apply; where somebody else wrote in between, plan once more on what is there then.

    Names mean what they mean on the files that are planned on: what they meant before may have moved.
    """
    try:
        return write_once(workspace, plan, options)
    except KeptAsideError:
        raise
    except LostRaceError:
        return write_once(workspace.reread(), plan, options)


# Those errors that one file shows by itself; what the others find is proved over the whole memory.
TEXT_CHECKS = (
    "control-characters",
    "invisible-characters",
    "file-too-large",
    "front-matter-too-large",
    "merge-marker",
    "second-front-matter",
    "body-empty",
    "template-leftover",
    "secret-like-text",
    "future-date",
)


class _Nothing(Struct, frozen=True):
    """A tree without a file."""

    name: str = "a new entry"

    def files(self) -> tuple[TreeFile, ...]:
        return ()

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | Unreadable]]:
        return iter((path, Unreadable("it is not there")) for path in paths)

    def digests(self, files: Sequence[TreeFile]) -> dict[str, str]:  # noqa: ARG002  # a tree has this
        return {}


def new_fault(change: Change, settings: Settings, *, today: date) -> str | None:
    """Return the first error that the checks find in a file and that it had not before; None where there is none."""
    was = _errors(change.path, change.before, settings, today)
    now = _errors(change.path, change.after, settings, today)
    return next(iter((Counter(now) - Counter(was)).keys()), None)


def _errors(path: str, content: bytes | None, settings: Settings, today: date) -> list[str]:
    if content is None:
        return []
    chosen = frozenset(chosen_codes(settings))
    case = Case(load(OverlaidTree(_Nothing(), {path: content})), settings, today)
    found = run_checks(case, [code for code in TEXT_CHECKS if code in chosen])
    return [f"{finding.message}; {finding.help}" for finding in found if finding.severity is Severity.ERROR]


def is_written(workspace: Workspace, change_set: ChangeSet) -> bool:
    """Say whether every file holds what was to be written, whatever was raised on the way."""
    try:
        return all(
            change.after is not None and read_regular(workspace.location.root / change.to) == change.after
            for change in change_set.changes
        )
    except OSError:
        return False
