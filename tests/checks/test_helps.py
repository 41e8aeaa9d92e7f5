"""Helps that name a command: with the address at hand, so that it can be typed as it stands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from builders import make_root, run_here, write_entry
from trees import case_of, tree_of

from mdmem.checks.engine import run_checks
from mdmem.store.tree import Tree, WorkingTree

Capture = pytest.CaptureFixture[str]


def helps_in(tree: Tree, code: str) -> list[str]:
    return [finding.help for finding in run_checks(case_of(tree), [code])]


@pytest.mark.parametrize(
    ("path", "code", "old", "new"),
    [
        ("nav/rules/Use UTC.md", "bad-name", "'nav/rules/Use UTC'", "nav/rules/use-utc"),
        ("nav/My Rules/a.md", "bad-name", "'nav/My Rules/'", "nav/my-rules/"),
        ("Nav/rules/a.md", "bad-name", "Nav/", "nav/"),
        ("nav/rules/aux.md", "path-illegal-on-windows", "nav/rules/aux", "nav/rules/NEW-NAME"),
    ],
)
def test_help_names_the_move(path: str, code: str, old: str, new: str) -> None:
    assert helps_in(tree_of(path), code) == [f"run `mdmem mv {old} {new}`, which rewrites the links, too"]


@pytest.mark.parametrize("path", ["nav/rules/plans/aux.png", "aux.md"])
def test_help_names_git_for_what_is_no_entry(path: str) -> None:
    assert helps_in(tree_of("nav/rules/a.md", path), "path-illegal-on-windows") == ["rename it with `git mv`"]


@pytest.mark.parametrize(
    ("fields", "code", "command"),
    [
        ({"expires_at": "2026-06-30"}, "expired", "mdmem deprecate nav/rules/a --reason TEXT"),
        ({"created_at": "2020-01-01", "verified_at": "2020-01-02"}, "review-overdue", "mdmem verify nav/rules/a"),
        ({"conflicts_with": "nav/rules/b"}, "conflict-unresolved", "mdmem deprecate nav/rules/b --reason TEXT"),
        ({"superseded_by": "nav/rules/draft"}, "superseded-by-draft", "mdmem approve nav/rules/draft"),
    ],
)
def test_command_in_a_help_ends_the_finding(
    fields: dict[str, str], code: str, command: str, tmp_path: Path, capsys: Capture
) -> None:
    root = make_root(tmp_path)
    write_entry(root, "nav/rules/b")
    write_entry(root, "nav/rules/draft", status="draft", supersedes="nav/rules/a", reason="better")
    write_entry(root, "nav/rules/a", **fields)
    (help_,) = helps_in(WorkingTree(root), code)
    (named,) = re.findall(r"`(mdmem [^`]+)`", help_)
    assert named == command
    _, *arguments = shlex.split(named)
    by = ["--by", "Ada <ada@example.org>"] if arguments[0] == "approve" else []
    assert run_here(capsys, *arguments, *by, cwd=root).code == 0
    assert helps_in(WorkingTree(root), code) == []
