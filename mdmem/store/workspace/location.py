"""Find the root of the memory, and the state of it that is read."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from stat import S_ISREG

from msgspec import Struct
from msgspec.structs import replace

from mdmem import SETTINGS_NAME
from mdmem.errors import GitError, RootNotFoundError, UsageError
from mdmem.store.git.discovery import SETTING, find_default_branch, find_repository
from mdmem.store.git.merge import is_shallow
from mdmem.store.git.process import UNSHALLOW, Repository, UnknownRevisionError, resolve, staged_index
from mdmem.store.git.status import commit_at, first_day, list_changed_in_index, list_tracked_named


class Snapshot(Struct, frozen=True):
    """The state of the files that is read: the working tree, git's index, a revision, or a merge that is not made yet.

    With `merge_into` it is the result of merging the revision, by default HEAD, into that one. `name` is the user's
    name of the revision, `is_dated` whether that was a date, `remarks` are shown with answers.
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


# Memories that an error message lists.
_LISTED = 5


class SeveralRootsError(UsageError):
    """The repository has several roots and nothing says which one is meant."""


class NoMemoryError(RootNotFoundError):
    """There is no memory here. The message is computed only when it is shown, since it searches other places."""

    def __init__(self, cwd: Path, repository: Repository | None) -> None:
        """Take the working folder and its repository."""
        super().__init__(cwd)
        self._cwd, self._repository = cwd, repository

    def __str__(self) -> str:
        """Return the message for the user."""
        elsewhere = ""
        with suppress(GitError, OSError):
            elsewhere = next(_memories_elsewhere(self._repository), "") if self._repository is not None else ""
        hint = elsewhere or "`mdmem init` makes one, --root names one"
        return f"no memory here: no {SETTINGS_NAME} in {self._cwd} or above; {hint}"


def _memories_elsewhere(repository: Repository) -> Iterator[str]:
    """Yield the places of memories that git does not list here, with the command to use each."""
    # Two levels, since ignored folders may have a hundred thousand files.
    found = (path for depth in ("*", "*/*") for path in repository.top.glob(f"{depth}/{SETTINGS_NAME}"))
    for folder in (path.parent for path in found):
        shown, within = folder.relative_to(repository.top).as_posix(), find_repository(folder)
        if within is not None and within.top.resolve() != repository.top.resolve():
            yield f"the repository within this one, in {shown} has one: choose it with --root {shown}"
        yield f"git ignores the one in {shown}: take it out of .gitignore, or choose it with --root"


class Location(Struct, frozen=True):
    """One root: its folder, why it was chosen, its repository (None outside git), and git's error if it refused.

    `source` is the source of answers without an index, `typed` the form of a command about this root.
    """

    root: Path
    why: str
    repository: Repository | None = None
    git_fault: str | None = None
    source: str = "scan"
    typed: str = "mdmem {}"

    def command(self, words: str) -> str:
        """Return the command to type for another question about this root."""
        return self.typed.replace("{}", words)

    @property
    def under(self) -> str:
        """Return the root's path from the top of the repository, empty for the top."""
        if self.repository is None:
            return ""
        relative = self.root.relative_to(self.repository.top).as_posix()
        return "" if relative == "." else relative

    @property
    def prefix(self) -> str:
        """Return `under` with a slash at its end, empty for the top: the start of each path in the repository."""
        return f"{self.under}/" if self.under else ""

    def get_repository(self) -> Repository:
        """Return the repository; raises GitError if there is none."""
        if self.repository is None:
            raise GitError(self.git_fault or f"{self.root} is in no git repository")
        return self.repository

    def require_root(self) -> None:
        """Raise RootNotFoundError where the folder is gone by now."""
        if not self.root.is_dir():
            raise RootNotFoundError(f"the memory's folder {self.root} is gone; nothing was read or written")

    @property
    def base(self) -> Path:
        """Return the folder that code paths and fallback documents are relative to."""
        return self.repository.top if self.repository is not None else self.root.parent


