"""Find the root of the memory, and the snapshot that is read: the working tree, the index, a commit or a merge."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from stat import S_ISREG

from msgspec import Struct
from msgspec.structs import replace

from mdmem import SETTINGS_NAME
from mdmem.errors import GitError, RootNotFoundError, UsageError
from mdmem.model.text import first_of, shell_word
from mdmem.store.git.process import Repository, find_repository, with_hook_index
from mdmem.store.git.status import list_changed_in_index, list_tracked_named


class Snapshot(Struct, frozen=True):
    """The state of the files that is read: the working tree, git's index, a revision, or a merge that is not made yet.

    With `merge_into`, the state is the result of merging `revision` (None means HEAD) into `merge_into`. `name` is the
    name that the user typed.
    """

    revision: str | None = None
    staged: bool = False
    merge_into: str | None = None
    name: str | None = None
    is_dated: bool = False
    remarks: tuple[str, ...] = ()

    @property
    def is_working_tree(self) -> bool:
        """Return whether the files on disk are read."""
        return not self.staged and self.revision is None and self.merge_into is None


# The number of memories that an error message lists.
_LISTED = 5


class SeveralRootsError(UsageError):
    """The repository has several roots, and neither an option nor the working directory says which one is meant."""


class Location(Struct, frozen=True):
    """One root: its folder, why it was chosen, its repository (None outside git), and the message if git failed.

    `source` is reported as the data source of answers that do not use the index. `typed` is the command line for this
    root, with `{}` in place of the arguments. With `is_one_of_several`, the repository has more roots, and neither an
    option nor a settings file above the working directory chose this one.
    """

    root: Path
    why: str
    repository: Repository | None = None
    git_fault: str | None = None
    source: str = "scan"
    typed: str = "mdmem {}"
    is_one_of_several: bool = False

    def command(self, words: str) -> str:
        """Return the command line for another question about this root; `words` are its arguments."""
        # The name of a folder may contain `{}`, too.
        before, _, after = self.typed.rpartition("{}")
        return f"{before}{words}{after}"

    @property
    def under(self) -> str:
        """Return the root's path relative to the top of the repository; empty if the root is the top."""
        if self.repository is None:
            return ""
        relative = self.root.relative_to(self.repository.top).as_posix()
        return "" if relative == "." else relative

    @property
    def prefix(self) -> str:
        """Return `under` with a slash at its end, or an empty string if the root is the top of the repository."""
        return f"{self.under}/" if self.under else ""

    def get_repository(self) -> Repository:
        """Return the repository; raises GitError if there is none."""
        if self.repository is None:
            raise GitError(self.git_fault or f"{self.root} is in no git repository")
        return self.repository

    def require_root(self) -> None:
        """Raise RootNotFoundError if the root's folder was deleted or moved since the root was found."""
        if not self.root.is_dir():
            raise RootNotFoundError(
                f"the memory's folder {self.root} was moved or deleted; nothing was read or written"
            )

    @property
    def base(self) -> Path:
        """Return the folder to which code paths are relative: the top of the repository, else the root's parent."""
        return self.repository.top if self.repository is not None else self.root.parent


def locate(option: str | None, environment: Mapping[str, str], cwd: Path, files: Iterable[str] = ()) -> Location:
    """Return the only root, or else the one nearest to the working directory, or else the one nearest to all `files`.

    A root is near the folders below its parent. Raises RootNotFoundError, and SeveralRootsError if no root is nearest.
    """
    found = locate_each(option, environment, cwd)
    if len(found) == 1:
        return found[0]
    near, to = _nearest(found, cwd), ""
    if near is None:
        meant, to = [_nearest(found, cwd / file) for file in files], " to the files"
        near = meant[0] if meant and all(one is meant[0] for one in meant) else None
    if near is None:
        listed = first_of([location.under or "." for location in found], _LISTED)
        raise SeveralRootsError(f"this repository has {len(found)} memories: {listed}; choose one with --root")
    return replace(near, why=f"nearest of the {len(found)} memories of the repository{to}")


