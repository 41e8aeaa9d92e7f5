"""Sync with others: pull, rebase, check and push; and fetch the wings of other repositories, and pin their commits."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from shlex import quote

from msgspec import Struct
from msgspec.structs import replace

from mdmem import SETTINGS_NAME
from mdmem.checks.engine import is_incomplete, mark_new
from mdmem.checks.run import CheckRequest, check
from mdmem.errors import GitError, LostRaceError, MdmemError, UsageError
from mdmem.model.finding import Finding
from mdmem.model.text import first_of
from mdmem.store.catalog.load import UnavailableWing, find_remote_wing, place_of
from mdmem.store.catalog.model import Catalog
from mdmem.store.git.commit import commit_paths
from mdmem.store.git.process import Repository
from mdmem.store.git.remote import (
    Upstream,
    count_between,
    fetch_commit,
    fetch_tip,
    fetch_upstream,
    get_upstream,
    has_merges,
    make_bare,
    move_branch,
    push,
    rebase,
)
from mdmem.store.git.status import list_changed, list_revision, state_of
from mdmem.store.settings import WingSettings, with_key
from mdmem.store.state.files import write_lock
from mdmem.store.state.local_records import Pin, add_pin, find_pin, store_of
from mdmem.store.workspace.location import Snapshot
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.apply import write_changes, writers_lock
from mdmem.write.change_set import Change, ChangeSet, commit_message
from mdmem.write.write import repository_to_commit_to

# An attempt fails only if somebody else pushes in the meantime.
ATTEMPTS = 40
# In seconds. A sync takes about half a second.
_FIRST_DELAY, _MAX_DELAY = 0.25, 4.0
# In seconds. Another sync in the same work tree may be waiting for a slow remote.
_WAIT = 120.0
_SHOWN = 10


class SyncResult(Struct, frozen=True, kw_only=True):
    """The result of a sync: how many commits were pulled and pushed, and the `commit` at which both branches are now.

    `faults` counts the findings, new and old, that fail a check. `uncommitted` are uncommitted files of the memory.
    """

    branch: str
    upstream: str
    commit: str
    pulled: int
    pushed: int
    attempts: int
    faults: int
    uncommitted: tuple[str, ...]


class SyncStoppedError(MdmemError):
    """The local commits conflict with the commits of others. Nothing was pushed, and no local file changed."""

    exit_code = 1


def sync(
    workspace: Workspace, *, draw: Callable[[], float] = random.random, sleep: Callable[[float], None] = time.sleep
) -> SyncResult:
    """Pull the commits of others, rebase our commits on them, check the result and push it.

    The work tree changes only after rebase and check succeeded elsewhere; uncommitted files stay. If others push
    first, the sync tries again after a pause. Raises SyncStoppedError with the commands to type if git cannot merge
    or the result has new errors, UsageError, GitError, and LostRaceError if others always pushed first.
    """
    repository = workspace.location.get_repository()
    operation = state_of(repository)
    if operation is not None:
        ends = "`git bisect reset`" if operation == "bisect" else f"`git {operation} --continue` or `--abort`"
        raise UsageError(f"git is in the middle of a {operation} here; end it first with {ends}")
    upstream, start = get_upstream(repository), ""
    with write_lock(repository.git_dir / "mdmem" / "sync", wait=_WAIT):
        for attempt in range(ATTEMPTS):
            ours, theirs, base = fetch_upstream(repository, upstream)
            # The merge base at the first attempt.
            start = start or base
            synced = _bring_together(workspace, repository, upstream, ours, theirs, base)
            if synced is not None:
                commit, faults = synced
                return SyncResult(
                    branch=upstream.branch,
                    upstream=upstream.name,
                    commit=commit,
                    pulled=count_between(repository, start, theirs),
                    pushed=count_between(repository, theirs, commit),
                    attempts=attempt + 1,
                    faults=len(faults),
                    uncommitted=tuple(sorted(list_changed(repository, workspace.location.under)[1])),
                )
            # The range of the random pause doubles each time, up to a limit.
            sleep(draw() * min(_MAX_DELAY, _FIRST_DELAY * 2**attempt))
    raise LostRaceError(
        "others pushed first at each attempt; your commits are on top of theirs now: type `mdmem sync` again"
    )


def _bring_together(
    workspace: Workspace, repository: Repository, upstream: Upstream, ours: str, theirs: str, base: str
) -> tuple[str, list[Finding]] | None:
    """Bring both branches to one commit. Return the commit and its findings, or None if somebody else pushed first."""
    if ours == theirs:
        return theirs, []
    commit, conflicts = theirs if base == ours else ours, tuple[str, ...]()
    if base not in (ours, theirs):
        commit, conflicts = rebase(repository, ours, theirs)
    if conflicts:
        listed = first_of([f"`{path}`" for path in conflicts], _SHOWN)
        pull, operation = _pull(repository, ours, theirs)
        steps = f"type `{pull}`, resolve each file (`mdmem resolve`) and `git add` it, `git {operation} --continue`,"
        message = f"git cannot merge {listed} with {upstream.name}"
        raise _stopped(message, steps, "then `mdmem sync` again")
    # The ref may move in the meantime, so the check compares with the fetched commit.
    report = check(workspace.at(Snapshot(revision=commit)), CheckRequest(base=upstream.name))
    level = report.fail_on.rank
    # Ignore problems of this machine, for example a wing that is not fetched. The commits did not cause them.
    faults = [one for one in report.findings if one.level.rank <= level and not is_incomplete(one)]
    if base != ours and (new := [one for one in faults if one.new]):
        shown = [f"  {one.place.path}:{one.place.line}: {one.severity} {one.code} {one.message}" for one in new]
        # The check needs the base to find what the change removed.
        pull, checking = _pull(repository, ours, theirs)[0], f"mdmem check --base {quote(upstream.name)}"
        many = f"{len(new)} new findings" if len(new) > 1 else "a new finding"
        message = f"on top of {upstream.name} the memory has {many}"
        note = f"type `{pull}` and `{checking}`, fix and commit, then `mdmem sync` again"
        raise _stopped(message, *shown[:_SHOWN], note)
    if commit != ours and not move_branch(repository, upstream.ref, ours, commit):
        return None
    # If others pushed the same changes, the rebase drops all our commits.
    if commit != theirs and not push(repository, upstream, commit):
        return None
    return commit, faults


def _pull(repository: Repository, ours: str, theirs: str) -> tuple[str, str]:
    """Return the command that pulls, and the name of git's operation. A rebase would take our merge commits apart."""
    is_merge = has_merges(repository, theirs, ours)
    return ("git pull --no-rebase", "merge") if is_merge else ("git pull --rebase", "rebase")


