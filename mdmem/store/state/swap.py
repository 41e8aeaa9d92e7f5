"""Compare and swap for files: replace or remove a file only while it is still the one that was read."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path
from stat import S_ISREG

_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class OvertakenError(Exception):
    """The file changed since it was read, so it was not replaced; `kept` is the path of a text that was moved aside."""

    def __init__(self, kept: Path | None = None) -> None:
        """Keep the path."""
        super().__init__(kept)
        self.kept = kept


def has_content(path: Path, content: bytes) -> bool:
    """Return whether a path is a regular file with exactly this content."""
    try:
        handle = os.open(path, _FLAGS)
    except OSError:
        return False
    try:
        if not S_ISREG(os.fstat(handle).st_mode):
            return False
        with os.fdopen(handle, "rb", closefd=False) as stream:
            return stream.read(len(content) + 1) == content
    except OSError:
        return False
    finally:
        os.close(handle)


def swap(ours: Path, target: Path, *, read: bytes, written: bytes) -> None:
    """Exchange a prepared file, whose content is `written`, with one that was read; raises OvertakenError, and OSError.

    The file that came out is compared again: if somebody saved it meanwhile, it gets its place back.
    """
    if not has_content(target, read):
        raise OvertakenError
    try:
        exchange(ours, target)
    except FileNotFoundError as error:
        raise OvertakenError from error
    if not has_content(ours, read):
        exchange(ours, target)
        if not has_content(ours, written):
            # Saved once more: the newest stays.
            exchange(ours, target)
            raise OvertakenError(_keep(ours))
        raise OvertakenError


def exchange(one: Path, other: Path) -> None:
    """Exchange two files of one folder; raises OSError.

    The other file gets a second name first; otherwise a save just before the replacement would be lost.
    """
    spare = one.with_name(f".{one.name}")
    try:
        os.link(other, spare)
    except FileNotFoundError:
        raise
    except OSError:
        # Some file systems have no links, and each says it with an error of its own.
        shutil.copyfile(other, spare, follow_symlinks=False)
    try:
        one.replace(other)
    except OSError:
        spare.unlink()
        raise
    spare.replace(one)


def take_away(target: Path, aside: Path, *, read: bytes) -> None:
    """Rename a file that was read to a name of the caller's; raises OvertakenError, and OSError."""
    if not has_content(target, read):
        raise OvertakenError
    target.replace(aside)
    if has_content(aside, read):
        return
    try:
        rename_new(aside, target)
    except OSError as error:
        raise OvertakenError(_keep(aside)) from error
    raise OvertakenError


def _keep(temporary: Path) -> Path:
    """Rename a user's text to a visible name that no cleanup removes."""
    kept = temporary.with_name(f"{temporary.stem.lstrip('.')}.kept")
    rename_new(temporary, kept)
    return kept


def rename_new(old: Path, new: Path) -> None:
    """Rename a file or a folder to a free name; raises FileExistsError if it is taken, and OSError."""
    is_taken = os.path.lexists(new)
    # Where case does not count, a file may exist under its new name already.
    if is_taken and not os.path.samestat(old.lstat(), new.lstat()):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(new))
    if not is_taken and not old.is_dir():
        # Unlike a rename, a hard link fails where the name is taken by now.
        try:
            os.link(old, new, follow_symlinks=False)
        except FileExistsError:
            raise
        except OSError:
            # Some file systems have no links, and each says it with an error of its own.
            old.rename(new)
        else:
            old.unlink()
        return
    old.rename(new)
