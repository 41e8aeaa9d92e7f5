"""Fixtures: a memory in a repository, and a folder without a memory."""

from datetime import date
from pathlib import Path

import pytest
from builders import TODAY, memory

from mdmem.mcp.workspaces import Provider


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return memory(tmp_path / "repo") / "memory"


@pytest.fixture
def nowhere(tmp_path: Path) -> Provider:
    return Provider(None, environment={}, cwd=tmp_path, today=lambda: date.fromisoformat(TODAY))
