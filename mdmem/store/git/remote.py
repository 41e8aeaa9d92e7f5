"""Talk to other repositories: sync the current branch with its upstream, and fetch commits of remote wings."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from shlex import quote

from msgspec import Struct

from mdmem.disk import make_folder, read_regular
from mdmem.errors import GitError, UsageError
from mdmem.store.git.commit import LockHeldError, plain_text, run_exclusively
from mdmem.store.git.history import merge_base
from mdmem.store.git.process import Repository, faults_in, has_commit, records, resolve, run, run_as_user

# The time limit of a git command over the network, in seconds. Repositories of memories are small.
_TIMEOUT = 120.0
# An empty `GIT_ASKPASS` keeps git from starting a program that asks for a password in a window.
_NO_PROMPTS = {"GIT_ASKPASS": "", "SSH_ASKPASS_REQUIRE": "never"}


def run_unattended(
    folder: Path, *arguments: str, variables: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a git command that never prompts, whatever its exit code; raises GitError after the time limit."""
    try:
        return run_as_user(
            folder,
            *("-c", "core.quotePath=false", *arguments),
            variables={**_NO_PROMPTS, **(variables or {})},
            timeout=_TIMEOUT,
        )
    except subprocess.TimeoutExpired as error:
        verb = next((one for one in arguments if one.isalpha()), "")
        raise GitError(f"git {verb} took more than {_TIMEOUT:g} s, so it was stopped; try it by hand") from error


def _reason(done: subprocess.CompletedProcess[str]) -> str:
    return (faults_in(done.stderr) or [f"exit code {done.returncode}"])[0].rstrip(".")


class Upstream(Struct, frozen=True):
    """A branch and its upstream: the remote, the ref on both sides, the remote-tracking ref, and a short name."""

    branch: str
    remote: str
    ref: str
    tracking: str
    name: str


def get_upstream(repository: Repository) -> Upstream:
    """Return the upstream of the current branch; raises UsageError with the command to type if there is none."""
    head = repository.run("symbolic-ref", "--quiet", "HEAD", ok=(0, 1)).decode("utf-8", "surrogateescape").strip()
    if not head:
        raise UsageError("no branch is checked out (detached HEAD); type `git switch BRANCH` first")
    branch = head.removeprefix("refs/heads/")
    form = "--format=%(refname)%00%(upstream)%00%(upstream:remotename)%00%(upstream:remoteref)"
    lines = repository.run("for-each-ref", form, head).decode("utf-8", "surrogateescape").splitlines()
    # For a branch `a`, git would also list branches such as `a/b`.
    parts = next((line.split("\0") for line in lines if line.startswith(f"{head}\0")), None)
    if parts is None:
        raise UsageError(f"nothing is committed on `{branch}` yet; commit first")
    _, tracking, remote, ref = parts
    if not tracking or not ref or remote == ".":
        add = "" if repository.run("remote").strip() else "`git remote add origin URL`, then "
        push = f"`git push -u origin {quote(branch)}`"
        raise UsageError(f"`{branch}` tracks no remote branch; type {add}{push} once")
    name = tracking.removeprefix("refs/remotes/")
    if ref != head:
        hint = f"to push it under its own name, type `git push -u {quote(remote)} {quote(branch)}`"
        raise UsageError(f"`{branch}` tracks `{name}`, which has another name; {hint}")
    return Upstream(branch, remote, ref, tracking, name)


def fetch_upstream(repository: Repository, upstream: Upstream) -> tuple[str, str, str]:
    """Fetch the upstream, and return the local commit, the upstream's, and their merge base; raises GitError."""
    # Skip git's maintenance, which could make the user wait.
    options = ("--no-auto-maintenance", "--quiet", "--no-recurse-submodules")
    refspec = f"+{upstream.ref}:{upstream.tracking}"
    done = run_unattended(repository.top, "fetch", *options, "--", upstream.remote, refspec)
    if done.returncode:
        hint = f"`git fetch {quote(upstream.remote)}` shows more, and asks for a password if the remote needs one"
        raise GitError(f"nothing could be fetched from `{upstream.remote}`: {_reason(done)}; {hint}")
    ours, theirs = repository.run("rev-parse", upstream.ref, upstream.tracking).decode().split()
    return ours, theirs, merge_base(repository, upstream.ref, upstream.tracking)


# The remote prints one of these if somebody else pushed before or during this push.
_PUSHED_FIRST = re.compile(
    r"fetch first|non-fast-forward|stale info|cannot lock ref|failed to (?:update|lock)|incorrect old value"
    r"|already exists|is at [0-9a-f]+ but expected"
)


