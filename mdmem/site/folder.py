"""The folder of a site: what it holds, and how a page is put there whole."""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path

from mdmem.disk import read_regular
from mdmem.errors import EnvironmentFaultError
from mdmem.store.state import leads_away, write_whole


class SiteFolder:
    """A folder of pages; whoever brought it along may have put links into it, and no page is written behind one."""

    def __init__(self, path: Path) -> None:
        """Look at nothing yet."""
        self._path = path
        self._made: set[str] = set()

    def has(self, name: str) -> bool:
        """Say whether a file is there."""
        return (self._path / name).exists()

    def holds(self, name: str, digest: str) -> bool:
        """Say whether a file has the content of a digest."""
        try:
            return hashlib.sha256(read_regular(self._path / name)).hexdigest()[:20] == digest
        except OSError:
            return False

    def write(self, name: str, content: bytes) -> None:
        """Write a file as a whole; raises EnvironmentFaultError."""
        path = self._path / name
        try:
            self._make_room(name.rpartition("/")[0])
            # A link that has the name counts as there.
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        except FileExistsError:
            self._replace(name, content)
            return
        except OSError as error:
            raise _fault(path, error) from error
        # Whoever is killed here leaves a file whose digest no manifest has: the next build writes it again.
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(content)
        except OSError as error:
            with contextlib.suppress(OSError):
                path.unlink()
            raise _fault(path, error) from error

    def remove(self, name: str, digest: str) -> bool:
        """Remove a file of a digest and say so; what has another content, or lies behind a link, is not ours."""
        if not self.holds(name, digest) or leads_away(self._path, name):
            return False
        (self._path / name).unlink(missing_ok=True)
        return True

    def _replace(self, name: str, content: bytes) -> None:
        path = self._path / name
        self._require_own(name)
        try:
            write_whole(path, content, durable=False)
        except OSError as error:
            raise _fault(path, error) from error

    def _require_own(self, name: str) -> None:
        if leads_away(self._path, name):
            raise EnvironmentFaultError(f"{self._path / name} is a symbolic link, or lies behind one; remove the link")

    def _make_room(self, folder: str) -> None:
        if folder in self._made:
            return
        if folder and leads_away(self._path, folder):
            raise EnvironmentFaultError(
                f"{self._path / folder} is a symbolic link, or lies behind one; remove the link"
            )
        (self._path / folder).mkdir(parents=True, exist_ok=True)
        self._made.add(folder)


def _fault(path: Path, error: OSError) -> EnvironmentFaultError:
    return EnvironmentFaultError(f"{path} cannot be written: {(error.strerror or str(error)).lower()}")
