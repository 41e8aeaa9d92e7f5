"""`mdmem init`: what it founds, and that it changes nothing that exists."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from builders import Run, environment, git, make_repository, snapshot, write, write_entry

# What git puts before its hooks' names: the program under test.
PROGRAMS = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


def test_init_writes_settings_wing_agents_line_and_hooks(tmp_path: Path, run: Run) -> None:
    folder = make_repository(tmp_path / "navigation")
    ran = run("init", cwd=folder)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[:-1] == [
        "wrote memory/mdmem.toml",
        "wrote memory/navigation/README.md",
        "wrote AGENTS.md",
        "wrote .git/hooks/pre-commit",
        "wrote .git/hooks/pre-merge-commit",
        "wrote .git/hooks/pre-push",
        "git merges entries key by key from now on: .git/info/attributes",
    ]
    assert (folder / "memory/mdmem.toml").read_text() == 'default_wing = "navigation"\n'
    assert "owners: [Ada <ada@example.org>]" in (folder / "memory/navigation/README.md").read_text()
    assert "mdmem retrieve --session TASK --path FILE" in (folder / "AGENTS.md").read_text()
    assert os.access(folder / ".git/hooks/pre-commit", os.X_OK)
    git(folder, "add", "-A")
    checked = run("check", "--strict", cwd=folder)
    assert (checked.code, "empty so far" in checked.out) == (0, True)


@pytest.mark.parametrize(("in_git", "beside"), [(True, None), (False, None), (True, "other"), (True, "apps/a/memory")])
def test_command_that_init_names_next_works(in_git: bool, beside: str | None, tmp_path: Path, run: Run) -> None:
    folder = make_repository(tmp_path / "app") if in_git else tmp_path
    if beside is not None:
        run("init", beside, "--wing", "other", cwd=folder)
    said = run("init", "--wing", "app", cwd=folder).out.partition("next: ")[2].splitlines()[0]
    assert ("--root" in said) is (not in_git or beside == "other")
    named = said.replace("mdmem", f"'{sys.executable}' -m mdmem", 1).replace("TITLE", "Use UTC")
    ran = subprocess.run(named, shell=True, cwd=folder, env=environment(), text=True, check=False)
    assert ran.returncode == 0
    checked = run("check", "--root", "memory", cwd=folder)
    assert (checked.code, "error" in checked.out) == (0, False), checked.out
    assert (folder / "memory/app/architecture/use-utc.md").exists()


def test_init_twice_changes_no_byte_and_records_that_are_there_are_the_next_step(repo: Path, run: Run) -> None:
    write(repo, "docs/adr/0001-files.md", "# 1. Files\n")
    first = run("init").out
    assert ("mdmem import --dry-run" in first.splitlines()[-1], "next: mdmem new" in first) == (True, False)
    ran = run("init", unchanged=repo)
    assert (ran.code, ran.out.count("stays as it is"), "wrote" in ran.out) == (0, 6, False)


def test_wings_that_are_there_are_the_projects(tmp_path: Path, run: Run) -> None:
    folder = make_repository(tmp_path / "repository")
    write_entry(folder / "memory", "app/rules/one")
    write_entry(folder / "memory", "tools/rules/two")
    write(folder, "memory/tools/README.md", "---\nkind: shared\n---\n")
    assert "wrote memory/app/README.md" in run("init", "--no-hook", cwd=folder).out
    assert (folder / "memory/mdmem.toml").read_text() == 'default_wing = "app"\n'
    assert "--all-wings" not in (folder / "AGENTS.md").read_text()
    write_entry(folder / "memory", "web/rules/three")
    for name in ("AGENTS.md", "memory/mdmem.toml"):
        (folder / name).unlink()
    assert run("init", "--no-hook", cwd=folder).out.splitlines() == ["wrote memory/mdmem.toml", "wrote AGENTS.md"]
    assert (folder / "memory/mdmem.toml").read_text() == "# default_wing: one of app, web\n"
    assert "--all-wings" in (folder / "AGENTS.md").read_text()
    # Whoever stands in a memory means that one.
    assert run("init", "--no-hook", cwd=folder / "memory").out.count("stays as it is") == 2
    assert not (folder / "memory/memory").exists()


def test_files_that_exist_stay_byte_for_byte(repo: Path, run: Run) -> None:
    write(repo, "AGENTS.md", "be kind\r\n")
    write(repo, ".git/hooks/pre-commit", "#!/bin/sh\nexit 0\n").chmod(0o755)
    write(repo, "memory/mdmem.toml", "budget = 7")
    before = snapshot(repo)
    ran = run("init", "--wing", "app")
    after = snapshot(repo)
    assert {name: after[name] for name in before} == before
    hooks = {".git/hooks/pre-merge-commit", ".git/hooks/pre-push"}
    assert after.keys() - before.keys() == {"memory/app/README.md", *hooks}
    assert "AGENTS.md exists and stays as it is; add this to it:\nBefore you change code" in ran.out
    assert "; people approve it.\n\n" in ran.out
    left = ".git/hooks/pre-commit is somebody else's and stays as it is"
    assert f"{left}: add `mdmem check --staged || exit 1` to it" in ran.out


def test_config_of_pre_commit_stays_and_the_lines_to_add_are_said(repo: Path, run: Run) -> None:
    config = write(repo, ".pre-commit-config.yaml", "repos: []\n")
    ran = run("init")
    assert config.read_text() == "repos: []\n"
    assert ".pre-commit-config.yaml is there; add this to it:\n  - repo: local\n" in ran.out
    assert not (repo / ".git/hooks/pre-commit").exists()
    assert "`mdmem hooks install --driver-only` lets it merge" in ran.out
    git(repo, "add", "-A")
    run("hooks", "install", "--driver-only")
    assert "--driver-only" not in run("init").out


CHECKED = "repos:\n- repo: https://example.org/mdmem\n  rev: v1\n  hooks:\n  - id: mdmem-check\n"
UNGUARDED = ".pre-commit-config.yaml has mdmem-check; to run it in this clone, type"
COPILOT, READ = ".github/copilot-instructions.md", "Read AGENTS.md at the top of this repository before anything else."
STAGES = "-t pre-commit -t pre-merge-commit -t pre-push"


@pytest.mark.parametrize(
    ("types", "line"),
    [("", f"pre-commit install {STAGES}"), ("default_install_hook_types: [pre-commit]\n", "pre-commit install")],
)
def test_clone_whose_config_runs_the_check_lacks_pre_commit(types: str, line: str, folder: Path, run: Run) -> None:
    write(folder, ".pre-commit-config.yaml", types + CHECKED)
    status = run("status").out
    assert f"no hook checks commits in this clone: `{line}` sets one up\n" in status
    assert "in this clone: `mdmem hooks install --driver-only` sets up the merge driver\n" in status
    ran = run("init")
    assert ran.out.splitlines()[-2:] == [
        f"{UNGUARDED} `{line}`",
        "git merges entries key by key from now on: .git/info/attributes",
    ]
    assert not (folder / ".git/hooks/pre-commit").exists()
    write(folder, ".git/hooks/pre-commit", "# File generated by pre-commit: https://pre-commit.com\n")
    again = run("init").out
    assert (UNGUARDED in again) == (types == "")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("CLAUDE.md", "Claude Code reads CLAUDE.md in place of AGENTS.md; add this line to it:\n@AGENTS.md\n"),
        (".claude/CLAUDE.md", "Claude Code reads .claude/CLAUDE.md in place of AGENTS.md; add {}@../AGENTS.md\n"),
        ("GEMINI.md", "Gemini CLI reads GEMINI.md in place of AGENTS.md; add this line to it:\n@AGENTS.md\n"),
        (COPILOT, f"GitHub Copilot reads {COPILOT}, and AGENTS.md not everywhere; add {{}}{READ}\n"),
    ],
)
def test_client_with_a_file_of_its_own_is_named_with_the_line_to_add(
    name: str, said: str, repo: Path, run: Run
) -> None:
    file, said = write(repo, name, "Be kind.\n"), said.format("this line to it:\n")
    line = said.splitlines()[1]
    assert (said in run("init").out, file.read_text()) == (True, "Be kind.\n")
    for there in (f"Be kind.\n{line}\n", *(["See @./AGENTS.md.\n"] if name == "CLAUDE.md" else [])):
        write(repo, name, there)
        assert (said in run("init").out, file.read_text()) == (False, there)


@pytest.mark.parametrize(
    ("folder", "wing"),
    [("My Project 2", "my_project_2"), ("lifecore_ros2", "lifecore_ros2"), ("--x--", "x"), ("日本", "project")],
)
def test_first_wing_bears_the_repositorys_name(folder: str, wing: str, tmp_path: Path, run: Run) -> None:
    repository = make_repository(tmp_path / folder)
    run("init", cwd=repository)
    assert (repository / "memory" / wing / "README.md").exists()


@pytest.mark.parametrize("wing", ["Nav", "../x", "", "README.md"])
def test_bad_name_of_a_wing_is_refused_and_nothing_written(wing: str, repo: Path, run: Run) -> None:
    ran = run("init", "--wing", wing, unchanged=repo)
    said = f"mdmem: `{wing}` is not a valid name for a wing; write it like `navigation_stack`\n"
    assert (ran.code, ran.out, ran.err) == (2, "", said)
