"""Fixture: two repositories."""

from pathlib import Path

import pytest

from change.pair import Two, two_repositories


@pytest.fixture
def two(tmp_path: Path) -> Two:
    return two_repositories(tmp_path)
