"""Find the repository, its default branch and the stamp of its state.

git takes any folder that holds `HEAD`, `objects` and `refs` for a git directory, and obeys the settings in it; all of
that can be tracked as ordinary files. Here only what is called `.git` counts, which git lets nobody track.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from time import time_ns

from msgspec import Struct

from mdmem.disk import RACY_NS
from mdmem.errors import GitError
from mdmem.store.git.process import DubiousOwnershipError, ForeignGitDirectoryError, Repository, pathspec, records, run


def find_repository(folder: Path) -> Repository | None:
    """Return the repository that a folder lies in, or None; raises GitError where git refuses to say."""
    place = folder
    # git cannot start in a folder that may not be entered.
    while not os.access(place, os.X_OK) or not place.is_dir():
        place = place.parent
    place = place.resolve()
    for top in _work_trees(place):
        try:
            found = _repository_of(top)
        except GitError as error:
            words = str(error)
            # As git does, go on above a folder `.git` that is no git directory; a file of that name is the end.
            if any(said in words for said in _NO_REPOSITORY) and (top / ".git").is_dir():
                continue
            if any(said in words for said in (*_NO_REPOSITORY, "must be run in a work tree", "not installed")):
                return None
            raise _of_ownership(error, top) from error
        return None if found is None or place.is_relative_to(found.git_dir) else found
    return None


_NO_REPOSITORY = ("not a git repository", "cannot use bare repository")


def is_brought_along(folder: Path) -> bool:
    """Say whether a folder, or anything below it, is in the work tree of a repository that tracks it, or may do so.

    Where git does not answer, it may.
    """
    folder = folder.resolve()
    outer = next(_work_trees(folder), None)
    if outer is None or folder.is_relative_to(outer / ".git"):
        return False
    try:
        return bool(run(outer, "ls-files", "-z", "--", pathspec(folder.relative_to(outer).as_posix())))
    except GitError as error:
        # `proj/.git` names `proj/.bare`, which has no work tree, and in which those of its worktrees lie.
        return "must be run in a work tree" not in str(error)


def _work_trees(place: Path) -> Iterator[Path]:
    """Yield the folders, from one upwards, that hold a `.git`; as git does, stop at ceilings and other devices."""
    named = os.environ.get("GIT_CEILING_DIRECTORIES", "").split(os.pathsep)
    ceilings = {os.path.realpath(path) for path in named if Path(path).is_absolute()}
    device = None
    for folder in (place, *place.parents):
        try:
            here = folder.stat().st_dev
        except OSError:
            continue
        if device is not None and (str(folder) in ceilings or here != device):
            return
        device = here
        entry = folder / ".git"
        if entry.is_dir() or entry.is_file():
            yield folder


def _repository_of(top: Path) -> Repository | None:
    """Return the repository whose top a folder is as git tells of it; None where its settings name another top.

    Raises GitError.
    """
    # Above the top nothing is looked for, and beside its `.git` nothing counts.
    variables = {"GIT_CEILING_DIRECTORIES": str(top.parent)}
    printed = run(top, "rev-parse", "--show-toplevel", "--absolute-git-dir", "--git-common-dir", variables=variables)
    shown, git_dir, common = printed.decode("utf-8", "surrogateescape").split("\n")[:3]
    # Every question is asked in the top: there another repository, or none, would answer.
    if not Path(shown).samefile(top):
        return None
    _refuse_foreign(top, Path(git_dir).resolve())
    return Repository(Path(shown), Path(git_dir), (top / common).resolve())


def _refuse_foreign(top: Path, git_dir: Path) -> None:
    """Raise ForeignGitDirectoryError where the file or link `.git` leads to what a commit may have brought along.

    A worktree's, a submodule's and a separate git directory lie outside the work tree, and no repository tracks them.
    """
    if git_dir == top / ".git":
        return
    if git_dir.is_relative_to(top) or is_brought_along(git_dir):
        raise ForeignGitDirectoryError(top / ".git", git_dir)


def _of_ownership(error: GitError, place: Path) -> GitError:
    """Return what git said about a repository of another owner with the command that answers it, other errors as is."""
    words = str(error).removeprefix("git rev-parse: ")
    if "dubious ownership" not in words and "unsafe repository" not in words:
        return error
    named = re.search(r"repository (?:at )?\(?'(.+?)'(?: is owned|$)", words)
    return DubiousOwnershipError(words, shlex.quote(named[1] if named else str(place)))


SETTING = "mdmem.defaultBranch"
_BRANCHES = "refs/heads"
_USUAL = ("main", "master", "trunk")
_KEYS = (r"mdmem\.defaultbranch", r"init\.defaultbranch", r"checkout\.defaultremote", r"remote\..*\.(url|fetch)")
_READ = rf"^({'|'.join(_KEYS)})$"


class BranchRef(Struct, frozen=True):
    """A ref: the ref that it points to, empty where it names a commit itself, and whether it is checked out here."""

    points_to: str
    commit: str
    is_here: bool


class DefaultBranch(Struct, frozen=True):
    """The default branch as this repository knows it: `ref` is what was read, the branch or a remote's copy of it.

    `is_here` says that it is checked out in this work tree. `at_remote` is the commit of the remote's copy, None where
    it has none.
    """

    name: str
    ref: str
    commit: str
    is_here: bool = False
    at_remote: str | None = None


def find_default_branch(repository: Repository) -> DefaultBranch | None:
    """Return the default branch, or None where nothing tells which it is.

    In this order: git's setting `mdmem.defaultBranch`, what the remote's HEAD names, git's `init.defaultBranch`,
    `main`, `master`, `trunk`, and in a repository without a remote its only branch. Of the branch and the remote's
    copy the one that is checked out counts, else the one that has all of the other, else the remote's.
    """
    stated = _settings(repository)
    remote = _remote(stated)
    names = [stated[key] for key in (SETTING.lower(), "init.defaultbranch") if key in stated]
    refs = _refs(repository, _wanted([*names, *_USUAL], remote))
    head = refs.get(f"refs/remotes/{remote}/HEAD")
    if head is not None and head.points_to:
        named = head.points_to.removeprefix(f"refs/remotes/{remote}/")
        if named not in (*names, *_USUAL):
            refs |= _refs(repository, _wanted([named], remote))
        names.insert(1 if SETTING.lower() in stated else 0, named)
    for name in (*names, *_USUAL):
        found = _chosen(
            repository, name, refs.get(f"refs/heads/{name}"), refs.get(f"refs/remotes/{remote}/{name}"), remote
        )
        if found is not None:
            return found
    return None if remote else _only_branch(repository)


def _settings(repository: Repository) -> dict[str, str]:
    """Return git's settings by key, in small letters but for the names of remotes; the last value of a key counts."""
    printed = run(repository.top, "config", "-z", "--get-regexp", _READ, ok=(0, 1))
    pairs = (record.partition("\n") for record in records(printed))
    return {key: value for key, _, value in pairs}


