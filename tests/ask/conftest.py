"""Fixture: the memory with which most tests of answers start."""

from pathlib import Path

import pytest

from .builders import make_wings


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return an empty memory with the project wings `app` and `web` and the shared wing `lib`."""
    return make_wings(tmp_path)
