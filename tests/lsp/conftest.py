"""Fixtures: memories in repositories, and editors for them."""

from pathlib import Path

import pytest
from builders import memory
from editors import Hand
from memories import lived_in


@pytest.fixture
def hand(tmp_path: Path) -> Hand:
    """An editor in this process, in a repository with `memory/nav/rules/callbacks.md` and `…/architecture/threads.md`.

    Write more files with `write_entry(hand.folder / "memory", …)` before you open them.
    """
    return Hand(memory(tmp_path.resolve() / "project"))


@pytest.fixture(scope="session")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Hand:
    """An editor for a read-only memory with a chain, a draft, a shared wing and code."""
    return Hand(lived_in(tmp_path_factory.mktemp("reader").resolve() / "project"))
