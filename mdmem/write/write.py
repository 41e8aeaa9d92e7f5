"""Carry out a planned change: check the resulting files, write all of them, and commit them if requested."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from mdmem.checks.case import Case
from mdmem.checks.check import chosen_codes, get_check
from mdmem.checks.engine import mark_new, run_checks
from mdmem.checks.rules.links import is_outside
from mdmem.errors import GitError, KeptAsideError, LostRaceError, UsageError
from mdmem.model.fields import LINK_FIELDS
from mdmem.model.finding import Finding, Place, Severity
from mdmem.store.catalog.addresses import is_entry_place
from mdmem.store.catalog.load import load
from mdmem.store.catalog.model import Catalog
from mdmem.store.git.commit import commit_paths
from mdmem.store.git.process import Repository
from mdmem.store.git.status import refuse_while_busy
from mdmem.store.tree import MemoryTree, TreeView
from mdmem.store.workspace.workspace import Workspace, refuse_remote
from mdmem.write.apply import write_changes, writers_lock
from mdmem.write.change_set import Change, ChangeSet, Verb, commit_message

Plan = Callable[[Workspace], ChangeSet]


class WriteOptions(Struct, frozen=True, kw_only=True):
    """Whether a change is only shown, and whether it is committed. None for `commit` means that the settings decide."""

    is_dry: bool = False
    commit: bool | None = None


class WriteResult(Struct, frozen=True, kw_only=True):
    """The changes that were written (or would be, with `is_dry`), the commit or None, and the approved addresses."""

    changes: tuple[Change, ...]
    remarks: tuple[str, ...] = ()
    commit: str | None = None
    is_dry: bool = False
    approved: tuple[str, ...] = ()


def write(workspace: Workspace, plan: Plan, options: WriteOptions) -> WriteResult:
    """Plan, check and write a change. If somebody saved a file in between, plan again.

    Nothing is written if it raises UsageError (the result would break the memory, or cannot be committed now),
    LostRaceError or an error of `apply.put`. Raises GitError if the files are written but git refuses the commit.
    """
    if not workspace.snapshot.is_working_tree:
        raise UsageError("only files on disk can be written; leave out --at")
    try:
        return _write(workspace, plan, options)
    except KeptAsideError:
        raise
    except LostRaceError as lost:
        try:
            return _write(workspace.reread(), plan, options)
        except BrokenMemoryError:
            # A file that the plan needs disappeared in the meantime.
            raise lost from None


def _write(workspace: Workspace, plan: Plan, options: WriteOptions) -> WriteResult:
    # Read the hashes before planning, to compare them with the files after taking the lock.
    known = workspace.catalog.file_digests
    change_set = _checked(workspace, plan(workspace))
    repository = repository_to_commit_to(workspace, commit=options.commit) if not options.is_dry else None
    if change_set.changes and not options.is_dry:
        with writers_lock(workspace.state_folder):
            fresh = workspace.reread()
            files = fresh.tree.files()
            digests = fresh.tree.digests([one for one in files if one.path in known])
            if (files, digests) != (workspace.tree.files(), known):
                # A plan depends on more files than it writes, so plan again while the lock is held.
                try:
                    change_set = _checked(fresh, plan(fresh))
                except BrokenMemoryError as error:
                    raise LostRaceError(f"the memory changed, so {error}") from error
            write_changes(workspace.location.root, change_set.changes)
    return WriteResult(
        changes=change_set.changes,
        remarks=change_set.remarks,
        commit=_commit(workspace, repository, change_set) if repository is not None and change_set.changes else None,
        is_dry=options.is_dry,
        approved=tuple(one.address for one in change_set.actions if one.verb is Verb.APPROVE),
    )


class BrokenMemoryError(UsageError):
    """A planned change would break the memory."""


def _checked(workspace: Workspace, change_set: ChangeSet) -> ChangeSet:
    """Return a change set without the changes that have no effect. Raises UsageError if it may not be written."""
    changes = permitted(workspace, change_set)
    if not change_set.is_checked:
        try:
            refuse_faults(workspace, change_set.changes)
        except BrokenMemoryError as error:
            # Somebody else may have caused the fault since the files were read.
            if workspace.reread().catalog.digests != workspace.catalog.digests:
                raise LostRaceError("the memory changed while it was read; nothing was written, try again") from error
            raise
    return replace(change_set, changes=changes)


def permitted(workspace: Workspace, change_set: ChangeSet) -> tuple[Change, ...]:
    """Return the changes that have an effect. Raises UsageError if the caller may not write to a wing."""
    for wing in sorted({path.split("/", 1)[0] for one in change_set.changes for path in (one.path, one.to)}):
        workspace.access.require_write(wing)
        refuse_remote(workspace, wing)
    return tuple(one for one in change_set.changes if (one.path, one.before) != (one.to, one.after))


def catalog_after(workspace: Workspace, changes: Sequence[Change]) -> Catalog:
    """Return the catalog as it would be after some changes."""
    if not changes:
        return workspace.catalog
    contents = {change.path: change.after for change in changes if change.after is not None}
    renames = [(change.path, change.to) for change in changes if change.path != change.to]
    gone = frozenset(change.path for change in changes if change.after is None)
    overlaid = TreeView(workspace.tree, changed={}, gone=gone).with_changes(contents, renames)
    return load(overlaid, workspace.entry_cache)


# The checks about the two ends of a supersession.
_PROVED = (
    "successor-not-current",
    "superseded-but-active",
    "supersession-across-wings",
    "supersession-cycle",
    "supersession-one-sided",
    "two-successors",
)


def refuse_faults(workspace: Workspace, changes: Sequence[Change]) -> None:
    """Raise BrokenMemoryError with the first error that the changes would add to the entries, if there is one."""
    moves = {one.path.removesuffix(".md"): one.to.removesuffix(".md") for one in changes}
    before = _faults(workspace, workspace.catalog, moves)
    after = _faults(workspace, catalog_after(workspace, changes), moves.values())
    if faults := [one for one in mark_new(after, before, moves=moves) if one.new]:
        raise BrokenMemoryError(f"nothing was written: {first_fault(faults)}")


def first_fault(faults: Sequence[Finding]) -> str:
    """Return the first of some findings as text, with its place and help, and the number of the others."""
    first, more = faults[0], f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    return f"{first.place.path}:{first.place.line}: {first.message}; {first.help}{more}"


def _faults(workspace: Workspace, catalog: Catalog, touched: Iterable[str]) -> Iterator[Finding]:
    """Yield the errors of entries that are found without reading files, and the broken links of `touched` entries."""
    case = Case(catalog, workspace.settings, workspace.today)
    for finding in chain(catalog.findings, *(get_check(code).find(case) for code in _PROVED)):
        if finding.severity in (None, Severity.ERROR):
            yield finding
    for entry in (catalog.entries[one] for one in sorted(touched) if one in catalog.entries):
        for name in LINK_FIELDS:
            for link in entry.links(name):
                is_missing = link not in catalog.addresses and not is_outside(case, name, link, entry.address)
                if is_missing or link == entry.address:
                    why = "does not exist" if is_missing else "is the entry itself"
                    message = f"`{name}` contains `{link}`, which {why}"
                    yield Finding("dangling-link", message, Place(entry.path), "name another entry", entry.address)


def repository_to_commit_to(workspace: Workspace, *, commit: bool | None) -> Repository | None:
    """Return the repository to commit to, or None. If `commit` is None, the settings decide.

    Raises GitError outside git, and UsageError during a merge or a similar operation.
    """
    if not (workspace.settings.commit if commit is None else commit):
        return None
    location = workspace.location
    if location.repository is None:
        raise GitError(location.git_fault or f"{location.root} is in no git repository; leave out --commit")
    refuse_while_busy(location.repository)
    return location.repository


def commit_files(
    workspace: Workspace, change_set: ChangeSet, written: WriteResult, *, also: Sequence[str], commit: bool | None
) -> WriteResult:
    """Commit written files and `also` (paths from the repository's top), if requested. Raises GitError if git fails."""
    repository = repository_to_commit_to(workspace, commit=commit)
    if repository is None or not (written.changes or also):
        return written
    return replace(written, commit=_commit(workspace, repository, change_set, also=also))


def _commit(
    workspace: Workspace, repository: Repository, change_set: ChangeSet, *, also: Sequence[str] = ()
) -> str | None:
    under = workspace.location.prefix
    before = {f"{under}{change.path}": change.before for change in change_set.changes}
    before |= {f"{under}{change.to}": None for change in change_set.changes if change.to != change.path}
    return commit_paths(repository, sorted({*before, *also}), commit_message(change_set), before=before)


# The checks that need only one file. Checking the whole memory finds the other errors.
_TEXT_CHECKS = (
    "invisible-characters",
    "file-too-large",
    "merge-marker",
    "front-matter-fence",
    "body-empty",
    "template-leftover",
    "secret-like-text",
    "impossible-date",
)


def refuse_text_faults(workspace: Workspace, changes: Iterable[Change]) -> None:
    """Raise UsageError for the first error that the checks find in a changed entry and that it did not have before."""
    chosen = chosen_codes(workspace.settings)
    codes = [one for one in _TEXT_CHECKS if one in chosen]
    for change in changes:
        errors: list[Counter[str]] = []
        for content in (change.before, change.after):
            is_entry = content is not None and is_entry_place(change.path)
            tree = TreeView(MemoryTree("a new entry"), changed={change.path: content or b""} if is_entry else {})
            found = run_checks(Case(load(tree), workspace.settings, workspace.today), codes)
            errors.append(Counter(f"{one.message}; {one.help}" for one in found if one.severity is Severity.ERROR))
        if fault := next(iter((errors[1] - errors[0]).keys()), None):
            raise UsageError(f"nothing was written: {fault}")