def _nearest(found: Sequence[Location], path: Path) -> Location | None:
    for folder in (path.resolve(), *path.resolve().parents):
        here = [location for location in found if location.root.parent == folder]
        if here:
            return here[0] if len(here) == 1 else None
    return None


def locate_each(option: str | None, environment: Mapping[str, str], cwd: Path) -> tuple[Location, ...]:
    """Return the root that is meant, or all roots of the repository if the working directory is in none of them.

    The first that exists counts: `--root`, `MDMEM_ROOT`, the nearest `mdmem.toml` above, every tracked `mdmem.toml`.
    """
    named = option or environment.get("MDMEM_ROOT")
    if named:
        root = (cwd / named).resolve()
        root = root.parent if root.name == SETTINGS_NAME else root
        if not root.is_dir() or _has_settings(root) is False:
            fault, near = f"{named} is no memory: it has no {SETTINGS_NAME}", _memory_near(root)
            hint = f"`mdmem init {shell_word(named)}` makes one"
            if not root.is_dir():
                fault, hint = f"there is no folder {named}", f"name the folder that contains {SETTINGS_NAME}"
                with suppress(RootNotFoundError):
                    near = locate_each(None, {}, cwd)[0].root
            if near is not None:
                shown = str(near) if Path(named).is_absolute() else os.path.relpath(near, cwd.resolve())
                hint = f"did you mean `--root {shell_word(shown)}`?"
            raise RootNotFoundError(f"{fault}; {hint}")
        return (located(root, "--root" if option else "MDMEM_ROOT"),)
    for folder in (cwd, *cwd.parents):
        if _has_settings(folder):
            return (located(folder, f"nearest {SETTINGS_NAME} above the working folder"),)
    try:
        repository = find_repository(cwd)
    except GitError as error:
        raise RootNotFoundError(f"no memory was found here, because git failed: {error}") from error
    tracked = list_tracked_named(repository, SETTINGS_NAME) if repository is not None else ()
    if repository is None or not tracked:
        raise RootNotFoundError(f"no memory here: no {SETTINGS_NAME} in {cwd} or above; {_way_to_one(cwd, repository)}")
    several = len(tracked) > 1
    why = "one of several in the repository" if several else f"the repository's only {SETTINGS_NAME}"
    folders = sorted((repository.top / path).parent for path in tracked)
    return tuple(Location(one.resolve(), why, repository, is_one_of_several=several) for one in folders)


def _memory_near(folder: Path) -> Path | None:
    """Return the nearest memory that contains a folder, or one that is at most two levels below it in a repository."""
    with suppress(OSError, GitError):
        # Do not search deeper, since ignored folders may have a hundred thousand files. Outside git, a folder such as
        # /tmp may contain the memories of strangers.
        depths = ("*", "*/*") if find_repository(folder) is not None else ("memory",)
        below = (path.parent for depth in depths for path in sorted(folder.glob(f"{depth}/{SETTINGS_NAME}")))
        return next(chain(filter(_has_settings, (folder, *folder.parents)), below), None)
    return None


def _way_to_one(cwd: Path, repository: Repository | None) -> str:
    """Return the hint for a folder without a memory, which mentions one that git does not list."""
    if repository is None:
        folder = next((one / "memory" for one in (cwd, *cwd.parents) if _has_settings(one / "memory")), None)
        if folder is not None:
            shown = os.path.relpath(folder, cwd)
            more = ", or type `git init`" if folder.parent == cwd else ""
            return f"there is one in {shown}/: add `--root {shown}`{more}"
    elif (folder := _memory_near(repository.top)) is not None:
        with suppress(GitError):
            shown, within = folder.relative_to(repository.top).as_posix(), find_repository(folder)
            if within is not None and within.top.resolve() != repository.top.resolve():
                return f"the repository within this one, in {shown}, has one: choose it with --root {shown}"
            return f"git ignores the one in {shown}: take it out of .gitignore, or choose it with --root"
    return "`mdmem init` creates one, --root chooses one"