def _stopped(message: str, *notes: str) -> SyncStoppedError:
    error = SyncStoppedError(f"{message}; nothing was pushed, and nothing changed here")
    for note in notes:
        error.add_note(note)
    return error


_HOW_TO_ADD = "`[wings.NAME] git = ...` in mdmem.toml adds one"


class FetchedWing(Struct, frozen=True, kw_only=True):
    """The result for one fetched wing: the old and the new commit, or why it could not be updated (`fault`).

    The counts are numbers of entries; `asked` is the ISO date of the last fetch of `commit`.
    """

    name: str
    git: str
    ref: str
    before: str | None
    commit: str | None
    new: int = 0
    changed: int = 0
    gone: int = 0
    in_force_before: int = 0
    in_force: int = 0
    asked: str | None = None
    fault: str | None = None


class FetchWingsResult(Struct, frozen=True, kw_only=True):
    """The result for each wing. `faults` are the findings that are new after the fetch and fail a check."""

    wings: tuple[FetchedWing, ...]
    faults: tuple[Finding, ...] = ()
    commit: str | None = None
    is_written: bool = False


def fetch_wings(
    workspace: Workspace, names: Sequence[str] = (), *, pinned: bool = False, commit: bool | None = None
) -> FetchWingsResult:
    """Fetch wings from other repositories (default: all), and pin them to their newest commits.

    With `pinned`, fetch only the pinned commits, and write nothing. A wing that cannot be fetched, or is missing in the
    new commit, keeps its commit, and its `fault` says why. Raises UsageError for an unknown wing, and the errors of
    `put` and `commit_paths`.
    """
    remote = workspace.settings.remote_wings
    if unknown := next((name for name in names if name not in remote), None):
        listed = ", ".join(f"`{one}`" for one in remote)
        hint = f"the wings of other repositories are {listed}" if remote else _HOW_TO_ADD
        raise UsageError(f"`{unknown}` is not a wing of another repository; {hint}")
    repository = repository_to_commit_to(workspace, commit=commit) if not pinned else None
    before = after = workspace.settings.source
    chosen = (name for name in remote if not names or name in names)
    found = tuple(_fetch(workspace, name, remote[name], pinned=pinned) for name in chosen)
    for one in found:
        if one.commit is not None and one.commit != one.before:
            after = with_key(after, f"wings.{one.name}.commit", one.commit)
    if after == before:
        return FetchWingsResult(wings=found)
    # The catalog was loaded before the fetch.
    old, location = workspace.reread(), workspace.location
    known = _failing(old)
    with writers_lock(workspace.state_folder):
        write_changes(location.root, [Change(SETTINGS_NAME, SETTINGS_NAME, before, after)])
    now, committed = workspace.reread(), None
    if repository is not None:
        moved = [one for one in found if one.commit != one.before]
        subject = f"Update the wing {moved[0].name}" if len(moved) == 1 else f"Update {len(moved)} wings"
        steps = ((one, f"from {one.before[:10]} " if one.before else "") for one in moved)
        reason = "\n".join(f"{one.name} {step}to {(one.commit or '')[:10]} of {one.git}" for one, step in steps)
        message, path = commit_message(ChangeSet(reason=reason), subject=subject), f"{location.prefix}{SETTINGS_NAME}"
        committed = commit_paths(repository, [path], message, before={path: before})
    return FetchWingsResult(
        wings=tuple(_counted(one, old.catalog, now.catalog) for one in found),
        faults=tuple(one for one in mark_new(_failing(now), known) if one.new),
        commit=committed,
        is_written=True,
    )


