"""The branch at hand moved to another commit, with its files, while nobody commits."""

from __future__ import annotations

import os
import re
import shutil
from contextlib import suppress
from pathlib import Path

from mdmem.errors import GitError, UsageError
from mdmem.gitrepo.process import Repository, run
from mdmem.gitrepo.turns import LockHeldError, in_turn
from mdmem.own_folder import make_folder


def move_branch(repository: Repository, ref: str, old: str, new: str, *, wait: float = 10.0) -> bool:
    """Move the branch that is checked out from one commit to another and say whether it still was at the first.

    Files that are changed and not committed stay as they are, and so does what is staged. Raises UsageError where the
    new commit has another version of such a file; then nothing is moved. Raises GitLockedError after `wait` seconds.
    """
    return in_turn(repository, lambda: _move(repository, ref, old, new), wait=wait)


def _move(repository: Repository, ref: str, old: str, new: str) -> bool:
    # Whoever holds it commits and stages alone: a commit made in between would be lost, or undo what others did.
    lock = repository.git_dir / "index.lock"
    try:
        os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    except FileExistsError as error:
        raise LockHeldError(str(lock)) from error
    copy = repository.git_dir / "mdmem" / "sync" / "index"
    try:
        make_folder(copy.parent)
        shutil.copy2(repository.git_dir / "index", copy)
        if _commit_of(repository, ref) != old:
            return False
        _change_files(repository, copy, old, new)
        try:
            run(repository.top, "update-ref", "-m", "mdmem sync", ref, new, old)
        except GitError:
            _change_files(repository, copy, new, old)
            return False
        copy.replace(repository.git_dir / "index")
        return True
    finally:
        for path in (copy, lock):
            with suppress(OSError):
                path.unlink()


def _commit_of(repository: Repository, ref: str) -> str:
    return run(repository.top, "rev-parse", "--verify", "--quiet", ref, ok=(0, 1)).decode().strip()


_NAMED = re.compile(r"Entry '(.+?)'|file '(.+?)'")


def _change_files(repository: Repository, index: Path, old: str, new: str) -> None:
    # A file that was only touched looks changed until git has compared it.
    run(repository.top, "update-index", "-q", "--refresh", index=index, ok=(0, 1))
    try:
        run(repository.top, "read-tree", "-m", "-u", old, new, index=index)
    except GitError as error:
        named = _NAMED.search(str(error))
        if named is None:
            raise
        path = named[1] or named[2]
        hint = "commit it or put it aside, then sync again"
        raise UsageError(f"`{path}` is not committed here, and others changed it, too; {hint}") from error
