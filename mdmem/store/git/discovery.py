"""Find the repository of a folder and its default branch, and notice when its state changes.

git treats any folder that contains `HEAD`, `objects` and `refs` as a git directory, and obeys the settings in it. An
attacker could commit such a folder as ordinary files. mdmem therefore accepts only `.git`, which git never tracks.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from time import time_ns

from msgspec import Struct

from mdmem.disk import RACY_NS, read_regular
from mdmem.errors import GitError
from mdmem.store.git.merge import is_ancestor
from mdmem.store.git.process import Repository, pathspec, records, run


def find_repository(folder: Path) -> Repository | None:
    """Return the repository that contains a folder; None without one, in a git directory, or if git is not installed.

    Raises GitError if git fails, or if `.git` leads to a folder that a commit may have brought along.
    """
    place = folder
    # Go up to a folder that exists and may be entered, because git cannot start in any other.
    while not os.access(place, os.X_OK) or not place.is_dir():
        place = place.parent
    place = place.resolve()
    for top in _work_trees_above(place):
        # The ceiling keeps git from searching above the top.
        variables = {"GIT_CEILING_DIRECTORIES": str(top.parent)}
        asked = ("rev-parse", "--show-toplevel", "--absolute-git-dir", "--git-common-dir")
        try:
            printed = run(top, *asked, variables=variables)
        except GitError as error:
            words = str(error)
            is_no_repository = "not a git repository" in words or "cannot use bare repository" in words
            # Like git, continue above a folder `.git` that is no git directory, but stop at a file `.git`.
            if is_no_repository and (top / ".git").is_dir():
                continue
            if is_no_repository or "must be run in a work tree" in words or "not installed" in words:
                return None
            if "dubious ownership" not in words and "unsafe repository" not in words:
                raise
            hint = f"if you trust it, type `git config --global --add safe.directory {shlex.quote(str(top))}`"
            raise GitError(f"{words.removeprefix('git rev-parse: ')}; {hint}") from error
        shown, git_dir, common = printed.decode("utf-8", "surrogateescape").split("\n")[:3]
        real = Path(git_dir).resolve()
        # Later git commands run in the top, so the repository must be the one that git finds there.
        if not Path(shown).samefile(top) or place.is_relative_to(git_dir):
            return None
        # A commit may have brought along the folder that a file or link `.git` points to. The git directories of
        # worktrees and submodules are outside the work tree.
        if real != top / ".git" and (real.is_relative_to(top) or may_be_tracked(real)):
            where = f"{top / '.git'} leads to {real}, a folder inside the work tree"
            raise GitError(f"{where}; mdmem does not run git there")
        return Repository(Path(shown), Path(git_dir), (top / common).resolve())
    return None


def may_be_tracked(folder: Path) -> bool:
    """Return whether a repository tracks a folder or anything below it; also True if git fails."""
    folder = folder.resolve()
    outer = next(_work_trees_above(folder), None)
    if outer is None or folder.is_relative_to(outer / ".git"):
        return False
    try:
        return bool(run(outer, "ls-files", "-z", "--", pathspec(folder.relative_to(outer).as_posix())))
    except GitError as error:
        # `proj/.git` may point to the bare repository `proj/.bare`, whose worktrees are folders of `proj`.
        return "must be run in a work tree" not in str(error)


def _work_trees_above(place: Path) -> Iterator[Path]:
    """Yield the folders with a `.git` upwards, to `GIT_CEILING_DIRECTORIES` or another file system, like git."""
    stated = os.environ.get("GIT_CEILING_DIRECTORIES", "").split(os.pathsep)
    ceilings = {os.path.realpath(path) for path in stated if Path(path).is_absolute()}
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


SETTING = "mdmem.defaultBranch"
_KEYS = r"^(mdmem\.defaultbranch|init\.defaultbranch|checkout\.defaultremote|remote\..*\.(url|fetch))$"


class DefaultBranch(Struct, frozen=True):
    """The default branch of a repository.

    `ref` is the local branch, or the remote-tracking branch such as `origin/main`. `is_here` says whether the branch is
    checked out in this worktree. `at_remote` is the commit of the remote-tracking branch, or None without one.
    """

    name: str
    ref: str
    commit: str
    is_here: bool = False
    at_remote: str | None = None


def find_default_branch(repository: Repository) -> DefaultBranch | None:
    """Return the default branch, or None if it is unknown.

    The first of these names that exists is used: git's setting `mdmem.defaultBranch`, the remote's HEAD, git's
    `init.defaultBranch`, `main`, `master`, `trunk`. A repository without a remote and with only one branch uses that
    branch. Of a local and a remote-tracking branch, the local one is used if it is checked out or contains the other.
    """
    printed = repository.run("config", "-z", "--get-regexp", _KEYS, ok=(0, 1))
    # If a key has several values, git uses the last one.
    stated = {key: value for key, _, value in (record.partition("\n") for record in records(printed))}
    remotes = {key.removeprefix("remote.").rpartition(".")[0] for key in stated if key.startswith("remote.")}
    preferred = (stated.get("checkout.defaultremote", "origin"), "origin", *(remotes if len(remotes) == 1 else ()))
    remote = next((name for name in preferred if name in remotes), "")
    copies = f"refs/remotes/{remote}/"
    form = "--format=%(refname)%00%(symref)%00%(objectname)%00%(HEAD)"
    printed = repository.run("for-each-ref", form, "refs/heads/", *([copies] if remote else []))
    # Each line has a ref, the target of a symbolic ref, the commit, and a star if the ref is checked out here.
    rows = (line.split("\0") for line in printed.decode("utf-8", "surrogateescape").splitlines())
    refs = {name: fields for name, *fields in rows}
    at_head = refs.get(f"{copies}HEAD", [""])[0].removeprefix(copies)
    names = (stated.get(SETTING.lower()), at_head, stated.get("init.defaultbranch"), "main", "master", "trunk")
    for name in filter(None, names):
        _, copy, _ = refs.get(f"{copies}{name}", ("", None, ""))
        if f"refs/heads/{name}" in refs:
            _, commit, mark = refs[f"refs/heads/{name}"]
            if mark == "*" or copy is None or copy == commit or is_ancestor(repository, copy, commit):
                return DefaultBranch(name, name, commit, mark == "*", copy)
        if copy is not None:
            return DefaultBranch(name, f"{remote}/{name}", copy, at_remote=copy)
    if remote or len(refs) != 1:
        return None
    [(ref, (_, commit, mark))] = refs.items()
    name = ref.removeprefix("refs/heads/")
    return DefaultBranch(name, name, commit, mark == "*")


# The files in a git directory that determine the refs, the index and the configuration.
_OWN = ("HEAD", "index", "config.worktree", "reftable/tables.list")
_SHARED = ("config", "packed-refs", "shallow", "info/attributes", "reftable/tables.list")
_REFS = ("refs/heads", "refs/remotes", "refs/replace")


def stamp_of(repository: Repository) -> object:
    """Return a value that changes whenever HEAD, a ref, the index, git attributes or git's configuration change."""
    # No git process is started, because a server calls this function before each answer.
    paths = [*(repository.git_dir / name for name in _OWN), *(repository.common_dir / name for name in _SHARED)]
    paths.append(repository.top / ".gitattributes")
    for name in _REFS:
        for folder, _, files in os.walk(repository.common_dir / name):
            paths += (Path(folder, file) for file in files)
    recent, stamp = time_ns() - RACY_NS, list[object]()
    for path in paths:
        with suppress(OSError):
            stat = path.stat()
            stamp.append((str(path), stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns))
            # Two quick changes may leave the same mtime, so a file that just changed is compared by its content.
            if max(stat.st_mtime_ns, stat.st_ctime_ns) > recent:
                stamp.append(read_regular(path))
    return stamp
