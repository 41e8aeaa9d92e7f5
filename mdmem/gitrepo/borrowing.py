"""Commits of other repositories, in a bare repository of our own: nothing is checked out, so nothing of theirs runs."""

from __future__ import annotations

import os
from pathlib import Path

from mdmem.errors import GitError
from mdmem.gitrepo.process import Repository, records, resolve, run
from mdmem.gitrepo.talking import TIMEOUT, talk, words_of
from mdmem.own_folder import make_folder

# Every other helper could run a program that the address names; and where it names a folder, the settings there could
# name one for objects that are missing.
_VARIABLES = {"GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh", "GIT_NO_LAZY_FETCH": "1"}
_FETCH = (
    *("-c", f"core.hooksPath={os.devnull}", "-c", "gc.auto=0", "-c", "maintenance.auto=false"),
    *("fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"),
)
_KEPT = "refs/mdmem/kept"


def borrowed(folder: Path) -> Repository:
    """Return the bare repository of a folder."""
    return Repository(folder, folder, folder)


def make_bare(folder: Path) -> Repository:
    """Return the bare repository of a folder, made where there is none yet; raises GitError and OSError."""
    if not (folder / "HEAD").exists():
        make_folder(folder)
        run(folder, "init", "--quiet", "--bare", "--template=", ".", variables=borrowed(folder).variables)
    return borrowed(folder)


def fetch_tip(store: Repository, url: str, ref: str | None, *, timeout: float = TIMEOUT) -> str:
    """Fetch what a branch or tag of another repository is now, its HEAD where none is named, and return the commit.

    Raises GitError where it cannot be had. What was fetched stays: nothing of the store is ever forgotten.
    """
    incoming = f"refs/mdmem/incoming-{os.getpid()}"
    try:
        # No history is read, and a repository of code may have much of it.
        _fetch(store, "--depth=1", "--", url, f"+{ref or 'HEAD'}:{incoming}", timeout=timeout)
        commit = resolve(store, incoming)
        _keep(store, commit)
    finally:
        _git(store, "update-ref", "-d", incoming)
    return commit


def fetch_commit(store: Repository, url: str, commit: str, ref: str | None, *, timeout: float = TIMEOUT) -> None:
    """Fetch one commit of another repository; raises GitError where it cannot be had.

    Where the other side gives no commit by its name, the whole history of the ref is fetched to find it there.
    """
    try:
        _fetch(store, "--depth=1", "--", url, commit, timeout=timeout)
    except GitError:
        # So many that no history is cut off.
        _fetch(store, "--depth=2147483647", "--", url, ref or "HEAD", timeout=timeout)
    if not has_commit(store, commit):
        raise GitError(f"{ref or 'HEAD'} of {url} does not hold the commit {commit[:10]} any more")
    _keep(store, commit)


def has_commit(store: Repository, commit: str) -> bool:
    """Say whether a commit is at hand."""
    return bool(_git(store, "rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}", ok=(0, 1, 128)))


def folders_with(store: Repository, commit: str, name: str) -> tuple[str, ...]:
    """Return the folders of a commit that hold a file of one name, sorted; the top is an empty text."""
    listed = records(_git(store, "ls-tree", "-r", "-z", "--full-tree", "--name-only", commit))
    found = (path.rpartition("/") for path in listed)
    return tuple(sorted(folder for folder, _, last in found if last == name))


def _keep(store: Repository, commit: str) -> None:
    _git(store, "update-ref", f"{_KEPT}/{commit}", commit)


def _fetch(store: Repository, *arguments: str, timeout: float) -> None:
    done = talk(store.top, *_FETCH, *arguments, variables={**_VARIABLES, **store.variables}, timeout=timeout)
    if done.returncode:
        raise GitError(words_of(done))


def _git(store: Repository, *arguments: str, ok: tuple[int, ...] = (0,)) -> bytes:
    return run(store.top, "-c", f"core.hooksPath={os.devnull}", *arguments, variables=store.variables, ok=ok)
