"""Commits of other repositories, in a bare repository of our own: nothing is checked out, so nothing of theirs runs."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile

from mdmem.disk import make_folder
from mdmem.errors import GitError
from mdmem.store.git.process import EXPLICIT, Repository, records, resolve, run, variables_for

# In seconds: a repository of memories is small, and whoever waits longer wants to know why.
TIMEOUT = 120.0
# Set and empty, it keeps git from any program that would ask in a window.
_UNASKING = {"GIT_ASKPASS": "", "SSH_ASKPASS_REQUIRE": "never"}


def talk(
    folder: Path, *arguments: str, variables: Mapping[str, str] | None = None, timeout: float = TIMEOUT
) -> subprocess.CompletedProcess[str]:
    """Run git in a folder and return what it printed, whatever its exit code; raises GitError where it never ends.

    Hooks run, and signing and credential helpers work, as where a person calls git.
    """
    said = variables_for(None, _UNASKING | dict(variables or {}))
    # Unlike for reading, git may refresh its index.
    del said["GIT_OPTIONAL_LOCKS"]
    command = ["git", "--no-pager", *EXPLICIT, "-c", "core.quotePath=false", *arguments]
    # What a hook leaves running keeps what it was given to write to: a pipe would not end before it does.
    with TemporaryFile() as out, TemporaryFile() as err:
        try:
            code = _ended(command, folder, said, (out.fileno(), err.fileno()), timeout)
        except subprocess.TimeoutExpired as error:
            raise GitError(f"git {arguments[0]} did not end within {timeout:g} s") from error
        except OSError as error:
            raise GitError(f"git could not be run: {error.strerror or error}") from error
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(command, code, _text(out.read()), _text(err.read()))


def _ended(
    command: list[str], folder: Path, variables: Mapping[str, str], streams: tuple[int, int], timeout: float
) -> int:
    out, err = streams
    # In a session of its own it has no terminal, on which ssh would ask; and all that it starts ends with it.
    git = subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=err,
        env=dict(variables),
        start_new_session=True,
    )
    try:
        return git.wait(timeout)
    finally:
        if git.poll() is None:
            _kill(git)


def _kill(git: subprocess.Popen[bytes]) -> None:
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(git.pid, signal.SIGTERM)
        else:  # pragma: no cover
            git.kill()
    with suppress(subprocess.TimeoutExpired):
        git.wait(5)
    if git.poll() is None:
        git.kill()
        git.wait()


def words_of(done: subprocess.CompletedProcess[str]) -> str:
    """Return why git failed, in its own words and one line."""
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    faults = [line.partition(": ")[2] for line in lines if line.startswith(("fatal: ", "error: ", "remote: error: "))]
    return (faults or lines or [f"exit code {done.returncode}"])[0].rstrip(".")


def _text(printed: bytes) -> str:
    return printed.decode("utf-8", "surrogateescape")


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
        raise GitError(f"{ref or 'HEAD'} of {url} does not contain the commit {commit[:10]} any more")
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
