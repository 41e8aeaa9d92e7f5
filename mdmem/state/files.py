"""The safe reading and writing of files."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from stat import S_IMODE
from typing import Any

from mdmem.own_folder import make_folder
from mdmem.regular_file import read_regular


def read_json(path: Path, version: str) -> dict[str, Any]:
    """Return what `write_json` stored under this version; empty for a file that is absent, torn or of another."""
    try:
        found = json.loads(read_regular(path))
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
        make_folder(path.parent)
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
        with contextlib.suppress(OSError):
            # A temporary file is its owner's alone; who may read the old one may read the new one.
            Path(name).chmod(S_IMODE(path.lstat().st_mode))
        Path(name).replace(path)
    finally:
        # Where the replacing failed or was interrupted, the new file is still there.
        with contextlib.suppress(OSError):
            Path(name).unlink()


def write_new(path: Path, content: bytes) -> None:
    """Write a file that must not exist yet, whole or not at all; raises FileExistsError and other OSErrors."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).chmod(default_mode())
        # A hard link fails where the name is taken; a rename would replace what somebody wrote meanwhile.
        os.link(name, path)
    finally:
        with contextlib.suppress(OSError):
            Path(name).unlink()


def leads_away(root: Path, path: str) -> bool:
    """Say whether a file, or a folder above it and below the root, is a symbolic link."""
    parts = path.split("/")
    return any((root / "/".join(parts[:depth])).is_symlink() for depth in range(1, len(parts) + 1))


def default_mode() -> int:
    """Return the permissions that a new file of this user gets."""
    mask = os.umask(0o022)
    os.umask(mask)
    return 0o666 & ~mask
