"""What the shell completes, asked as bash asks."""

from __future__ import annotations

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
    write_entry(folder / "memory", "ros2/rules/qos")
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
        ("mdmem check --format c", ["concise"]),
        ("mdmem check --select supersession-c", ["supersession-cycle"]),
        ("mdmem show thr", ["threads"]),
        ("mdmem show architecture/", ["architecture/threads"]),
        ("mdmem retrieve --path READ", ["READ"]),
    ],
)
def test_completion_offers(line: str, offered: list[str], tmp_path: Path) -> None:
    assert completed(line, two_wings(tmp_path)) == offered
