"""Find the root of the memory."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from stat import S_ISREG

from msgspec import Struct
from msgspec.structs import replace

from mdmem import SETTINGS_NAME
from mdmem.errors import GitError, RootNotFoundError, UsageError
from mdmem.store.git import (
    Repository,
    find_repository,
    list_changed_in_index,
    list_revision,
    list_tracked_named,
    staged_index,
)
from mdmem.store.git.discovery import find_default_branch


class Snapshot(Struct, frozen=True):
    """Which state of the files is read: the working tree, git's index, a revision, or a merge that has not happened.

    With `merge_into` it is the result of merging the revision, HEAD where there is none, into that one. `said` is what
    somebody called the revision, `is_dated` that this was a day or a moment, `remarks` what is to be told about it.
    `is_resolved` says that the revision is the whole name of a commit that is here.
    """

    revision: str | None = None
    staged: bool = False
    merge_into: str | None = None
    said: str | None = None
    is_dated: bool = False
    remarks: tuple[str, ...] = ()
    is_resolved: bool = False

    @property
    def is_working_tree(self) -> bool:
        """Say whether the files on disk are read."""
        return not self.staged and self.revision is None and self.merge_into is None


def memory_elsewhere(repository: Repository) -> str:
    """Return where a memory lies of which git lists no file here, and what to do; empty where there is none."""
    try:
        return next(_places(repository), "")
    except (GitError, OSError):
        return ""


def _places(repository: Repository) -> Iterator[str]:
    # Two levels: what is ignored may hold a hundred thousand files.
    found = (path for depth in ("*", "*/*") for path in repository.top.glob(f"{depth}/{SETTINGS_NAME}"))
    for folder in (path.parent for path in found):
        shown, within = folder.relative_to(repository.top).as_posix(), find_repository(folder)
        if within is not None and within.top.resolve() != repository.top.resolve():
            yield f"the repository within this one, in {shown}, holds one: name it with --root {shown}"
        yield f"git ignores the one in {shown}: take it out of .gitignore, or name it with --root"
    branch = find_default_branch(repository)
    if branch is not None and not branch.is_here:
        for blob in list_revision(repository, branch.commit, ""):
            folder_, _, name = blob.path.rpartition("/")
            if name == SETTINGS_NAME:
                yield f"`{branch.name}` holds one in {folder_ or 'its top'}, and this branch does not"


_LISTED = 5


class SeveralRootsError(UsageError):
    """The repository holds several roots and nothing says which one is meant."""

    def __init__(self, roots: Sequence[str]) -> None:
        """Name the first ones, of paths from the top that are sorted."""
        more = f" and {len(roots) - _LISTED} more" if len(roots) > _LISTED else ""
        listed = ", ".join(roots[:_LISTED])
        super().__init__(f"this repository holds {len(roots)} memories: {listed}{more}; name one with --root")


class NoMemoryError(RootNotFoundError):
    """Nothing here is a memory; where one may be is looked for when somebody is told, which a hook is not."""

    def __init__(self, cwd: Path, repository: Repository | None) -> None:
        """Take the working folder and its repository."""
        super().__init__(cwd)
        self._cwd, self._repository = cwd, repository

    def __str__(self) -> str:
        """Return the sentence for the user."""
        elsewhere = memory_elsewhere(self._repository) if self._repository is not None else ""
        hint = elsewhere or "`mdmem init` makes one, --root names one"
        return f"no memory here: no {SETTINGS_NAME} in {self._cwd} or above; {hint}"


class Location(Struct, frozen=True):
    """One root: its folder, why it is the one, its repository (None outside git), and what git said if it refused.

    `source` is where an answer comes from that asks no index, `typed` what a command on it is typed as.
    """

    root: Path
    why: str
    repository: Repository | None = None
    git_fault: str | None = None
    source: str = "scan"
    typed: str = "mdmem {}"

    def command(self, words: str) -> str:
        """Return what is typed to ask the root something else."""
        return self.typed.replace("{}", words)

    @property
    def under(self) -> str:
        """Return the root's path from the top of the repository, empty for the top itself."""
        if self.repository is None:
            return ""
        relative = self.root.relative_to(self.repository.top).as_posix()
        return "" if relative == "." else relative

    def get_repository(self) -> Repository:
        """Return the repository; raises GitError where there is none."""
        if self.repository is None:
            raise GitError(self.git_fault or f"{self.root} is in no git repository")
        return self.repository

    def require_root(self) -> None:
        """Raise RootNotFoundError where the folder went away since it was found."""
        if not self.root.is_dir():
            raise RootNotFoundError(f"the memory's folder {self.root} is gone; nothing was read or written")

    @property
    def base(self) -> Path:
        """Return the folder that code paths and fallback documents count from."""
        return self.repository.top if self.repository is not None else self.root.parent