def _has_settings(folder: Path) -> bool | None:
    """Return whether a folder has a settings file; None if the permissions forbid to look."""
    try:
        return S_ISREG((folder / SETTINGS_NAME).stat().st_mode)
    except PermissionError:
        return None
    except OSError:
        return False


def located(root: Path, why: str) -> Location:
    """Return the location of a folder; if git fails, it has no repository, and its files can still be read."""
    root = root.resolve()
    try:
        repository = find_repository(root)
    except GitError as error:
        return Location(root, why, None, str(error))
    if repository is not None and not root.is_relative_to(repository.top.resolve()):
        repository = None
    return Location(root, why, repository)


def place_to_write(folder: Path, base: Path, repository: Repository | None) -> Path:
    """Return the real path of a folder to write to; raises UsageError in git's folder, or outside the project."""
    real, project = folder.resolve(), base.resolve()
    if repository is not None:
        own = [repository.git_dir.resolve(), repository.common_dir.resolve()]
    else:
        # Inside a git directory or a bare repository, git finds no repository.
        own = [one for one in (real, *real.parents) if (one / "HEAD").is_file() and (one / "objects").is_dir()]
    below = real.relative_to(project) if real.is_relative_to(project) else real
    if any(map(real.is_relative_to, own)) or ".git" in map(str.casefold, below.parts):
        raise UsageError(f"{folder} is in git's own folder ({real}); choose another folder")
    if Path(os.path.normpath(folder.absolute())).is_relative_to(base) and not real.is_relative_to(project):
        raise UsageError(f"a link in {folder} leads out of the project, to {real}; choose another folder")
    return real


def roots_to_check(
    option: str | None, environment: Mapping[str, str], cwd: Path, *, paths: Sequence[str], is_hook: bool
) -> tuple[Location, ...]:
    """Return the roots that contain one of the paths, or else all. Only a hook without `--root` may find none."""
    try:
        found = locate_each(option, environment, cwd)
    except RootNotFoundError:
        if is_hook and option is None:
            return ()
        raise
    named = [(cwd / path).resolve() for path in paths]
    chosen = tuple(one for one in found if any(path.is_relative_to(one.root) for path in named))
    return chosen or found


class PushTarget(Struct, frozen=True):
    """A push in progress: the pushed commit, the remote, and the commit that the remote has (None for a new branch)."""

    revision: str
    remote: str
    old: str | None


def push_target(environment: Mapping[str, str]) -> PushTarget | None:
    """Return the push that pre-commit's variables describe, or None if the hook runs at another time."""
    remote, revision = environment.get("PRE_COMMIT_REMOTE_NAME"), environment.get("PRE_COMMIT_TO_REF")
    # For a branch without any pushed history, pre-commit sets no commit. It sets the remote only during a push.
    if not revision and not remote:
        return None
    return PushTarget(revision or "HEAD", remote or "origin", environment.get("PRE_COMMIT_FROM_REF"))


def snapshot_to_check(
    push: PushTarget | None, *, revision: str | None, staged: bool, merge_into: str | None
) -> Snapshot:
    """Return the snapshot that the options select; during a push, `--staged` selects the commit that is pushed."""
    if not staged:
        return Snapshot(revision, merge_into=merge_into)
    if revision is not None or merge_into is not None:
        raise UsageError("--staged reads git's index, --rev and --merge read commits; choose one")
    return Snapshot(push.revision) if push is not None else Snapshot(staged=True)


def concerns_staged(location: Location, environment: Mapping[str, str], cwd: Path) -> bool:
    """Return whether the staged changes include a file of the root; true if nothing is staged at all."""
    repository = location.repository
    if repository is None:
        return True
    changed = list_changed_in_index(with_hook_index(repository, environment, cwd))
    under = location.prefix
    return not changed or any(path.startswith(under) for path in changed)
