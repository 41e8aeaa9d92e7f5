"""The hook: through the real pre-commit program, and called by git itself."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from builders import commit_all, git, memory, write, write_entry
from hooked import CITES, DANGLES, ENTRY, commit, refused_for, run, said

TOP = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that all workers share, and each has made what it holds before another comes to it."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "pre-commit"
    folder.mkdir(exist_ok=True)
    return folder


@contextlib.contextmanager
def alone(shared: Path) -> Iterator[None]:
    """Let one worker at a time pass."""
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="module")
def source(shared: Path) -> Path:
    """Return a repository that holds the package with its files as they are now, as pre-commit clones it."""
    with alone(shared):
        return shared / "mdmem" if (shared / "mdmem").exists() else package(shared / "mdmem")


def package(folder: Path) -> Path:
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(TOP / "mdmem", folder / "mdmem", ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml"):
        shutil.copy(TOP / name, folder / name)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "config", "user.name", "Ada")
    git(folder, "config", "user.email", "ada@example.org")
    commit_all(folder)
    return folder


@pytest.fixture
def hooked(tmp_path: Path, source: Path, shared: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a memory whose commits, merges and pushes pre-commit guards with our hook."""
    pytest.importorskip("pre_commit")
    # The one environment that all tests share is kept there.
    monkeypatch.setenv("PRE_COMMIT_HOME", str(shared / "home"))
    folder = memory(tmp_path / "p")
    config = f"""\
default_install_hook_types: [pre-commit, pre-merge-commit, pre-push]
repos:
  - repo: {source}
    rev: {git(source, "rev-parse", "HEAD")}
    hooks:
      - id: mdmem-check
"""
    write(folder, ".pre-commit-config.yaml", config)
    commit_all(folder)
    with alone(shared):
        installed = run(folder, sys.executable, "-m", "pre_commit", "install", "--install-hooks")
    if any(sign in said(installed) for sign in ("NewConnectionError", "NameResolutionError", "ConnectTimeoutError")):
        pytest.skip("the package index, from which pre-commit builds its environment, cannot be reached")
    assert installed.returncode == 0, said(installed)
    return folder


def test_hooks_file_says_what_is_run_and_that_a_deletion_alone_runs_it() -> None:
    hooks = yaml.safe_load((TOP / ".pre-commit-hooks.yaml").read_bytes())
    assert {hook["id"]: hook["entry"] for hook in hooks} == {
        "mdmem-check": "mdmem check --staged",
        "mdmem-fix": "mdmem check --fix",
    }
    kept = [(hook["always_run"], hook["pass_filenames"], hook["require_serial"]) for hook in hooks]
    assert kept == [(True, False, True)] * 2
    assert hooks[0]["stages"] == ["pre-commit", "pre-merge-commit", "pre-push", "manual"]
    assert hooks[0]["verbose"], "of a hook that passes nothing else is shown"


@pytest.mark.long
def test_pre_commit_refuses_a_commit_that_breaks_a_link_or_only_deletes(hooked: Path) -> None:
    before = git(hooked, "rev-parse", "HEAD")
    write_entry(hooked / "memory", ENTRY, **DANGLES)
    git(hooked, "add", "-A")
    assert refused_for(commit(hooked), "dangling-link")
    assert git(hooked, "rev-parse", "HEAD") == before
    write_entry(hooked / "memory", ENTRY, **CITES)
    git(hooked, "add", "-A")
    assert commit(hooked).returncode == 0
    git(hooked, "rm", "-q", "memory/nav/architecture/threads.md")
    assert refused_for(commit(hooked), "dangling-link")


# The same command called by git itself, where no program stands between: `commit -a` and `-o` give a hook an index
# of their own.