def push(repository: Repository, upstream: Upstream, commit: str) -> bool:
    """Push a commit; return False if somebody else pushed first. If it is refused, raises GitError with the reason."""
    done = run_unattended(repository.top, "push", "--porcelain", "--", upstream.remote, f"{commit}:{upstream.ref}")
    if not done.returncode:
        return True
    refused = [line.split("\t")[-1] for line in done.stdout.splitlines() if line.startswith("!")]
    if any(_PUSHED_FIRST.search(one) for one in (*refused, _reason(done))):
        return False
    error = GitError(f"the push was refused: {refused[0] if refused else _reason(done)}")
    for line in filter(str.strip, plain_text(done.stderr).splitlines()):
        error.add_note(line)
    raise error


def count_between(repository: Repository, since: str, until: str) -> int:
    """Return the number of commits that are in `until` but not in `since`."""
    return int(repository.run("rev-list", "--count", f"{since}..{until}"))


# Write no files except those in conflict, since a code repository may be large and its filters slow.
_SPARSE = ("-c", "core.sparseCheckout=true", "-c", "core.sparseCheckoutCone=false", "-c", "index.sparse=false")
_REBASE = (
    *_SPARSE,
    *("-c", "rebase.autoStash=false", "-c", "rebase.autoSquash=false", "-c", "rebase.updateRefs=false"),
    *("-c", "rebase.instructionFormat=", "-c", "core.editor=true", "-c", "sequence.editor=true"),
    *("rebase", "--quiet", "--merge", "--empty=drop"),
)


def has_merges(repository: Repository, onto: str, commit: str) -> bool:
    """Return whether there is a merge commit among the commits that `commit` has and `onto` lacks."""
    return bool(repository.run("rev-list", "--merges", "--max-count=1", f"{onto}..{commit}").strip())


def rebase(repository: Repository, commit: str, onto: str) -> tuple[str, tuple[str, ...]]:
    """Rebase a commit in a temporary worktree; return the new commit, or the old one and the paths in conflict.

    The branch, the index and the work tree do not change. Only one process may call this at a time. Raises GitError if
    git fails.
    """
    folder = repository.git_dir / "mdmem" / "sync" / "tree"
    # A process that was killed may have left its worktree behind.
    _remove_tree(repository, folder)
    make_folder(folder.parent)
    try:
        _git(repository.top, "worktree", "add", "--quiet", "--no-checkout", "--detach", "--", str(folder), commit)
        info = _git_dir_of(folder) / "info"
        info.mkdir(exist_ok=True)
        (info / "sparse-checkout").write_bytes(b"!/*\n")
        _git(folder, *_SPARSE, "read-tree", "-m", "-u", "HEAD")
        merges = ("--rebase-merges",) if has_merges(repository, onto, commit) else ()
        done = run_unattended(folder, *_REBASE, *merges, onto)
        if done.returncode == 0:
            return read_regular(_git_dir_of(folder) / "HEAD").decode("ascii").strip(), ()
        unmerged = {record.split("\t", 1)[1] for record in records(run(folder, "ls-files", "--unmerged", "-z"))}
        if not unmerged:
            raise GitError(f"git cannot rebase: {_reason(done)}")
        return commit, tuple(sorted(unmerged))
    finally:
        _remove_tree(repository, folder)


def _git_dir_of(tree: Path) -> Path:
    stated = read_regular(tree / ".git").removeprefix(b"gitdir: ").removesuffix(b"\n")
    return tree / os.fsdecode(stated)


def _remove_tree(repository: Repository, folder: Path) -> None:
    # Not `git worktree remove`, which compares all files first, nor `prune`, which also removes other worktrees.
    with suppress(OSError):
        own = _git_dir_of(folder)
        if own.parent == repository.common_dir / "worktrees":
            shutil.rmtree(own, ignore_errors=True)
    if os.path.lexists(folder):
        shutil.rmtree(folder, ignore_errors=True)


def _git(folder: Path, *arguments: str) -> None:
    done = run_unattended(folder, *arguments)
    if done.returncode:
        raise GitError(f"git {next(one for one in arguments if one.isalpha())}: {_reason(done)}")