def locate(given: str | None, environment: Mapping[str, str], cwd: Path, files: Iterable[str] = ()) -> Location:
    """Return the given root; or of several in a repository the nearest to the working folder, else to all files.

    The nearest is the one whose parent is the working folder or a file's, or the first above it. Files are relative to
    the working folder. Raises RootNotFoundError, and SeveralRootsError if none is nearest.
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
        roots = [location.under or "." for location in found]
        more = f" and {len(roots) - _LISTED} more" if len(roots) > _LISTED else ""
        listed = f"{', '.join(roots[:_LISTED])}{more}"
        raise SeveralRootsError(f"this repository has {len(roots)} memories: {listed}; choose one with --root")
    return replace(near, why=f"nearest of the {len(found)} memories of the repository{to}")


def _nearest(found: Sequence[Location], path: Path) -> Location | None:
    for folder in (path.resolve(), *path.resolve().parents):
        here = [location for location in found if location.root.parent == folder]
        if here:
            return here[0] if len(here) == 1 else None
    return None


def locate_each(given: str | None, environment: Mapping[str, str], cwd: Path) -> tuple[Location, ...]:
    """Return the root that is meant, or all roots of a repository where the working folder is in none.

    In this order: the option, `MDMEM_ROOT`, the nearest folder above with `mdmem.toml`, every tracked `mdmem.toml` of
    the repository. Raises RootNotFoundError.
    """
    named = given or environment.get("MDMEM_ROOT")
    if named:
        root = (cwd / named).resolve()
        root = root.parent if root.name == SETTINGS_NAME else root
        if not root.is_dir():
            raise RootNotFoundError(f"there is no folder {named}; name the folder that contains {SETTINGS_NAME}")
        if _has_settings(root) is False:
            hint = f"it has no {SETTINGS_NAME}; `mdmem init {named}` makes one"
            raise RootNotFoundError(f"{named} is no memory: {hint}")
        return (located(root, "--root" if given else "MDMEM_ROOT"),)
    for folder in (cwd, *cwd.parents):
        if _has_settings(folder):
            return (located(folder, f"nearest {SETTINGS_NAME} above the working folder"),)
    try:
        repository = find_repository(cwd)
    except GitError as error:
        raise RootNotFoundError(f"no memory is found here, since git failed: {error}") from error
    tracked = list_tracked_named(repository, SETTINGS_NAME) if repository is not None else ()
    if repository is None or not tracked:
        raise NoMemoryError(cwd, repository)
    why = f"the repository's only {SETTINGS_NAME}" if len(tracked) == 1 else "one of several in the repository"
    folders = sorted((repository.top / path).parent for path in tracked)
    return tuple(Location(folder.resolve(), why, repository) for folder in folders)


def _has_settings(folder: Path) -> bool | None:
    """Return whether a folder has a settings file; None if it may not be read."""
    try:
        return S_ISREG((folder / SETTINGS_NAME).stat().st_mode)
    except PermissionError:
        return None
    except OSError:
        return False


def located(root: Path, why: str) -> Location:
    """Return a folder's location; if git refuses to answer, the files can be read without it."""
    root = root.resolve()
    try:
        repository = find_repository(root)
    except GitError as error:
        return Location(root, why, None, str(error))
    if repository is not None and not root.is_relative_to(repository.top.resolve()):
        repository = None
    return Location(root, why, repository)


# Only the long form: eight digits alone may be the beginning of a commit's name.
_DATE = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?(?:\.\d+)?)(Z|[+-]\d\d:?\d\d)?)?", re.IGNORECASE)
_AGO = re.compile(r"(today)|(yesterday)|(\d{1,4}) (day|week)s? ago", re.IGNORECASE)


def snapshot_at(location: Location, name: str, *, today: date) -> tuple[Snapshot, date]:
    """Return the snapshot of a revision or a date, and the day to judge by.

    A name of a revision is one, even where it looks like a date; then the day stays today. A date means the last commit
    by then on the first-parent line of the default branch. A day lasts until its end in UTC, and a time without an
    offset is UTC, so that a question has one answer everywhere; it is judged by the day that was written.
    Raises UnknownRevisionError, UsageError and GitError.
    """
    repository = location.get_repository()
    is_date = _DATE.fullmatch(name) is not None or _AGO.fullmatch(name) is not None
    try:
        commit = resolve(repository, name)
    except UnknownRevisionError:
        if not is_date:
            raise
        return _at_date(repository, _resolve_relative(name, today), today)
    remarks = (f"`{name}` is a branch or tag here, so it is not read as a date",) if is_date else ()
    return Snapshot(commit, name=name, remarks=remarks), today


def _resolve_relative(name: str, today: date) -> str:
    """Return the date of `yesterday` or `2 weeks ago`; another text as it is."""
    found = _AGO.fullmatch(name.lower())
    if found is None:
        return name
    _, yesterday, number, unit = found.groups()
    days = int(bool(yesterday)) if number is None else int(number) * (7 if unit == "week" else 1)
    return str(today - timedelta(days=days))