def _fetch(workspace: Workspace, name: str, wing: WingSettings, *, pinned: bool) -> FetchedWing:
    """Fetch a wing at its pinned commit, or at the newest commit of its ref."""
    url, before, cache = place_of(wing, workspace.location.root), wing.commit, workspace.cache_folder
    found = FetchedWing(
        name=name,
        git=wing.git or "",
        ref=wing.ref or "HEAD",
        before=before,
        commit=before,
        asked=_asked(workspace, url, before),
    )
    if pinned and before is None:
        return replace(found, fault="it is not pinned to a commit yet; `mdmem sync --wings` pins it")
    if pinned and find_pin(cache, url, before or "") is not None and not _not_here(workspace, name, wing):
        return found
    try:
        store = make_bare(store_of(cache, url))
        if pinned and before is not None:
            fetch_commit(store, url, before, wing.ref)
        commit = before if pinned and before is not None else fetch_tip(store, url, wing.ref)
        paths = (blob.path.rpartition("/") for blob in list_revision(store, commit, ""))
        roots = tuple(sorted(folder for folder, _, file in paths if file == SETTINGS_NAME))
        add_pin(cache, url, commit, Pin(roots, workspace.today))
    except (GitError, OSError) as error:
        return replace(found, fault=str(error) if isinstance(error, GitError) else (error.strerror or str(error)))
    fault = _not_here(workspace, name, replace(wing, commit=commit))
    if fault is not None and not pinned:
        return replace(found, fault=fault)
    return replace(found, commit=commit, fault=fault, asked=_asked(workspace, url, commit))


def _asked(workspace: Workspace, url: str, commit: str | None) -> str | None:
    pin = find_pin(workspace.cache_folder, url, commit or "")
    return pin.asked.isoformat() if pin is not None else None


def _not_here(workspace: Workspace, name: str, wing: WingSettings) -> str | None:
    found = find_remote_wing(workspace.cache_folder, workspace.location.root, name, wing)
    return f"it {found.why}; {found.help}" if isinstance(found, UnavailableWing) else None


def _failing(workspace: Workspace) -> list[Finding]:
    report = check(workspace, CheckRequest())
    return [one for one in report.findings if report.fails(one)]


def _counted(wing: FetchedWing, *catalogs: Catalog) -> FetchedWing:
    """Return the result for a wing, with the counts of changed entries filled in from before and after the fetch."""
    digests, current, start = [], [], f"{wing.name}/"
    for catalog in catalogs:
        is_fetched = wing.name in catalog.fetched_wings
        files = (one for one in catalog.files if is_fetched and one.path.startswith(start))
        digests.append({one.path: one.digest for one in files})
        current.append(sum(is_fetched and address.startswith(start) for address in catalog.lineage.current))
    old, new = digests
    return replace(
        wing,
        new=len(new.keys() - old.keys()),
        changed=sum(old[path] != digest for path, digest in new.items() if path in old),
        gone=len(old.keys() - new.keys()),
        in_force_before=current[0],
        in_force=current[1],
    )
