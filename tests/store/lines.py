"""A memory with a branch that proposes, for the tests of standing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from builders import commit_all, git, memory, run_here, write_entry

Capture = pytest.CaptureFixture[str]
RULE, OLD, NEW = "nav/rules/callbacks", "nav/architecture/threads", "nav/architecture/four"


def on_branch(folder: Path) -> Path:
    """Return the first memory with the branch `feature` checked out, which has no commit of its own."""
    memory(folder)
    git(folder, "checkout", "-q", "-b", "feature")
    return folder


def supersede(folder: Path) -> None:
    """Write the supersession of one decision by another, at both ends."""
    ended = {"status": "deprecated", "superseded_by": NEW, "deprecated_at": "2026-06-01"}
    write_entry(folder / "memory", OLD, "Navigation uses two threads.\n", title="Use two threads", **ended)
    new = {"created_at": "2026-06-01", "supersedes": OLD, "reason": "Two were too few."}
    write_entry(folder / "memory", NEW, "Navigation uses four threads.\n", title="Use four threads", **new)


def superseding(folder: Path) -> Path:
    """Return a memory whose branch proposes, in a commit, to supersede a decision."""
    supersede(on_branch(folder))
    commit_all(folder, "four threads")
    return folder


def said(capsys: Capture, *arguments: str, cwd: Path) -> dict[str, Any]:
    """Return what a command prints as JSON."""
    ran = run_here(capsys, *arguments, "--format", "json", cwd=cwd)
    found: dict[str, Any] = json.loads(ran.out)
    return found


def standings(rows: list[dict[str, Any]]) -> list[tuple[str, str | None]]:
    """Return address and standing of each row of an answer."""
    return [(row.get("address") or row["id"], row.get("standing")) for row in rows]
