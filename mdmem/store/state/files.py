"""Find the folders of local state and caches, and read, lock, write and replace files in them safely."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from stat import S_IMODE, S_ISREG
from typing import Annotated, Any, TypeVar

from msgspec import Meta, Struct, convert, to_builtins

from mdmem.disk import locked, make_folder, note_written, read_regular
from mdmem.errors import EnvironmentFaultError, reason_of
from mdmem.record import pack, unpack
from mdmem.store.git.process import Repository, may_be_tracked


class StateFolders(Struct, frozen=True):
    """The folders of one root. The index and the shared cache may be deleted; the state cannot be rebuilt."""

    index: Path
    shared: Path
    state: Path


def state_folders(root: Path, repository: Repository | None, environment: Mapping[str, str]) -> StateFolders:
    """Return the folders of a root, in the git directory or else in the user's folders. No commit can write there."""
    if repository is None:
        name = hashlib.sha256(os.fsencode(root)).hexdigest()[:16]
        cache = _own(user_folder(environment, "XDG_CACHE_HOME", ".cache") / "mdmem" / name)
        state = _own(user_folder(environment, "XDG_DATA_HOME", ".local/share") / "mdmem" / name)
        return StateFolders(cache / "index", cache, state)
    name = root.relative_to(repository.top).as_posix().replace("%", "%25").replace("/", "%2F")
    # No other name begins with `%t`, since each `%` was replaced by `%25`.
    name = "%top" if name == "." else name
    own, common = repository.git_dir / "mdmem", repository.common_dir / "mdmem"
    return StateFolders(own / "cache" / name, common / "cache", common / "state" / name)


def _own(folder: Path) -> Path:
    """Return a folder of the user, or a path that cannot exist if a repository tracks it, as in some CI jobs."""
    return Path(os.devnull) / folder.name if may_be_tracked(folder) else folder


def user_folder(environment: Mapping[str, str], variable: str, below_home: str) -> Path:
    """Return the absolute path in an environment variable, else a path below the home directory.

    Without a home directory, return a path below which nothing can be written.
    """
    stated = Path(environment.get(variable, ""))
    if stated.is_absolute():
        return stated
    home = Path(environment.get("HOME") or os.path.expanduser("~"))  # noqa: PTH111  # a Path raises without a home
    return home / below_home if home.is_absolute() else Path(os.devnull)


_Kind = TypeVar("_Kind")
# A time with a UTC offset. A record that has a time without one cannot be read.
Instant = Annotated[datetime, Meta(tz=True)]


@contextmanager
def folder_errors(folder: Path) -> Iterator[None]:
    """Turn an OSError in the `with` block into an EnvironmentFaultError that mentions the folder."""
    try:
        yield
    except OSError as error:
        raise EnvironmentFaultError(f"the state folder {folder} cannot be used: {reason_of(error)}") from error


def list_names(folder: Path) -> list[str]:
    """Return the sorted names in a folder, without hidden ones; empty if there is no such folder."""
    try:
        return sorted(name for name in os.listdir(folder) if not name.startswith("."))  # noqa: PTH208  # names alone
    except (FileNotFoundError, NotADirectoryError):
        return []


def read_packed(path: Path, version: str, kind: type[_Kind]) -> _Kind | None:
    """Return the value that `write_packed` stored; None if the file is missing, damaged or of another version."""
    try:
        return unpack(read_regular(path), version, kind)
    except OSError:
        return None


def write_packed(path: Path, version: str, content: Mapping[str, object]) -> bool:
    """Replace a cache file with those values that can be packed; return False if the file cannot be written."""
    try:
        make_folder(path.parent)
        write_whole(path, pack(version, content), durable=False)
    except OSError:
        return False
    return True


@contextmanager
def _temporary(path: Path, parts: Iterable[bytes], *, durable: bool) -> Iterator[Path]:
    """Write a temporary file next to a path for a `with` block, and delete it unless the block renamed it."""
    # Not the module `tempfile`, since importing it takes as long as reading, changing and writing a small file.
    name = path.with_name(f".{path.name}.{os.urandom(4).hex()}")
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(name, flags, 0o600)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.writelines(parts)
            stream.flush()
            if durable:
                os.fsync(stream.fileno())
        yield name
    finally:
        with contextlib.suppress(OSError):
            name.unlink()


def write_whole(path: Path, *parts: bytes, durable: bool = True) -> None:
    """Replace a file so that it always has its old or its new content; with `durable`, even after a crash."""
    with _temporary(path, parts, durable=durable) as temporary:
        with contextlib.suppress(OSError):
            # Keep the permissions of the old file, but not of a symbolic link, whose mode allows everything.
            mode = path.lstat().st_mode
            if S_ISREG(mode):
                temporary.chmod(S_IMODE(mode))
        temporary.replace(path)


def write_new(path: Path, content: bytes) -> None:
    """Create a file with its whole content or not at all; raises FileExistsError if it exists, and other OSErrors."""
    with _temporary(path, [content], durable=True) as temporary:
        temporary.chmod(default_mode())
        rename_new(temporary, path)
        note_written(str(path))


