"""Commits put on top of others beside the work tree, so that nothing of it changes before the result is known."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from mdmem.errors import GitError
from mdmem.gitrepo.process import Repository, records, run
from mdmem.gitrepo.talking import talk, words_of
from mdmem.own_folder import make_folder
from mdmem.regular_file import read_regular


@dataclass(frozen=True, slots=True)
class Rebased:
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

    def rebase(self, commit: str, onto: str) -> Rebased:
        """Return what a rebase of a commit gives; the branch, the index and the files at hand stay as they are.

        Merge drivers, hooks and signing work as in any rebase. Raises GitError where git does not begin or end it.
        """
        top = self._repository.top
        has_merges = bool(run(top, "rev-list", "--merges", "--max-count=1", f"{onto}..{commit}").strip())
        folder = self._at(commit)
        options = ("--quiet", "--merge", "--empty=drop", *(("--rebase-merges",) if has_merges else ()))
        done = talk(folder, *_SETTINGS, "rebase", *options, onto)
        if done.returncode == 0:
            return Rebased(self._commit())
        unmerged = {record.split("\t", 1)[1] for record in records(run(folder, "ls-files", "--unmerged", "-z"))}
        if not unmerged:
            raise GitError(f"git cannot rebase: {words_of(done)}")
        return Rebased(commit, tuple(sorted(unmerged)))

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
