"""The hooks as prek and pre-commit run them, from our own `.pre-commit-hooks.yaml`, with the mdmem that is here."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from pathlib import Path

import pytest
import yaml
from builders import commit_all, git, make_repository, memory, write, write_entry
from hooked import CITED, CITES, DANGLES, ENTRY, add_remote, commit, guard, refused_for, run, said, write_framework

TOP = Path(__file__).parents[2]
PREK = shutil.which("prek", path=str(Path(sys.executable).parent)) or shutil.which("prek")
MDMEM = f"{shlex.quote(sys.executable)} -m mdmem"
FRAMEWORKS = {"prek": [str(PREK)], "pre-commit": [sys.executable, "-m", "pre_commit"]}
needs_prek = pytest.mark.skipif(PREK is None, reason="prek is not installed")


@pytest.fixture(scope="module")
def manifest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository that offers the hooks that ours offers."""
    folder = make_repository(tmp_path_factory.mktemp("manifest"))
    shutil.copy(TOP / ".pre-commit-hooks.yaml", folder)
    commit_all(folder)
    return folder


# prek reads the same file and runs the same commands, so it has its turn in the long tests.
@pytest.fixture(params=[pytest.param("prek", marks=[needs_prek, pytest.mark.long]), "pre-commit"])
def framework(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the command of a framework, which keeps its store in the test's folder."""
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "store"))
    monkeypatch.setenv("PREK_HOME", str(tmp_path / "store"))
    return FRAMEWORKS[request.param]


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


def hooked(folder: Path, manifest: Path, framework: list[str], hook: str = "mdmem-check") -> Path:
    memory(folder)
    entry = f"{MDMEM} check {'--fix' if hook == 'mdmem-fix' else '--staged'}"
    config = f"""\
default_install_hook_types: [pre-commit, pre-merge-commit, pre-push]
repos:
  - repo: {manifest}
    rev: {git(manifest, "rev-parse", "HEAD")}
    hooks:
      - id: {hook}
        language: system
        entry: {json.dumps(entry)}
"""
    write(folder, ".pre-commit-config.yaml", config)
    commit_all(folder)
    installed = run(folder, *framework, "install")
    assert installed.returncode == 0, said(installed)
    return folder


def test_framework_guards_commits_merges_and_pushes(framework: list[str], manifest: Path, tmp_path: Path) -> None:
    folder = hooked(tmp_path / "p", manifest, framework)
    add_remote(folder, tmp_path / "remote.git")
    git(folder, "checkout", "-q", "-b", "cites")
    write(folder, "memory/nav/rules/untracked.md", "no front matter\n")
    write_entry(folder / "memory", ENTRY, **DANGLES)
    git(folder, "add", f"memory/{ENTRY}.md")
    assert refused_for(run(folder, *framework, "run", "--all-files", "mdmem-check"), "dangling-link")
    write_entry(folder / "memory", ENTRY, **CITES)
    assert refused_for(commit(folder), "dangling-link"), "staged, though the file on disk is good"
    write_entry(folder / "memory", ENTRY, **CITES)
    git(folder, "add", f"memory/{ENTRY}.md")
    good = commit(folder)
    assert good.returncode == 0, said(good)
    git(folder, "rm", "-q", CITED)
    assert refused_for(commit(folder), "dangling-link"), "a commit that only deletes"
    git(folder, "checkout", "-q", "-f", "main")
    git(folder, "rm", "-q", CITED)
    git(folder, "commit", "-q", "--no-verify", "-m", "deletes")
    assert refused_for(run(folder, "git", "merge", "-q", "--no-edit", "cites"), "dangling-link"), "a clean merge"
    git(folder, "merge", "--abort")
    assert run(folder, "git", "rebase", "-q", "main", "cites").returncode == 0
    assert refused_for(run(folder, "git", "push", "-q", "origin", "cites"), "dangling-link"), "a rebased push"


def test_fix_hook_mends_the_file_and_refuses_the_commit(framework: list[str], manifest: Path, tmp_path: Path) -> None:
    folder = hooked(tmp_path / "p", manifest, framework, "mdmem-fix")
    entry = write_entry(folder / "memory", ENTRY, title="Plain")
    entry.write_bytes(entry.read_bytes().rstrip(b"\n"))
    git(folder, "add", "-A")
    done = commit(folder)
    assert (done.returncode, entry.read_bytes()[-1:]) == (1, b"\n"), said(done)
    git(folder, "add", "-A")
    mended = commit(folder)
    assert mended.returncode == 0, said(mended)


@pytest.mark.long
def test_hook_of_ours_that_a_framework_moved_aside_is_shown_and_removed(framework: list[str], tmp_path: Path) -> None:
    folder = guard(memory(tmp_path / "p"))
    write_framework(folder, f"{MDMEM} check --staged")
    commit_all(folder)
    assert run(folder, *framework, "install").returncode == 0
    name = "pre-commit" if "pre_commit" in framework else "prek"
    runs = f"run by {name}, whose configuration mentions mdmem"
    status = said(run(folder, sys.executable, "-m", "mdmem", "hooks", "status"))
    assert f"pre-push          {runs}; it moved the hook of mdmem to pre-push.legacy  (" in status
    write_entry(folder / "memory", ENTRY, **DANGLES)
    git(folder, "add", "-A")
    assert refused_for(commit(folder), "dangling-link")
    ran = run(folder, sys.executable, "-m", "mdmem", "hooks", "uninstall")
    assert ran.stdout.splitlines() == [
        "removed .git/hooks/pre-commit.legacy",
        f".git/hooks/pre-commit stays as it is: {runs}",
        "removed .git/hooks/pre-merge-commit.legacy",
        f".git/hooks/pre-merge-commit stays as it is: {runs}",
        "removed .git/hooks/pre-push.legacy",
        f".git/hooks/pre-push stays as it is: {runs}",
        "the merge driver stays: `mdmem hooks uninstall --driver-only` removes it",
    ]
    assert refused_for(commit(folder), "dangling-link")
    removed = run(folder, sys.executable, "-m", "mdmem", "hooks", "uninstall", "--driver-only")
    assert removed.stdout == "removed the merge driver for /memory/**/*.md\n"