def leads_away(root: Path, path: str) -> bool:
    """Return whether a file, or one of the folders between the root and the file, is a symbolic link."""
    parts = path.split("/")
    return any((root / "/".join(parts[:depth])).is_symlink() for depth in range(1, len(parts) + 1))


def default_mode() -> int:
    """Return the permissions that a new file of this user gets, from the umask."""
    mask = os.umask(0o022)
    os.umask(mask)
    return 0o666 & ~mask


def write_record(path: Path, record: Struct) -> None:
    """Store a record as JSON in a file that only the user may read; raises OSError."""
    make_folder(path.parent, mode=0o700)
    write_whole(path, canonical(to_builtins(record, order="sorted")))


def read_record(path: Path, kind: type[_Kind]) -> _Kind | None:
    """Return the record in a file; None if the file is missing, damaged, a link, or of another kind."""
    try:
        # A symbolic link could lead to any file, so it is not followed.
        return convert(json.loads(read_regular(path, follow=False)), kind)
    except (OSError, ValueError, RecursionError):
        return None


def canonical(content: Any) -> bytes:
    """Return a JSON value as ASCII bytes that are the same for equal values: with sorted keys and without spaces."""
    return json.dumps(content, sort_keys=True, separators=(",", ":")).encode("ascii")


class BusyError(EnvironmentFaultError):
    """Another process holds the lock for too long."""


@contextmanager
def write_lock(state: Path, *, wait: float = 10.0) -> Iterator[None]:
    """Hold the lock of all writers of a state folder; raises BusyError if it is not free for `wait` seconds."""
    make_folder(state)
    try:
        with locked(state / "write.lock", wait=wait):
            yield
    except BlockingIOError as error:
        raise BusyError(
            f"another process has been writing to the memory for {wait:.0f} s; try again when it is done"
        ) from error


# Compare and swap: the functions below replace or remove a file only if it did not change since it was read.
class FileChangedError(Exception):
    """A file changed since it was read, so it is not replaced; `kept` may be a file with the other writer's text."""

    def __init__(self, kept: Path | None = None) -> None:
        """Store the path of the file with the other writer's text, or None."""
        super().__init__(kept)
        self.kept = kept


def has_content(path: Path, content: bytes) -> bool:
    """Return whether a path is a regular file with exactly these bytes."""
    try:
        return path.lstat().st_size == len(content) and read_regular(path, follow=False) == content
    except OSError:
        return False


def swap(ours: Path, target: Path, *, read: bytes, written: bytes) -> None:
    """Exchange a prepared file with the target; raises FileChangedError if the target changed since it was read."""
    if not has_content(target, read):
        raise FileChangedError
    try:
        exchange(ours, target)
    except FileNotFoundError as error:
        raise FileChangedError from error
    if not has_content(ours, read):
        exchange(ours, target)
        if not has_content(ours, written):
            # Somebody saved the target again during the exchange. The newest text stays in its place.
            exchange(ours, target)
            raise FileChangedError(_keep(ours))
        raise FileChangedError


def exchange(one: Path, other: Path) -> None:
    """Exchange two files of one folder. The other file gets a second name first, so that no concurrent save is lost."""
    spare = one.with_name(f".{one.name}")
    try:
        os.link(other, spare)
    except OSError:
        # Some file systems have no hard links, and their errors differ. A missing file is an error here, too.
        shutil.copyfile(other, spare, follow_symlinks=False)
    try:
        one.replace(other)
    except OSError:
        spare.unlink()
        raise
    spare.replace(one)


def move_aside(target: Path, aside: Path, *, read: bytes) -> None:
    """Rename a file to `aside`; raises FileChangedError if somebody changed the file since it was read."""
    if not has_content(target, read):
        raise FileChangedError
    target.replace(aside)
    if has_content(aside, read):
        return
    try:
        rename_new(aside, target)
    except OSError as error:
        raise FileChangedError(_keep(aside)) from error
    raise FileChangedError


def _keep(temporary: Path) -> Path:
    """Rename a file with somebody's text to a visible name that no cleanup removes, and return the new path."""
    kept = temporary.with_name(f"{temporary.stem.lstrip('.')}.kept")
    rename_new(temporary, kept)
    return kept


def rename_new(old: Path, new: Path) -> None:
    """Rename a file or folder to a name that is free; raises FileExistsError if it is taken, and other OSErrors."""
    is_taken = os.path.lexists(new)
    # If the file system ignores case, the new name may already be a name of the same file.
    if is_taken and not os.path.samestat(old.lstat(), new.lstat()):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(new))
    if not is_taken and not old.is_dir():
        # Unlike a rename, creating a hard link fails if another process just took the name.
        try:
            os.link(old, new, follow_symlinks=False)
        except FileExistsError:
            raise
        except OSError:
            # Some file systems have no hard links, and their errors differ.
            old.rename(new)
        else:
            old.unlink()
        return
    old.rename(new)
