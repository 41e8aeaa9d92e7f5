"""A git process that talks to another repository: it asks nobody for a password, and ends after a while."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile

from mdmem.errors import GitError
from mdmem.gitrepo.process import EXPLICIT, variables_for

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
            raise GitError(f"git {arguments[0]} did not end within {timeout:.0f} s") from error
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
    told = [line.partition(": ")[2] for line in lines if line.startswith(("fatal: ", "error: ", "remote: error: "))]
    return (told or lines or [f"exit code {done.returncode}"])[0].rstrip(".")


def _text(printed: bytes) -> str:
    return printed.decode("utf-8", "surrogateescape")