def move_branch(repository: Repository, ref: str, old: str, new: str, *, wait: float = 10.0) -> bool:
    """Move the current branch and the files on disk from `old` to `new`; return False if the branch is not at `old`.

    Staged and uncommitted changes stay. If the new commit changes a file with such changes, raises UsageError and moves
    nothing. Raises NotCommittedError if git stays locked for `wait` seconds.
    """
    lock = repository.git_dir / "index.lock"
    copy = repository.git_dir / "mdmem" / "sync" / "index"

    def move() -> bool:
        try:
            # While this lock exists, no other process can commit or stage, so no commit is lost or reverted.
            lock.touch(exist_ok=False)
        except FileExistsError as error:
            raise LockHeldError(str(lock)) from error
        try:
            make_folder(copy.parent)
            shutil.copy2(repository.git_dir / "index", copy)
            if repository.run("rev-parse", "--verify", "--quiet", ref, ok=(0, 1)).decode().strip() != old:
                return False
            _change_files(repository, copy, old, new)
            try:
                repository.run("update-ref", "-m", "mdmem sync", ref, new, old)
            except GitError:
                _change_files(repository, copy, new, old)
                return False
            copy.replace(repository.git_dir / "index")
            return True
        finally:
            for path in (copy, lock):
                with suppress(OSError):
                    path.unlink()

    return run_exclusively(repository, move, wait=wait)


def _change_files(repository: Repository, copy: Path, old: str, new: str) -> None:
    index = {"GIT_INDEX_FILE": str(copy)}
    # Refresh the index, since a file whose mtime changed looks changed until git compares the content.
    repository.run("update-index", "-q", "--refresh", variables=index, ok=(0, 1))
    try:
        repository.run("read-tree", "-m", "-u", old, new, variables=index)
    except GitError as error:
        named = re.search(r"(?:Entry|file) '(.+?)'", str(error))
        if named is None:
            raise
        hint = "commit the file or move it away, then sync again"
        raise UsageError(f"`{named[1]}` is not committed here, and the remote branch changed it; {hint}") from error


# Commits of other repositories are fetched into a bare repository in the cache. Nothing is checked out, no hook runs.
_NO_HOOKS = ("-c", f"core.hooksPath={os.devnull}")
# Allow only these protocols, since others can run a program that the URL names. Do not fetch missing objects later,
# because the settings of a local repository could name a program for that.
_SAFE_FETCH = {"GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh", "GIT_NO_LAZY_FETCH": "1"}


def make_bare(folder: Path) -> Repository:
    """Return the bare repository in a folder, and create it if it is missing; raises GitError and OSError."""
    store = Repository.bare(folder)
    if not (folder / "HEAD").exists():
        make_folder(folder)
        store.run("init", "--quiet", "--bare", "--template=", ".")
    return store


def fetch_tip(store: Repository, url: str, ref: str | None) -> str:
    """Fetch the newest commit of a branch or tag (None: HEAD) of another repository; raises GitError if that fails."""
    incoming = f"refs/mdmem/incoming-{os.getpid()}"
    try:
        # Fetch only one commit, since its history is not needed and may be large.
        _fetch(store, "--depth=1", "--", url, f"+{ref or 'HEAD'}:{incoming}")
        commit = resolve(store, incoming)
        _keep(store, commit)
    finally:
        store.run(*_NO_HOOKS, "update-ref", "-d", incoming)
    return commit


def fetch_commit(store: Repository, url: str, commit: str, ref: str | None) -> None:
    """Fetch one commit, or the history of `ref` if the server sends no single commits.

    Raises GitError if the history no longer contains the commit, or if git fails.
    """
    try:
        _fetch(store, "--depth=1", "--", url, commit)
    except GitError:
        # The server may refuse to send a single commit. This depth means the whole history of the ref.
        _fetch(store, "--depth=2147483647", "--", url, ref or "HEAD")
    if not has_commit(store, commit):
        raise GitError(
            f"{ref or 'HEAD'} of {url} no longer contains commit {commit[:10]}; `mdmem sync --wings` takes the newest"
        )
    _keep(store, commit)


def _keep(store: Repository, commit: str) -> None:
    """Create a ref for a commit, so that git never deletes the commit."""
    store.run(*_NO_HOOKS, "update-ref", f"refs/mdmem/kept/{commit}", commit)


def _fetch(store: Repository, *arguments: str) -> None:
    settings = (*_NO_HOOKS, "-c", "gc.auto=0", "-c", "maintenance.auto=false")
    options = ("--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head")
    variables = {**_SAFE_FETCH, **store.variables}
    done = run_unattended(store.top, *settings, "fetch", *options, *arguments, variables=variables)
    if done.returncode:
        raise GitError(_reason(done))
