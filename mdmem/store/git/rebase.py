"""Commits put on top of others beside the work tree, and the branch moved to the result."""

from __future__ import annotations

import os
import re
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Self

from msgspec import Struct

from mdmem.disk import make_folder, read_regular
from mdmem.errors import GitError, UsageError
from mdmem.store.git.fetch import talk, words_of
from mdmem.store.git.locks import LockHeldError, in_turn
from mdmem.store.git.process import Repository, records, run


class RebaseResult(Struct, frozen=True):
    """The last of the commits as they are on top of others, or the paths, from the top, that git cannot merge."""

    commit: str
    conflicts: tuple[str, ...] = ()


class SideTree:
    """A work tree beside the one at hand, without a file, in which commits are put on top of others.

    It is made for the first rebase and taken away on leaving; one at a time.
    """

    def __init__(self, repository: Repository) -> None:
        """Take the repository; nothing is made yet."""
        self._repository = repository
        self._folder = repository.git_dir / "mdmem" / "sync" / "tree"
        self._is_made = False

    def __enter__(self) -> Self:
        """Take away what a process that was killed left behind."""
        self._remove()
        return self

    def __exit__(self, *_: object) -> None:
        """Take the work tree away."""
        if self._is_made:
            self._remove()

    def rebase(self, commit: str, onto: str) -> RebaseResult:
        """Return what a rebase of a commit gives; the branch, the index and the files at hand stay as they are.

        Merge drivers, hooks and signing work as in any rebase. Raises GitError where git does not begin or end it.
        """
        top = self._repository.top
        has_merges = bool(run(top, "rev-list", "--merges", "--max-count=1", f"{onto}..{commit}").strip())
        folder = self._at(commit)
        options = ("--quiet", "--merge", "--empty=drop", *(("--rebase-merges",) if has_merges else ()))
        done = talk(folder, *_SETTINGS, "rebase", *options, onto)
        if done.returncode == 0:
            return RebaseResult(self._commit())
        unmerged = {record.split("\t", 1)[1] for record in records(run(folder, "ls-files", "--unmerged", "-z"))}
        if not unmerged:
            raise GitError(f"git cannot rebase: {words_of(done)}")
        return RebaseResult(commit, tuple(sorted(unmerged)))

    def _at(self, commit: str) -> Path:
        """Return the folder, with a commit checked out."""
        folder = self._folder
        if not self._is_made:
            self._make(commit)
        elif self._commit() != commit:
            _must(folder, "update-ref", "--no-deref", "HEAD", commit)
            _must(folder, *_SPARSE, "read-tree", "-m", "-u", "HEAD")
        return folder

    def _make(self, commit: str) -> None:
        folder = self._folder
        make_folder(folder.parent)
        self._is_made = True
        _must(
            self._repository.top, "worktree", "add", "--quiet", "--no-checkout", "--detach", "--", str(folder), commit
        )
        info = self._own() / "info"
        info.mkdir(exist_ok=True)
        (info / "sparse-checkout").write_bytes(b"!/*\n")
        _must(folder, *_SPARSE, "read-tree", "-m", "-u", "HEAD")

    def _own(self) -> Path:
        """Return the folder in which git keeps what it knows of the work tree."""
        said = read_regular(self._folder / ".git").removeprefix(b"gitdir: ").removesuffix(b"\n")
        return self._folder / os.fsdecode(said)

    def _commit(self) -> str:
        return read_regular(self._own() / "HEAD").decode("ascii").strip()

    def _remove(self) -> None:
        # `git worktree remove` looks for changes first, and `prune` forgets other work trees, too.
        with suppress(OSError):
            own = self._own()
            if own.parent == self._repository.common_dir / "worktrees":
                shutil.rmtree(own, ignore_errors=True)
        if os.path.lexists(self._folder):
            shutil.rmtree(self._folder, ignore_errors=True)


# No file is written but those in conflict: a repository of code may be large, and its filters slow.
_SPARSE = ("-c", "core.sparseCheckout=true", "-c", "core.sparseCheckoutCone=false", "-c", "index.sparse=false")
_SETTINGS = (
    *_SPARSE,
    *("-c", "rebase.autoStash=false", "-c", "rebase.autoSquash=false", "-c", "rebase.updateRefs=false"),
    *("-c", "rebase.instructionFormat=", "-c", "core.editor=true", "-c", "sequence.editor=true"),
)


def _must(folder: Path, *arguments: str) -> None:
    done = talk(folder, *arguments)
    if done.returncode:
        raise GitError(f"git {next(one for one in arguments if one.isalpha())}: {words_of(done)}")


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
