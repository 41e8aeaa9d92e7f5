"""Faults that a newcomer and a reviewer found, each through the command line."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from builders import Run, make_repository, make_root, write, write_entry

PROJECT = "---\nkind: project\nowners: [team]\n---\n"
SHARED = "---\nkind: shared\nowners: [team]\n---\n"
DECISION = {"type": "decision", "status": "active"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    top = make_repository(tmp_path / "top")
    root = make_root(top / "memory", 'default_wing = "nav"\n')
    write(root, "nav/README.md", PROJECT)
    return root


def retrieved(run: Run, root: Path, *arguments: str) -> dict[str, Any]:
    said: dict[str, Any] = run("retrieve", *arguments, "--format", "json", cwd=root).json
    return said


def test_words_of_exclusions_are_found(root: Path, run: Run) -> None:
    write_entry(root, "nav/a/how", type="pattern", status="active", exclusions=["Never with Terraform"])
    assert "nav/a/how" in run("search", "terraform", cwd=root).out


def test_new_refuses_a_wing_that_nothing_would_read(tmp_path: Path, run: Run) -> None:
    top = make_root(make_repository(tmp_path / "top"))
    write(top, "other/README.md", "# Code\n")
    ran = run("new", "note", "other/room/one", "--body", "text", "--new-wing", cwd=top)
    assert (ran.code, "README.md with `kind: project`" in ran.err) == (2, True)


def test_chosen_checks_do_not_hide_that_a_run_is_incomplete(root: Path, run: Run) -> None:
    write_entry(root, "nav/a/one", **DECISION)
    os.mkfifo(root / "nav" / "a" / "pipe.md")
    assert run("check", "--select", "dangling-link", cwd=root).code == 3


def test_successor_inherits_a_declared_contradiction(root: Path, run: Run) -> None:
    write_entry(root, "nav/a/one", **DECISION, conflicts_with="nav/a/old")
    write_entry(root, "nav/a/old", **DECISION | {"status": "deprecated"}, superseded_by="nav/a/new")
    write_entry(root, "nav/a/new", **DECISION, supersedes="nav/a/old")
    pairs = [(one["a"], one["b"]) for one in retrieved(run, root)["conflicts"]]
    assert pairs == [("nav/a/new", "nav/a/one")]


def test_wrong_key_leaves_the_right_ones_in_force(root: Path, run: Run) -> None:
    write(root, "mdmem.toml", 'default_wing = "nav"\nbudgt = 5\n')
    write(root, "other/README.md", PROJECT)
    write_entry(root, "nav/a/one", **DECISION)
    said = retrieved(run, root)
    assert (said["scope"]["wing"], [problem["code"] for problem in said["problems"]]) == ("nav", ["settings-invalid"])
