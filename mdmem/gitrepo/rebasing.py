"""Commits put on top of others beside the work tree, so that nothing of it changes before the result is known."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from mdmem.errors import GitError
from mdmem.gitrepo.process import Repository, records, run
from mdmem.gitrepo.talking import talk, words_of


@dataclass(frozen=True, slots=True)
class Rebased:
    """The last of the commits as they are on top of others, or the paths, from the top, that git cannot merge."""

    commit: str
    conflicts: tuple[str, ...] = ()


def rebase_aside(repository: Repository, commit: str, onto: str) -> Rebased:
    """Return what a rebase of a commit gives; the branch, the index and the files stay as they are.

    Merge drivers, hooks and signing work as in any rebase. Raises GitError where git does not begin or end it.
    """
    has_merges = bool(run(repository.top, "rev-list", "--merges", "--max-count=1", f"{onto}..{commit}").strip())
    with _side_tree(repository, commit) as folder:
        options = ("--quiet", "--merge", "--empty=drop", *(("--rebase-merges",) if has_merges else ()))
        done = talk(folder, *_SETTINGS, "rebase", *options, onto)
        if done.returncode == 0:
            return Rebased(run(folder, "rev-parse", "HEAD").decode().strip())
        unmerged = {record.split("\t", 1)[1] for record in records(run(folder, "ls-files", "--unmerged", "-z"))}
        if not unmerged:
            raise GitError(f"git cannot rebase: {words_of(done)}")
        return Rebased(commit, tuple(sorted(unmerged)))


# No file is written but those in conflict: a repository of code may be large, and its filters slow.
_SPARSE = ("-c", "core.sparseCheckout=true", "-c", "core.sparseCheckoutCone=false", "-c", "index.sparse=false")
_SETTINGS = (
    *_SPARSE,
    *("-c", "rebase.autoStash=false", "-c", "rebase.autoSquash=false", "-c", "rebase.updateRefs=false"),
    *("-c", "rebase.instructionFormat=", "-c", "core.editor=true", "-c", "sequence.editor=true"),
)


@contextmanager
def _side_tree(repository: Repository, commit: str) -> Iterator[Path]:
    """Give a work tree of its own that has a commit checked out and no file written; one at a time."""
    folder = repository.git_dir / "mdmem" / "sync" / "tree"
    _remove(repository, folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        _must(repository.top, "worktree", "add", "--quiet", "--no-checkout", "--detach", str(folder), commit)
        own = run(folder, "rev-parse", "--absolute-git-dir").decode("utf-8", "surrogateescape").removesuffix("\n")
        info = Path(own) / "info"
        info.mkdir(exist_ok=True)
        (info / "sparse-checkout").write_bytes(b"!/*\n")
        _must(folder, *_SPARSE, "read-tree", "-m", "-u", "HEAD")
        yield folder
    finally:
        _remove(repository, folder)


def _remove(repository: Repository, folder: Path) -> None:
    """Remove the side tree, also one that a process which was killed left behind."""
    if not os.path.lexists(folder):
        return
    with suppress(GitError):
        run(repository.top, "worktree", "remove", "--force", "--force", str(folder), ok=(0, 128))
    shutil.rmtree(folder, ignore_errors=True)
    with suppress(GitError):
        run(repository.top, "worktree", "prune")


def _must(folder: Path, *arguments: str) -> None:
    done = talk(folder, *arguments)
    if done.returncode:
        raise GitError(f"git {next(one for one in arguments if one.isalpha())}: {words_of(done)}")