def _remote(stated: Mapping[str, str]) -> str:
    """Return the remote that the others work with; empty where there is none, or several and none is preferred."""
    names = {key.removeprefix("remote.").rpartition(".")[0] for key in stated if key.startswith("remote.")}
    preferred = stated.get("checkout.defaultremote", "origin")
    for name in (preferred, "origin"):
        if name in names:
            return name
    return names.pop() if len(names) == 1 else ""


def _wanted(names: Iterable[str], remote: str) -> list[str]:
    found = [f"refs/heads/{name}" for name in names]
    if remote:
        found += [f"refs/remotes/{remote}/{name}" for name in ("HEAD", *names)]
    return found


def _refs(repository: Repository, names: Iterable[str]) -> dict[str, BranchRef]:
    """Return those of some refs that exist."""
    form = "--format=%(refname)%00%(symref)%00%(objectname)%00%(HEAD)"
    # Each of them also means what lies below a folder of the name, which is a branch of another name.
    printed = run(repository.top, "for-each-ref", form, *dict.fromkeys(names))
    rows = (line.split("\0") for line in printed.decode("utf-8", "surrogateescape").splitlines())
    return {name: BranchRef(target, commit, mark == "*") for name, target, commit, mark in rows}


def _chosen(
    repository: Repository, name: str, own: BranchRef | None, copy: BranchRef | None, remote: str
) -> DefaultBranch | None:
    if own is not None and (own.is_here or copy is None or own.commit == copy.commit):
        return DefaultBranch(name, name, own.commit, own.is_here, copy.commit if copy is not None else None)
    if copy is None:
        return None
    if own is not None and is_ancestor(repository, copy.commit, own.commit):
        return DefaultBranch(name, name, own.commit, at_remote=copy.commit)
    return DefaultBranch(name, f"{remote}/{name}", copy.commit, at_remote=copy.commit)


