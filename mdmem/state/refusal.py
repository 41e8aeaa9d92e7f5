"""What the system refuses in the state folder, as one sentence."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mdmem.errors import EnvironmentFaultError


@contextmanager
def refusal_named(folder: Path) -> Iterator[None]:
    """Turn an OSError on the way into EnvironmentFaultError with the folder's name."""
    try:
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise EnvironmentFaultError(f"the state in {folder} cannot be used: {reason}") from error


def list_names(folder: Path) -> list[str]:
    """Return the names in a folder, sorted, those that start with a dot left out; none where there is no folder."""
    try:
        return sorted(name for name in os.listdir(folder) if not name.startswith("."))  # noqa: PTH208  # names alone
    except (FileNotFoundError, NotADirectoryError):
        return []
