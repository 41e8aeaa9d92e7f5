"""Fetch the wings of other repositories, and pin them to their new commits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from mdmem.checks.run import CheckRequest, check
from mdmem.errors import GitError, UsageError
from mdmem.model.finding import Finding
from mdmem.store.catalog import Catalog, settings_bytes
from mdmem.store.catalog.load import NotHere, find_remote_wing, place_of
from mdmem.store.git.commit import commit_paths
from mdmem.store.git.process import Repository
from mdmem.store.git.remote import fetch_commit, fetch_tip, make_bare
from mdmem.store.git.status import list_revision
from mdmem.store.settings import WingSettings, with_pin
from mdmem.store.state.local_records import Pin, find_pin, keep_pin, store_of
from mdmem.store.tree import SETTINGS_NAME, Unreadable
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.apply import apply
from mdmem.write.change_set import Change, ChangeSet, commit_message
from mdmem.write.write import repository_to_commit_to


class FetchCounts(Struct, frozen=True, kw_only=True):
    """The changes of a commit in a wing: new, changed and removed entries, and the number of current ones."""

    new: int = 0
    changed: int = 0
    gone: int = 0
    in_force_before: int = 0
    in_force: int = 0


class FetchedWing(Struct, frozen=True, kw_only=True):
    """The result for one wing: its commits before and now, the changes, or the fault that kept it at its commit.

    `asked` is the ISO date of the last fetch of its commit.
    """

    name: str
    git: str
    ref: str
    before: str | None
    commit: str | None
    counts: FetchCounts = FetchCounts()
    asked: str | None = None
    fault: str | None = None


class FetchWingsResult(Struct, frozen=True, kw_only=True):
    """The results by wing; `faults` are new findings that fail a check."""

    wings: tuple[FetchedWing, ...]
    faults: tuple[Finding, ...] = ()
    commit: str | None = None
    is_written: bool = False


def fetch_wings(
    workspace: Workspace, names: Sequence[str] = (), *, pinned: bool = False, commit: bool | None = None
) -> FetchWingsResult:
    """Fetch the wings of other repositories (default: all), and pin them to their newest commits.

    With `pinned` only the pinned commits are fetched, and nothing is written. A wing that cannot be fetched, or is
    missing in its new commit, keeps its commit, and its `fault` says why. Raises UsageError for an unknown wing, and
    what `apply` and `commit_paths` raise.
    """
    if not workspace.snapshot.is_working_tree:
        raise UsageError("wings are fetched for the files on disk; leave out --at")
    stated = _chosen(workspace, names)
    repository = repository_to_commit_to(workspace, commit=commit) if not pinned else None
    if pinned:
        return FetchWingsResult(wings=tuple(_fetch_pinned(workspace, name, one) for name, one in stated.items()))
    return _move_on(workspace, stated, repository)


def _chosen(workspace: Workspace, names: Sequence[str]) -> dict[str, WingSettings]:
    remote = workspace.settings.remote_wings
    for name in names:
        if name not in remote:
            listed = ", ".join(f"`{one}`" for one in remote)
            hint = f"those that do are {listed}" if remote else "`[wings.NAME] git = ...` in mdmem.toml names one"
            raise UsageError(f"no wing `{name}` lives in another repository; {hint}")
    return {name: one for name, one in remote.items() if not names or name in names}


def _fetch_pinned(workspace: Workspace, name: str, stated: WingSettings) -> FetchedWing:
    found = FetchedWing(
        name=name, git=stated.git or "", ref=stated.ref or "HEAD", before=stated.commit, commit=stated.commit
    )
    if stated.commit is None:
        return replace(found, fault="it is not pinned to a commit yet; `mdmem sync --wings` does it")
    url = place_of(stated, workspace.location.root)
    try:
        if find_pin(workspace.cache_folder, url, stated.commit) is None or _not_here(workspace, name, stated):
            store = make_bare(store_of(workspace.cache_folder, url))
            fetch_commit(store, url, stated.commit, stated.ref)
            _record(workspace, store, url, stated.commit)
    except (GitError, OSError) as error:
        return replace(found, fault=_why(error))
    return replace(found, fault=_not_here(workspace, name, stated), asked=_asked(workspace, url, stated.commit))


def _fetch_newest(workspace: Workspace, name: str, stated: WingSettings) -> FetchedWing:
    url, before = place_of(stated, workspace.location.root), stated.commit
    found = FetchedWing(
        name=name,
        git=stated.git or "",
        ref=stated.ref or "HEAD",
        before=before,
        commit=before,
        asked=_asked(workspace, url, before),
    )
    try:
        store = make_bare(store_of(workspace.cache_folder, url))
        tip = fetch_tip(store, url, stated.ref)
        _record(workspace, store, url, tip)
    except (GitError, OSError) as error:
        return replace(found, fault=_why(error))
    fault = _not_here(workspace, name, replace(stated, commit=tip))
    if fault is not None:
        return replace(found, fault=fault)
    return replace(found, commit=tip, asked=workspace.today.isoformat())


def _record(workspace: Workspace, store: Repository, url: str, commit: str) -> None:
    paths = (blob.path.rpartition("/") for blob in list_revision(store, commit, ""))
    roots = tuple(sorted(folder for folder, _, name in paths if name == SETTINGS_NAME))
    keep_pin(workspace.cache_folder, url, Pin(commit, roots, workspace.today))


def _asked(workspace: Workspace, url: str, commit: str | None) -> str | None:
    pin = find_pin(workspace.cache_folder, url, commit or "")
    return pin.asked.isoformat() if pin is not None else None


def _not_here(workspace: Workspace, name: str, stated: WingSettings) -> str | None:
    found = find_remote_wing(workspace.cache_folder, workspace.location.root, name, stated)
    return f"it {found.why}; {found.help}" if isinstance(found, NotHere) else None


def _why(error: GitError | OSError) -> str:
    return str(error) if isinstance(error, GitError) else (error.strerror or str(error))


def _move_on(workspace: Workspace, stated: dict[str, WingSettings], repository: Repository | None) -> FetchWingsResult:
    before = settings_bytes(workspace.tree)
    found = [_fetch_newest(workspace, name, one) for name, one in stated.items()]
    after = b"" if isinstance(before, Unreadable) else before
    for one in found:
        if one.commit is not None and one.commit != one.before:
            after = with_pin(after, one.name, one.commit)
    if isinstance(before, Unreadable) or after == before:
        return FetchWingsResult(wings=tuple(found))
    # The catalog was loaded before the fetch.
    old = workspace.reread()
    known = {_same(one) for one in _failing(old)}
    change = Change(SETTINGS_NAME, SETTINGS_NAME, before, after)
    apply(workspace.location.root, ChangeSet((change,)), state=workspace.state_folder)
    now = workspace.reread()
    wings = tuple(replace(one, counts=_counts(one.name, old.catalog, now.catalog)) for one in found)
    return FetchWingsResult(
        wings=wings,
        faults=tuple(one for one in _failing(now) if _same(one) not in known),
        commit=_commit(workspace, repository, found, before) if repository is not None else None,
        is_written=True,
    )


def _failing(workspace: Workspace) -> list[Finding]:
    report = check(workspace, CheckRequest())
    level = report.fail_on.rank
    return [one for one in report.findings if one.weight.rank <= level]


def _same(finding: Finding) -> tuple[str, str, str]:
    return finding.code, finding.place.path, finding.message


def _counts(wing: str, before: Catalog, after: Catalog) -> FetchCounts:
    old, new = (dict(_contents(wing, catalog)) for catalog in (before, after))
    return FetchCounts(
        new=len(new.keys() - old.keys()),
        changed=sum(old[path] != content for path, content in new.items() if path in old),
        gone=len(old.keys() - new.keys()),
        in_force_before=_in_force(wing, before),
        in_force=_in_force(wing, after),
    )


def _contents(wing: str, catalog: Catalog) -> Iterator[tuple[str, str | None]]:
    if wing in catalog.fetched_wings:
        yield from ((file.path, file.digest) for file in catalog.files if file.path.startswith(f"{wing}/"))


def _in_force(wing: str, catalog: Catalog) -> int:
    if wing not in catalog.fetched_wings:
        return 0
    return sum(entry.wing == wing and catalog.lineage.is_current(entry.address) for entry in catalog.entries.values())


def _commit(workspace: Workspace, repository: Repository, found: Sequence[FetchedWing], before: bytes) -> str | None:
    moved = [one for one in found if one.commit != one.before]
    subject = f"Update the wing {moved[0].name}" if len(moved) == 1 else f"Update {len(moved)} wings"
    steps = ((one, f"from {one.before[:10]} " if one.before else "") for one in moved)
    reason = "\n".join(f"{one.name} {step}to {(one.commit or '')[:10]} of {one.git}" for one, step in steps)
    under = f"{workspace.location.under}/" if workspace.location.under else ""
    path = f"{under}{SETTINGS_NAME}"
    return commit_paths(repository, [path], commit_message(subject, reason=reason), before={path: before})
