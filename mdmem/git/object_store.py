"""A temporary store of git's objects: what is built there leaves the repository as it was."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from weakref import finalize

from mdmem.git.errors import UnwritableStoreError


@dataclass(frozen=True, eq=False)
class ObjectStore:
    """A folder that takes new objects, beside the stores that are read; it goes when it is closed or forgotten."""

    folder: Path
    environment: Mapping[str, str]
    _closing: finalize[..., ObjectStore] = field(init=False)

    def __post_init__(self) -> None:
        """See to it that the folder goes."""
        from shutil import rmtree

        object.__setattr__(self, "_closing", finalize(self, rmtree, self.folder, ignore_errors=True))

    @property
    def empty(self) -> Path:
        """Return a folder without a file, where git finds no attributes and may put what it needs for a moment."""
        return self.folder / "empty"

    def close(self) -> None:
        """Remove the folder."""
        self._closing()


def new_store(real: Path, environment: Mapping[str, str]) -> ObjectStore:
    """Return a store beside a real one, and beside those that the environment names; raises UnwritableStoreError."""
    # A hook that has nothing to check needs no store, and this import takes a tenth of its time.
    from tempfile import mkdtemp

    try:
        folder = Path(mkdtemp(prefix="mdmem-"))
        for name in ("objects", "empty"):
            (folder / name).mkdir()
    except OSError as error:
        raise UnwritableStoreError(error.strerror or str(error)) from error
    others = environment.get("GIT_ALTERNATE_OBJECT_DIRECTORIES")
    stores = [_quoted(real), *([others] if others else [])]
    variables = {
        "GIT_OBJECT_DIRECTORY": str(folder / "objects"),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": os.pathsep.join(stores),
    }
    return ObjectStore(folder, variables)


def _quoted(folder: Path) -> str:
    # git takes an entry that starts with a quote for a C string: a colon in it then parts nothing.
    escaped = folder.as_posix().replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
