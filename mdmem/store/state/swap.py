"""A file in the place of another that is still the one that was read: what somebody saves meanwhile is never replaced.

No call of `os` lets two files swap their places, or gives a file a new name only where that is free: where the system
can (Linux, on most of its file systems), it is asked directly.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import shutil
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from stat import S_ISREG

_AT_FDCWD, _NOREPLACE, _EXCHANGE = -100, 1, 2
# A kernel, a file system or a container's filter without the call; what else it may mean, the plain way finds out.
_UNABLE = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM)
_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class OvertakenError(Exception):
    """Another file is there than was read, and it stays; `kept` is where a text lies that has no place any more."""

    def __init__(self, kept: Path | None = None) -> None:
        """Keep the path."""
        super().__init__(kept)
        self.kept = kept


def holds(path: Path, content: bytes) -> bool:
    """Say whether a regular file with just this content is there."""
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
    """Let a prepared file and one that holds what was read swap their places; `written` is what ours holds.

    What came out is looked at: where it is something else, it gets its place back. Raises OvertakenError, and OSError.
    """
    if not holds(target, read):
        raise OvertakenError
    try:
        exchange(ours, target)
    except FileNotFoundError as error:
        raise OvertakenError from error
    if not holds(ours, read):
        raise OvertakenError(_give_back(ours, target, written))


def _give_back(theirs: Path, target: Path, written: bytes) -> Path | None:
    with contextlib.suppress(OSError):
        exchange(theirs, target)
        if holds(theirs, written):
            return None
        # Saved once more in between: the newest stays in its place.
        exchange(theirs, target)
    return _keep(theirs)


def take_away(target: Path, aside: Path, *, read: bytes) -> None:
    """Give a file that holds what was read a name of the caller's own; raises OvertakenError, and OSError."""
    if not holds(target, read):
        raise OvertakenError
    target.replace(aside)
    if holds(aside, read):
        return
    try:
        rename_new(aside, target)
    except OSError as error:
        raise OvertakenError(_keep(aside)) from error
    raise OvertakenError


def _keep(temporary: Path) -> Path:
    """Give somebody's text a name that nobody sweeps away, and that everybody sees."""
    kept = temporary.with_name(f"{temporary.stem.lstrip('.')}.kept")
    rename_new(temporary, kept)
    return kept


def exchange(one: Path, other: Path) -> None:
    """Let two files of one folder swap their places, in one step where the system can; raises OSError.

    Elsewhere the other gets a second name first; what is saved there before the next step, microseconds later, is lost.
    """
    if _asked(one, other, _EXCHANGE):
        return
    spare = one.with_name(f".{one.name}")
    try:
        os.link(other, spare)
    except OSError:
        # Some file systems have no links.
        shutil.copyfile(other, spare, follow_symlinks=False)
    try:
        one.replace(other)
    except OSError:
        spare.unlink()
        raise
    spare.replace(one)


def rename_new(old: Path, new: Path) -> None:
    """Give a file or a folder a name that is free; raises FileExistsError where it is not, and OSError."""
    is_there = os.path.lexists(new)
    # Where capital letters do not count, a file stands under its new name already.
    is_itself = is_there and old.samefile(new)
    if not is_itself and _asked(old, new, _NOREPLACE):
        return
    if is_there and not is_itself:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(new))
    old.rename(new)


def _asked(old: Path, new: Path, flags: int) -> bool:
    """Ask the system for a rename of a special kind, and say whether it could be asked; raises OSError."""
    call = _renameat2()
    if call is None:
        return False
    # As for any rename of Python's own: whoever watches what a process does sees this one, too.
    sys.audit("os.rename", str(old), str(new), -1, -1)
    number = call(os.fsencode(old), os.fsencode(new), flags)
    if number == 0:
        return True
    if number in _UNABLE:
        return False
    raise OSError(number, os.strerror(number), str(old), None, str(new))


@cache
def _renameat2() -> Callable[[bytes, bytes, int], int] | None:
    """Return a function that gives the number of the error, 0 for none; None where the system has no such call."""
    if sys.platform != "linux":
        return None
    try:
        # Only writing needs it, and not every Python has it.
        function = ctypes.CDLL(None, use_errno=True).renameat2
    except (ImportError, OSError, AttributeError):
        return None
    function.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)

    def call(old: bytes, new: bytes, flags: int) -> int:
        return ctypes.get_errno() if function(_AT_FDCWD, old, _AT_FDCWD, new, flags) else 0

    return call
