"""Fetch wings that live in other repositories, and pin them: record in the settings which commit is used."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from mdmem import SETTINGS_NAME
from mdmem.checks.engine import mark_new
from mdmem.checks.run import CheckRequest, check
from mdmem.errors import GitError, UsageError
from mdmem.model.finding import Finding
from mdmem.store.catalog.load import NotHere, find_remote_wing, place_of, settings_bytes
from mdmem.store.catalog.model import Catalog
from mdmem.store.git.commit import commit_paths
from mdmem.store.git.remote import fetch_commit, fetch_tip, make_bare
from mdmem.store.git.status import list_revision
from mdmem.store.settings import WingSettings, with_key
from mdmem.store.state.local_records import Pin, find_pin, keep_pin, store_of
from mdmem.store.tree import Unreadable
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.apply import put, writers_lock
from mdmem.write.change_set import Change, commit_message
from mdmem.write.write import repository_to_commit_to

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

    With `pinned`, fetch only the pinned commits, and write nothing. A wing that cannot be fetched, or is missing in
    the new commit, keeps its commit, and its `fault` says why. Raises the errors of `put` and `commit_paths`, and
    UsageError.
    """
    if not workspace.snapshot.is_working_tree:
        raise UsageError("wings can be fetched only for the files on disk; leave out --at")
    remote = workspace.settings.remote_wings
    if unknown := next((name for name in names if name not in remote), None):
        listed = ", ".join(f"`{one}`" for one in remote)
        hint = f"the wings of other repositories are {listed}" if remote else _HOW_TO_ADD
        raise UsageError(f"`{unknown}` is not a wing of another repository; {hint}")
    repository = repository_to_commit_to(workspace, commit=commit) if not pinned else None
    before = settings_bytes(workspace.tree)
    chosen = (name for name in remote if not names or name in names)
    found = tuple(_fetch(workspace, name, remote[name], pinned=pinned) for name in chosen)
    if isinstance(before, Unreadable):
        return FetchWingsResult(wings=found)
    after = before
    for one in found:
        if one.commit is not None and one.commit != one.before:
            after = with_key(after, f"wings.{one.name}.commit", one.commit)
    if after == before:
        return FetchWingsResult(wings=found)
    # The catalog was loaded before the fetch.
    old = workspace.reread()
    known = _failing(old)
    change = Change(SETTINGS_NAME, SETTINGS_NAME, before, after)
    with writers_lock(workspace.state_folder):
        put(workspace.location.root, [change])
    now, committed = workspace.reread(), None
    if repository is not None:
        moved = [one for one in found if one.commit != one.before]
        subject = f"Update the wing {moved[0].name}" if len(moved) == 1 else f"Update {len(moved)} wings"
        steps = ((one, f"from {one.before[:10]} " if one.before else "") for one in moved)
        reason = "\n".join(f"{one.name} {step}to {(one.commit or '')[:10]} of {one.git}" for one, step in steps)
        path = f"{workspace.location.prefix}{SETTINGS_NAME}"
        committed = commit_paths(repository, [path], commit_message(subject, reason=reason), before={path: before})
    return FetchWingsResult(
        wings=tuple(_counted(one, old.catalog, now.catalog) for one in found),
        faults=tuple(one for one in mark_new(_failing(now), known) if one.new),
        commit=committed,
        is_written=True,
    )


def _fetch(workspace: Workspace, name: str, stated: WingSettings, *, pinned: bool) -> FetchedWing:
    """Fetch a wing at its pinned commit, or at the newest commit of its ref."""
    url, before, cache = place_of(stated, workspace.location.root), stated.commit, workspace.cache_folder
    found = FetchedWing(
        name=name,
        git=stated.git or "",
        ref=stated.ref or "HEAD",
        before=before,
        commit=before,
        asked=_asked(workspace, url, before),
    )
    if pinned and before is None:
        return replace(found, fault="it is not pinned to a commit yet; `mdmem sync --wings` pins it")
    if pinned and find_pin(cache, url, before or "") is not None and not _not_here(workspace, name, stated):
        return found
    try:
        store = make_bare(store_of(cache, url))
        if pinned and before is not None:
            fetch_commit(store, url, before, stated.ref)
        commit = before if pinned and before is not None else fetch_tip(store, url, stated.ref)
        paths = (blob.path.rpartition("/") for blob in list_revision(store, commit, ""))
        roots = tuple(sorted(folder for folder, _, file in paths if file == SETTINGS_NAME))
        keep_pin(cache, url, commit, Pin(roots, workspace.today))
    except (GitError, OSError) as error:
        return replace(found, fault=str(error) if isinstance(error, GitError) else (error.strerror or str(error)))
    fault = _not_here(workspace, name, replace(stated, commit=commit))
    if fault is not None and not pinned:
        return replace(found, fault=fault)
    return replace(found, commit=commit, fault=fault, asked=_asked(workspace, url, commit))


def _asked(workspace: Workspace, url: str, commit: str | None) -> str | None:
    pin = find_pin(workspace.cache_folder, url, commit or "")
    return pin.asked.isoformat() if pin is not None else None


def _not_here(workspace: Workspace, name: str, stated: WingSettings) -> str | None:
    found = find_remote_wing(workspace.cache_folder, workspace.location.root, name, stated)
    return f"it {found.why}; {found.help}" if isinstance(found, NotHere) else None


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
