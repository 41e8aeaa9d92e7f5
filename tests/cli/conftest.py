"""The fixtures of tests through the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import Ran, Run, memory, run_here


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return `tmp_path` as the repository of `builders.memory`."""
    return memory(tmp_path)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """Return a function that runs a command, in `tmp_path` unless `cwd` is another folder."""

    def run_command(*arguments: str, cwd: Path = tmp_path) -> Ran:
        return run_here(capsys, *arguments, cwd=cwd)

    return run_command