def _at_date(repository: Repository, name: str, today: date) -> tuple[Snapshot, date]:
    try:
        instant = datetime.fromisoformat(name.upper())
    except ValueError as error:
        raise UsageError(f"there is no time `{name}`; write a day as 2026-01-31, or 2026-01-31T12:00Z") from error
    day = instant.date()
    if len(name) == len("2026-01-31"):
        # The first moment of the next day may be beyond the last year that Python has.
        instant = datetime.combine(day, time(23, 59, 59))
    branch = find_default_branch(repository)
    if branch is None:
        why = f"the default branch is unknown; `git config {SETTING} NAME` sets it"
        raise GitError(f"the entries of {name} are unknown: {why}")
    found = commit_at(repository, branch.commit, instant if instant.tzinfo else instant.replace(tzinfo=UTC))
    if found is None:
        since = first_day(repository, branch.commit)
        if is_shallow(repository):
            cut = f"the history of {branch.ref} is cut off before {name}, it begins on {since}"
            raise GitError(f"{cut}; {UNSHALLOW}")
        raise UsageError(f"nothing was committed on {branch.ref} by {name}; its history begins on {since}")
    commit, when = found
    remarks = [f"as of {name}: commit {commit[:10]} of {branch.ref}, from {when} UTC"]
    if day > today:
        remarks.append(f"{name} is in the future: this is the state of today, judged by that day")
    return Snapshot(commit, name=name, is_dated=True, remarks=tuple(remarks)), day


def place_to_write(folder: Path, base: Path, repository: Repository | None) -> Path:
    """Return the real path of a folder to write to.

    Raises UsageError for a folder of git's own, and for one in the project that a link leads out of it.
    """
    real, project = folder.resolve(), base.resolve()
    own = (repository.git_dir.resolve(), repository.common_dir.resolve()) if repository is not None else ()
    below = real.relative_to(project) if real.is_relative_to(project) else real
    if any(map(real.is_relative_to, own)) or ".git" in map(str.casefold, below.parts):
        raise UsageError(f"{folder} is in git's own folder, {real}; choose another folder")
    if Path(os.path.normpath(folder.absolute())).is_relative_to(base) and not real.is_relative_to(project):
        raise UsageError(f"{folder} is behind a link that leads out of the project, to {real}; choose another folder")
    return real


def roots_to_check(
    given: str | None, environment: Mapping[str, str], cwd: Path, *, paths: Sequence[str], is_hook: bool
) -> tuple[Location, ...]:
    """Return the root that is meant, or every root of the repository, or those of them that contain a path.

    A hook also runs on branches without a memory, where it has no root; for others that is an error.
    """
    try:
        found = locate_each(given, environment, cwd)
    except RootNotFoundError:
        if is_hook and given is None:
            return ()
        raise
    named = [(cwd / path).resolve() for path in paths]
    chosen = tuple(one for one in found if any(path.is_relative_to(one.root) for path in named))
    return chosen or found


class PushTarget(Struct, frozen=True):
    """A push in progress, from the variables of pre-commit or our own hook: the commit, and its remote and branch.

    `old` is the commit that the remote has, None for a new branch.
    """

    revision: str
    remote: str
    old: str | None


def push_target(environment: Mapping[str, str]) -> PushTarget | None:
    """Return the current push, None in other hooks."""
    remote, revision = environment.get("PRE_COMMIT_REMOTE_NAME"), environment.get("PRE_COMMIT_TO_REF")
    # pre-commit states no commit for a branch whose whole history is new, and a remote only for a push.
    if not revision and not remote:
        return None
    return PushTarget(revision or "HEAD", remote or "origin", environment.get("PRE_COMMIT_FROM_REF"))


def snapshot_to_check(
    push: PushTarget | None, *, revision: str | None, staged: bool, merge_into: str | None
) -> Snapshot:
    """Return the snapshot of the options; --staged reads what is pushed during a push. Raises UsageError."""
    if not staged:
        return Snapshot(revision, merge_into=merge_into)
    if revision is not None or merge_into is not None:
        raise UsageError("--staged reads git's index, --rev and --merge read commits; choose one")
    return Snapshot(push.revision) if push is not None else Snapshot(staged=True)


def concerns_staged(location: Location, environment: Mapping[str, str], cwd: Path) -> bool:
    """Return whether the current commit changes a root; if nothing is staged, everything is meant."""
    repository = location.repository
    if repository is None:
        return True
    changed = list_changed_in_index(repository, index=staged_index(repository, environment, cwd))
    under = location.prefix
    return not changed or any(path.startswith(under) for path in changed)
