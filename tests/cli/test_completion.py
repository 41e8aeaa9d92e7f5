"""What the shell completes, asked as bash asks."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest
from builders import memory, run_mdmem, write, write_entry


def completed(line: str, cwd: Path) -> list[str]:
    """Return what bash offers for the last word of a line."""
    words = shlex.split(line) + ([""] if line.endswith(" ") else [])
    env = {"_MDMEM_COMPLETE": "bash_complete", "COMP_WORDS": shlex.join(words), "COMP_CWORD": str(len(words) - 1)}
    ran = run_mdmem(cwd=cwd, env=env)
    assert (ran.returncode, ran.stderr) == (0, "")
    return [line.partition(",")[2] for line in ran.stdout.splitlines() if line]


def two_wings(folder: Path) -> Path:
    memory(folder)
    write_entry(folder / "memory", "ros2/rules/qos", owner="network", tags=["qos", "queue"])
    write(folder, "memory/ros2/README.md", "---\nkind: shared\n---\n")
    return folder


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("mdmem ret", ["retrieve"]),
        ("mdmem show nav/", ["nav/architecture/threads", "nav/rules/callbacks"]),
        ("mdmem why ros", ["ros2/rules/qos"]),
        ("mdmem list --wing ", ["nav", "ros2"]),
        ("mdmem search --wing r", ["ros2"]),
        ("mdmem retrieve --room ", ["architecture", "rules"]),
        ("mdmem new decision ", ["nav/architecture/", "nav/rules/", "ros2/rules/"]),
        ("mdmem list --type ", ["invariant", "decision", "pattern", "note"]),
        ("mdmem list --status under", ["under_review"]),
        ("mdmem list --tag q", ["qos", "queue"]),
        ("mdmem search --owner ", ["network"]),
        ("mdmem resolve ", []),
        ("mdmem check --format c", ["concise"]),
        ("mdmem check --select supersession-c", ["supersession-cycle"]),
        ("mdmem show thr", ["threads"]),
        ("mdmem show architecture/", ["architecture/threads"]),
        ("mdmem check nav/r", ["nav/r", "nav/rules/callbacks"]),
        ("mdmem retrieve --path READ", ["READ"]),
        ("mdmem diff ma", ["main"]),
        ("mdmem diff main...m", ["main...main"]),
        ("mdmem list --at ma", ["main"]),
        ("mdmem supersede nav/", ["nav/architecture/threads", "nav/rules/callbacks"]),
        ("mdmem approve nav/", []),
    ],
)
def test_completion_offers(line: str, offered: list[str], tmp_path: Path) -> None:
    assert completed(line, two_wings(tmp_path)) == offered


def test_completion_offers_what_is_to_be_resolved(tmp_path: Path) -> None:
    folder = two_wings(tmp_path)
    for name in ("one", "two"):
        write_entry(folder / "memory", f"nav/rules/{name}", supersedes=["nav/rules/callbacks"], type="invariant")
    head = ("superseded_by", ["nav/rules/one", "nav/rules/two"])
    write_entry(folder / "memory", "nav/rules/callbacks", type="invariant", status="deprecated", **dict([head]))
    assert completed("mdmem resolve ", folder) == ["nav/rules/callbacks"]


def test_completion_waits_for_no_pipe(tmp_path: Path) -> None:
    root = two_wings(tmp_path) / "memory"
    os.mkfifo(root / "nav/rules/pipe.md")
    (root / "nav/rules/link.md").symlink_to("pipe.md")
    assert completed("mdmem approve nav/", tmp_path) == []
