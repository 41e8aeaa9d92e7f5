"""Bring local commits onto the upstream branch and publish them."""

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
from mdmem.store.git.commit import LockHeldError, in_turn
from mdmem.store.git.fetch import talk, words_of
from mdmem.store.git.merge import merge_base
from mdmem.store.git.process import Repository, pathspec, records, run


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
        folder = self._folder
        if not self._is_made:
            self._make(commit)
        elif self._commit() != commit:
            _must(folder, "update-ref", "--no-deref", "HEAD", commit)
            _must(folder, *_SPARSE, "read-tree", "-m", "-u", "HEAD")
        options = ("--quiet", "--merge", "--empty=drop", *(("--rebase-merges",) if has_merges else ()))
        done = talk(folder, *_SETTINGS, "rebase", *options, onto)
        if done.returncode == 0:
            return RebaseResult(self._commit())
        unmerged = {record.split("\t", 1)[1] for record in records(run(folder, "ls-files", "--unmerged", "-z"))}
        if not unmerged:
            raise GitError(f"git cannot rebase: {words_of(done)}")
        return RebaseResult(commit, tuple(sorted(unmerged)))

    def _make(self, commit: str) -> None:
        folder = self._folder
        make_folder(folder.parent)
        self._is_made = True
        add = ("worktree", "add", "--quiet", "--no-checkout", "--detach", "--")
        _must(self._repository.top, *add, str(folder), commit)
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
        if run(repository.top, "rev-parse", "--verify", "--quiet", ref, ok=(0, 1)).decode().strip() != old:
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


class Upstream(Struct, frozen=True):
    """A branch and what it follows: the remote, the branch's ref there, and the ref here that keeps its state."""

    branch: str
    remote: str
    ref: str
    tracking: str

    @property
    def own_ref(self) -> str:
        """Return the ref of the branch itself."""
        return f"refs/heads/{self.branch}"

    @property
    def name(self) -> str:
        """Return what people call it."""
        return self.tracking.removeprefix("refs/remotes/")


def find_upstream(repository: Repository) -> Upstream:
    """Return what the current branch follows; raises UsageError, with what to type, where it follows nothing."""
    head = run(repository.top, "symbolic-ref", "--quiet", "HEAD", ok=(0, 1)).decode("utf-8", "surrogateescape").strip()
    if not head:
        raise UsageError("no branch is checked out (detached HEAD); type `git switch BRANCH` first")
    branch = head.removeprefix("refs/heads/")
    form = "--format=%(refname)%00%(upstream)%00%(upstream:remotename)%00%(upstream:remoteref)"
    lines = run(repository.top, "for-each-ref", form, head).decode("utf-8", "surrogateescape").splitlines()
    # If the branch's name is a folder of other branches, they are listed, too.
    parts = next((line.split("\0") for line in lines if line.startswith(f"{head}\0")), None)
    if parts is None:
        raise UsageError(f"nothing is committed on `{branch}` yet; commit first")
    _, tracking, remote, ref = parts
    push = f"`git push -u origin {branch}`"
    if not tracking and not run(repository.top, "remote").strip():
        raise UsageError(f"`{branch}` has no remote repository; type `git remote add origin URL`, then {push}, once")
    if not tracking or not ref:
        raise UsageError(f"`{branch}` follows no branch of another repository; type {push} once")
    if remote == ".":
        raise UsageError(f"`{branch}` follows a branch of this repository; type {push} once")
    if ref != head:
        other = tracking.removeprefix("refs/remotes/")
        hint = f"to share it under its own name type `git push -u {remote} {branch}`"
        raise UsageError(f"`{branch}` follows `{other}`, a branch with another name; {hint}")
    return Upstream(branch, remote, ref, tracking)


def fetch_upstream(repository: Repository, upstream: Upstream) -> tuple[str, str, str]:
    """Fetch what others pushed and return our commit, theirs, and the one that both come from.

    Raises GitError, of which ShallowHistoryError and NoCommonAncestorError are two.
    """
    # Nobody should wait for the tidying that a fetch may set off.
    options = ("--no-auto-maintenance", "--quiet", "--no-recurse-submodules")
    done = talk(repository.top, "fetch", *options, "--", upstream.remote, f"+{upstream.ref}:{upstream.tracking}")
    if done.returncode:
        hint = f"`git fetch {upstream.remote}` shows more, and asks for a password if needed"
        raise GitError(f"`{upstream.remote}` cannot be asked: {words_of(done)}; {hint}")
    ours, theirs = run(repository.top, "rev-parse", upstream.own_ref, upstream.tracking).decode().split()
    bases = run(repository.top, "merge-base", ours, theirs, ok=(0, 1)).decode().split()
    # Where there is none, that function knows why.
    return ours, theirs, bases[0] if bases else merge_base(repository, upstream.own_ref, upstream.tracking)


# What a remote says where another push came first, before or while it took ours.
_OVERTAKEN = re.compile(
    r"fetch first|non-fast-forward|stale info|cannot lock ref|failed to (?:update|lock)|incorrect old value"
    r"|already exists|is at [0-9a-f]+ but expected"
)


def push(repository: Repository, upstream: Upstream, commit: str) -> bool:
    """Push a commit to the upstream branch and say whether it went there; no where others pushed first.

    Hooks run. Raises GitError, with what a hook or the remote said, where it is refused.
    """
    done = talk(repository.top, "push", "--porcelain", "--", upstream.remote, f"{commit}:{upstream.ref}")
    if not done.returncode:
        return True
    refused = [line.split("\t")[-1] for line in done.stdout.splitlines() if line.startswith("!")]
    if any(_OVERTAKEN.search(one) for one in refused) or _OVERTAKEN.search(words_of(done)):
        return False
    error = GitError(f"the push was refused: {refused[0] if refused else words_of(done)}")
    for line in [line for line in done.stderr.splitlines() if line.strip()][-_LINES:]:
        error.add_note("".join(one for one in line if one.isprintable()))
    raise error


# More than this of a hook's words fills the screen.
_LINES = 40


def count_between(repository: Repository, since: str, until: str) -> int:
    """Return how many commits a commit has that another one has not."""
    return int(run(repository.top, "rev-list", "--count", f"{since}..{until}"))


def list_uncommitted(repository: Repository, under: str) -> tuple[str, ...]:
    """Return the paths below a folder, from the top, that differ from HEAD or are in no commit, sorted."""
    options = ("--porcelain", "-z", "--no-renames", "--untracked-files=all")
    printed = run(repository.top, "status", *options, "--", pathspec(under))
    return tuple(sorted(record[3:] for record in records(printed)))