def locate(given: str | None, environment: Mapping[str, str], cwd: Path, files: Iterable[str] = ()) -> Location:
    """Return the root that is meant: of several in a repository the one that lies nearest, else nearest to all files.

    Nearest is the one whose parent is the working folder, or a file's, or the first above it. Files count from the
    working folder. Raises RootNotFoundError, and SeveralRootsError where none is nearest.
    """
    found = locate_each(given, environment, cwd)
    if len(found) == 1:
        return found[0]
    near, to = _nearest(found, cwd), ""
    if near is None:
        meant = [_nearest(found, cwd / file) for file in files]
        near, to = next(iter(meant), None), " to the files"
        near = near if all(one is near for one in meant) else None
    if near is None:
        raise SeveralRootsError([location.under or "." for location in found])
    return replace(near, why=f"nearest of the {len(found)} memories of the repository{to}")


def _nearest(found: Sequence[Location], path: Path) -> Location | None:
    for folder in (path.resolve(), *path.resolve().parents):
        beside = [location for location in found if location.root.parent == folder]
        if beside:
            return beside[0] if len(beside) == 1 else None
    return None


def locate_each(given: str | None, environment: Mapping[str, str], cwd: Path) -> tuple[Location, ...]:
    """Return the root that is meant, or all of a repository where nothing above the working folder is one.

    In this order: the option, `MDMEM_ROOT`, the nearest folder above that holds `mdmem.toml`, every tracked
    `mdmem.toml` of the repository. Raises RootNotFoundError.
    """
    named = given or environment.get("MDMEM_ROOT")
    if named:
        return (located(_named_root(named, cwd), "--root" if given else "MDMEM_ROOT"),)
    for folder in (cwd, *cwd.parents):
        if _holds_settings(folder):
            return (located(folder, f"nearest {SETTINGS_NAME} above the working folder"),)
    try:
        repository = find_repository(cwd)
    except GitError as error:
        raise RootNotFoundError(f"no memory is found here, for git does not answer: {error}") from error
    tracked = list_tracked_named(repository, SETTINGS_NAME) if repository is not None else ()
    if repository is None or not tracked:
        raise NoMemoryError(cwd, repository)
    why = f"the repository's only {SETTINGS_NAME}" if len(tracked) == 1 else "one of several in the repository"
    folders = sorted((repository.top / path).parent for path in tracked)
    return tuple(Location(folder.resolve(), why, repository) for folder in folders)


def _named_root(named: str, cwd: Path) -> Path:
    folder = (cwd / named).resolve()
    if folder.name == SETTINGS_NAME:
        folder = folder.parent
    if not folder.is_dir():
        raise RootNotFoundError(f"there is no folder {named}; name the folder that holds {SETTINGS_NAME}")
    if _holds_settings(folder) is False:
        raise RootNotFoundError(f"{named} is no memory: it holds no {SETTINGS_NAME}; `mdmem init {named}` makes one")
    return folder


def _holds_settings(folder: Path) -> bool | None:
    """Say whether a folder holds a settings file; None where it may not be looked into, which is no sign of absence."""
    try:
        return S_ISREG((folder / SETTINGS_NAME).stat().st_mode)
    except PermissionError:
        return None
    except OSError:
        return False