def _only_branch(repository: Repository) -> DefaultBranch | None:
    refs = _refs(repository, [_BRANCHES])
    if len(refs) != 1:
        return None
    [(name, ref)] = refs.items()
    name = name.removeprefix("refs/heads/")
    return DefaultBranch(name, name, ref.commit, ref.is_here)


def is_ancestor(repository: Repository, commit: str, of: str) -> bool:
    """Say whether a commit is another one or stands in its history."""
    # git ends with 1 for no, and prints nothing either way.
    counted = run(repository.top, "rev-list", "--max-count=1", commit, f"^{of}", "--")
    return not counted.strip()


Stamp = tuple[object, ...]
# What tells which commits there are, and how git compares the disk with them.
_OWN = ("index", "reftable/tables.list")
_SHARED = ("packed-refs", "shallow", "info/attributes", "reftable/tables.list")
_REFS = ("refs/heads", "refs/remotes", "refs/replace")
_REF, _INCLUDE = b"ref: ", b"[include"


def stamp_of(repository: Repository) -> Stamp | None:
    """Return what is another value once HEAD, a branch, the index or git's settings changed.

    Of a file that changed a moment ago it holds the content. None where that cannot be read, or settings are taken in
    from others.
    """
    settings = [_content(path) for path in settings_files(repository, os.environ)]
    if any(map(_includes, settings)):
        return None
    head = _content(repository.git_dir / "HEAD")
    named = head.removeprefix(_REF).strip() if head is not None and head.startswith(_REF) else b""
    tip = _content(repository.common_dir / os.fsdecode(named)) if named else None
    stats = dict(stats_of(_files(repository)))
    limit = time_ns() - RACY_NS
    young = {path: _content(Path(path)) for path, stat in stats.items() if max(stat[2:]) > limit}
    return None if None in young.values() else (head, tip, *settings, *stats.items(), *young.items())


def _includes(settings: bytes | None) -> bool:
    return settings is not None and _INCLUDE in settings.lower()


def settings_files(repository: Repository, environment: Mapping[str, str]) -> Iterator[Path]:
    """Yield the files that git reads its settings from, there or not."""
    yield from (repository.common_dir / "config", repository.git_dir / "config.worktree")
    # That of pathlib raises where nothing tells whose home it is.
    home = environment.get("HOME") or os.path.expanduser("~")  # noqa: PTH111
    folder = environment.get("XDG_CONFIG_HOME") or f"{home}/.config"
    stated = environment.get("GIT_CONFIG_GLOBAL")
    yield from (Path(folder, "git/config"), Path(home, ".gitconfig")) if stated is None else (Path(stated),)
    yield Path(environment.get("GIT_CONFIG_SYSTEM", "/etc/gitconfig"))


def stats_of(paths: Iterable[str | Path]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield each file that is there with its number, its size and when its content, or anything of it, last changed."""
    for path in paths:
        try:
            found = os.stat(path)  # noqa: PTH116  # there may be many
        except OSError:
            continue
        yield str(path), (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _files(repository: Repository) -> Iterator[str | Path]:
    yield from (repository.git_dir / name for name in _OWN)
    yield from (repository.common_dir / name for name in _SHARED)
    yield repository.top / ".gitattributes"
    yield from _loose_refs(repository)


def _loose_refs(repository: Repository) -> Iterator[str]:
    for name in _REFS:
        for folder, _, files in os.walk(repository.common_dir / name):
            yield from (f"{folder}/{file}" for file in files)


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None
