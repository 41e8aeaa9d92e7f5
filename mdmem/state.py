"""The folders of what is derived or local, and the safe reading and writing of files in them."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mdmem.gitrepo import Repository


@dataclass(frozen=True, slots=True)
class Places:
    """Where one root keeps its index (a worktree's own) and its parsed entries (shared by worktrees)."""

    index: Path
    shared: Path


def places(root: Path, repository: Repository | None, environment: Mapping[str, str]) -> Places:
    """Return a root's folders: below git's own directory, which no commit can write, else in the user's cache."""
    if repository is None:
        folder = _user_cache(environment) / "mdmem" / hashlib.sha256(os.fsencode(root)).hexdigest()[:16]
        return Places(folder / "index", folder)
    name = root.relative_to(repository.top).as_posix().replace("%", "%25").replace("/", "%2F")
    # No other folder's name has a `%` before a letter `t`.
    name = "%top" if name == "." else name
    return Places(repository.git_dir / "mdmem" / "cache" / name, repository.common_dir / "mdmem" / "cache")


def _user_cache(environment: Mapping[str, str]) -> Path:
    """Return a folder that only the user can write; one that nobody can where the user has no home."""
    stated = Path(environment.get("XDG_CACHE_HOME", ""))
    if stated.is_absolute():
        return stated
    home = Path(environment.get("HOME") or os.path.expanduser("~"))  # noqa: PTH111  # a Path raises without a home
    return home / ".cache" if home.is_absolute() else Path(os.devnull)


def read_json(path: Path, version: str) -> dict[str, Any]:
    """Return what `write_json` stored under this version; empty for a file that is absent, torn or of another."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(found, dict) or found.get("version") != version or not isinstance(found.get("content"), dict):
        return {}
    content: dict[str, Any] = found["content"]
    return content


def write_json(path: Path, version: str, content: Mapping[str, Any]) -> bool:
    """Replace a file of the cache as a whole and say whether that worked: a cache may fail to be written."""
    text = json.dumps({"version": version, "content": content}, ensure_ascii=False, separators=(",", ":"))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # A cache that a crash tore is read as none, so it need not wait for the disk.
        write_whole(path, text.encode("utf-8", "surrogatepass"), durable=False)
    except OSError:
        return False
    return True


def write_whole(path: Path, content: bytes, *, durable: bool = True) -> None:
    """Write a file so that a reader sees either the old or the new one; raises OSError.

    `durable`: also after the machine has crashed.
    """
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            if durable:
                os.fsync(stream.fileno())
        Path(name).replace(path)
    finally:
        # Where the replacing failed or was interrupted, the new file is still there.
        with contextlib.suppress(OSError):
            Path(name).unlink()


# A file that changed in the tick of the clock in which it was hashed, or the cache written, may hold other bytes now.
_RACY_NS = 2_000_000_000
_STAT_VERSION = "1"


@dataclass(slots=True)
class StatCache:
    """Remembers each file's digest by its stat, as git's index does, so that an unchanged file is not read again."""

    path: Path | None
    _known: dict[str, list[Any]] = field(default_factory=dict)
    _written_ns: int = 0
    _changed: bool = False

    def load(self) -> StatCache:
        """Read the file, if there is one, and return self."""
        if self.path is not None:
            with contextlib.suppress(OSError):
                self._written_ns = self.path.stat().st_mtime_ns
                stored = read_json(self.path, _STAT_VERSION)
                self._known = {path: known for path, known in stored.items() if _is_record(known)}
        return self

    def find(self, path: str, stat: os.stat_result) -> str | None:
        """Return the digest of a file whose stat is the one remembered, and old enough to be trusted."""
        known = self._known.get(path)
        if known is None or _changed_ns(stat) >= self._written_ns - _RACY_NS:
            return None
        if known[:4] != [stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size, stat.st_ino]:
            return None
        digest: str = known[4]
        return digest

    def keep(self, path: str, stat: os.stat_result, digest: str) -> None:
        """Remember the digest of a file that was read with this stat, unless it changed a moment before."""
        if _changed_ns(stat) >= time.time_ns() - _RACY_NS:
            return
        self._known[path] = [stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size, stat.st_ino, digest]
        self._changed = True

    def save(self, paths: set[str]) -> None:
        """Write what is known of the paths that are there, if anything changed."""
        if self.path is None or not (self._changed or self._known.keys() - paths):
            return
        write_json(self.path, _STAT_VERSION, {path: self._known[path] for path in sorted(paths & self._known.keys())})
        self._changed = False


def _changed_ns(stat: os.stat_result) -> int:
    """Return when a file last changed; anybody can set its mtime back, but not its ctime."""
    return max(stat.st_mtime_ns, stat.st_ctime_ns)


def _is_record(known: object) -> bool:
    return isinstance(known, list) and len(known) == 5 and isinstance(known[4], str)


def write_new(path: Path, content: bytes) -> None:
    """Write a file that must not exist yet, whole or not at all; raises FileExistsError and other OSErrors."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).chmod(0o666 & ~_umask())
        # A hard link fails where the name is taken; a rename would replace what somebody wrote meanwhile.
        os.link(name, path)
    finally:
        with contextlib.suppress(OSError):
            Path(name).unlink()


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