def located(root: Path, why: str) -> Location:
    """Return a folder's location; a git that refuses to speak is remembered: the files can be read without it."""
    root = root.resolve()
    try:
        repository = find_repository(root)
    except GitError as error:
        return Location(root, why, None, str(error))
    if repository is not None and not root.is_relative_to(repository.top.resolve()):
        repository = None
    return Location(root, why, repository)


def place_to_write(folder: Path, base: Path, repository: Repository | None) -> Path:
    """Return where a folder that somebody names really lies; raises UsageError where nothing of ours may be written.

    That is a folder of git's own, and one that lies in the project by name and elsewhere by a link.
    """
    real, project = folder.resolve(), base.resolve()
    own = (repository.git_dir.resolve(), repository.common_dir.resolve()) if repository is not None else ()
    below = real.relative_to(project) if real.is_relative_to(project) else real
    if any(map(real.is_relative_to, own)) or ".git" in map(str.casefold, below.parts):
        raise UsageError(f"{folder} lies in git's own folder, {real}; name another folder")
    if Path(os.path.normpath(folder.absolute())).is_relative_to(base) and not real.is_relative_to(project):
        raise UsageError(f"{folder} lies behind a link that leads out of the project, to {real}; name another folder")
    return real


class PushTarget(Struct, frozen=True):
    """Where a push goes: the remote, and the commit that it has there; one that names none is new to it."""

    remote: str
    commit: str | None


def roots_to_check(
    given: str | None, environment: Mapping[str, str], cwd: Path, *, paths: Sequence[str], is_hook: bool
) -> tuple[Location, ...]:
    """Return the root that is meant, or every root of the repository, or those of them that hold a path.

    A hook runs on every branch, also on those without a memory: there it has no root, where anybody else is told.
    """
    try:
        found = locate_each(given, environment, cwd)
    except RootNotFoundError:
        if is_hook and given is None:
            return ()
        raise
    if len(found) == 1:
        return found
    named = [(cwd / path).resolve() for path in paths]
    chosen = tuple(one for one in found if any(path.is_relative_to(one.root) for path in named))
    return chosen or found


def snapshot_to_check(
    environment: Mapping[str, str], *, revision: str | None, staged: bool, merge_into: str | None
) -> Snapshot:
    """Return the tree that the options and pre-commit's variables mean; raises UsageError where they mean two."""
    if staged and (revision is not None or merge_into is not None):
        raise UsageError("--staged names git's index, --rev and --merge name commits; choose one")
    pushed = _pushed_commit(environment) if staged else None
    return Snapshot(pushed or revision, staged and pushed is None, merge_into)


def _pushed_commit(environment: Mapping[str, str]) -> str | None:
    """Return the commit that pre-commit's pre-push hook is about; None where a commit is being made."""
    # pre-commit names no commit for a branch whose whole history is new; the remote it names at a push only.
    remote = environment.get("PRE_COMMIT_REMOTE_NAME")
    return environment.get("PRE_COMMIT_TO_REF") or ("HEAD" if remote else None)


def push_target(environment: Mapping[str, str]) -> PushTarget | None:
    """Return where the push at hand goes, as pre-commit or our own hook says; None where nothing is pushed."""
    if _pushed_commit(environment) is None:
        return None
    return PushTarget(environment.get("PRE_COMMIT_REMOTE_NAME") or "origin", environment.get("PRE_COMMIT_FROM_REF"))


def concerns_staged(location: Location, environment: Mapping[str, str], cwd: Path) -> bool:
    """Say whether the commit at hand touches a root; nothing staged counts as a question about everything."""
    repository = location.repository
    if repository is None:
        return True
    changed = list_changed_in_index(repository, index=staged_index(repository, environment, cwd))
    under = f"{location.under}/" if location.under else ""
    return not changed or any(path.startswith(under) for path in changed)
