"""Helpers for the tests of the hooks: run commands as git runs them, and check their results."""

import subprocess
import sys
from pathlib import Path

from builders import environment, git

Done = subprocess.CompletedProcess[str]
CITES = {"title": "Cites", "owner": "Ada", "see": "nav/architecture/threads"}
DANGLES = {"title": "Dangles", "owner": "Ada", "see": "nav/rules/nowhere"}
ENTRY = "nav/rules/new"
CITED = "memory/nav/architecture/threads.md"


def run(folder: Path, *command: str, **variables: str) -> Done:
    """Run a command in a folder and return the finished process."""
    env = environment(**variables)
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


def said(done: Done) -> str:
    """Return everything a command printed."""
    return done.stdout + done.stderr


def passes(done: Done, *, quiet: bool = False) -> None:
    """Assert that a command succeeded, and with `quiet` also that it printed nothing."""
    assert done.returncode == 0, said(done)
    assert not (quiet and said(done)), said(done)


def refused_for(done: Done, code: str) -> bool:
    """Return whether a command failed with a finding of a check."""
    return done.returncode != 0 and f"[{code}]" in said(done)


def commit(folder: Path, *arguments: str) -> Done:
    """Commit the staged changes, which runs the hooks."""
    return run(folder, "git", "commit", "-q", "-m", "change", *arguments)


def guard(folder: Path) -> Path:
    """Install mdmem's own hooks in a repository and return it."""
    passes(run(folder, sys.executable, "-m", "mdmem", "hooks", "install"))
    return folder


def add_remote(folder: Path, remote: Path) -> Path:
    """Make a bare repository as the `origin` of another, and return it."""
    remote.mkdir()
    git(remote, "init", "-q", "--bare", "-b", "main")
    git(folder, "remote", "add", "origin", str(remote))
    return remote


def imported(cwd: Path, *arguments: str, **more: str) -> set[str]:
    """Return the modules that a command imports; the command must succeed."""
    line = [sys.executable, "-X", "importtime", "-m", "mdmem", *arguments]
    ran = subprocess.run(line, cwd=cwd, env=environment(**more), capture_output=True, text=True, check=True)
    return {line.rpartition("|")[2].strip() for line in ran.stderr.splitlines()}
