"""Which repository a folder lies in: looked for by ourselves, and only then spoken to.

git takes any folder that holds `HEAD`, `objects` and `refs` for a git directory, and obeys the settings in it; all of
that can be tracked as ordinary files. Here only what is called `.git` counts, which git lets nobody track.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from mdmem.errors import GitError
from mdmem.store.git.errors import DubiousOwnershipError, ForeignGitDirectoryError
from mdmem.store.git.process import Repository, pathspec, run


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
