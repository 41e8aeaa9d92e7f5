"""Find, lock, read, write and swap files, and find the folders of the local state and of the caches."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from stat import S_IMODE, S_ISREG
from typing import Annotated, Any, Generic, Literal, TypeVar

from msgspec import Meta, Struct, convert, to_builtins

from mdmem.disk import acquire, locked, make_folder, note_written, read_regular
from mdmem.errors import EnvironmentFaultError
from mdmem.record import UNPACKABLE, is_packable, packed_parts, unpack
from mdmem.store.git.discovery import may_be_tracked
from mdmem.store.git.process import Repository


class Places(Struct, frozen=True):
    """The folders of one root: its index (one for each worktree), the cache that worktrees share, and its state.

    The first two may be deleted at any time; the state exists nowhere else, and nothing deletes it.
    """

    index: Path
    shared: Path
    state: Path


def places(root: Path, repository: Repository | None, environment: Mapping[str, str]) -> Places:
    """Return a root's folders: in git's directory, which no commit can write, else in the user's folders."""
    if repository is None:
        name = hashlib.sha256(os.fsencode(root)).hexdigest()[:16]
        cache = _own(user_folder(environment, "XDG_CACHE_HOME", ".cache") / "mdmem" / name)
        state = _own(user_folder(environment, "XDG_DATA_HOME", ".local/share") / "mdmem" / name)
        return Places(cache / "index", cache, state)
    name = root.relative_to(repository.top).as_posix().replace("%", "%25").replace("/", "%2F")
    # No other folder's name has a `%` before a letter `t`.
    name = "%top" if name == "." else name
    own, common = repository.git_dir / "mdmem", repository.common_dir / "mdmem"
    return Places(own / "cache" / name, common / "cache", common / "state" / name)


def _own(folder: Path) -> Path:
    """Return a folder of the user; if a repository tracks it, as in some CI jobs, a path that cannot exist."""
    return Path(os.devnull) / folder.name if may_be_tracked(folder) else folder


def user_folder(environment: Mapping[str, str], variable: str, below_home: str) -> Path:
    """Return a folder that only the user can write; without a home, a path that nobody can write."""
    stated = Path(environment.get(variable, ""))
    if stated.is_absolute():
        return stated
    home = Path(environment.get("HOME") or os.path.expanduser("~"))  # noqa: PTH111  # a Path raises without a home
    return home / below_home if home.is_absolute() else Path(os.devnull)


WING = "private"


def private_root(environment: Mapping[str, str], root: Path, caller: str | None) -> Path:
    """Return the root of a caller's own memory.

    A user has one for all memories. A token has one for each memory, since its name may mean somebody else in another
    memory.
    """
    folder = user_folder(environment, "XDG_DATA_HOME", ".local/share") / "mdmem" / "private"
    if caller is None:
        return folder / "own"
    # A hash, since some file systems ignore case.
    named = os.fsencode(root) + b"\0" + caller.encode("utf-8", "surrogatepass")
    return folder / f"token-{hashlib.sha256(named).hexdigest()[:24]}"


_Kind = TypeVar("_Kind")
# Without an offset it makes the record unreadable.
Moment = Annotated[datetime, Meta(tz=True)]


@contextmanager
def refusal_named(folder: Path) -> Iterator[None]:
    """Turn an OSError on the way into EnvironmentFaultError with the folder's name."""
    try:
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise EnvironmentFaultError(f"the state in {folder} cannot be used: {reason}") from error


def list_names(folder: Path) -> list[str]:
    """Return the sorted names in a folder but for hidden ones; none if there is not a folder."""
    try:
        return sorted(name for name in os.listdir(folder) if not name.startswith("."))  # noqa: PTH208  # names alone
    except (FileNotFoundError, NotADirectoryError):
        return []


def read_packed(path: Path, version: str, kind: type[_Kind]) -> _Kind | None:
    """Return the content that `write_packed` stored; None for a file that is missing, torn or of another version."""
    try:
        return unpack(read_regular(path), version, kind)
    except OSError:
        return None


def write_packed(path: Path, version: str, content: Mapping[str, object]) -> bool:
    """Replace a file of the cache with msgpack, and return whether that worked.

    Values that cannot be packed, such as file names that are not UTF-8, are left out.
    """
    try:
        packed = packed_parts(version, content)
    except UNPACKABLE:
        packed = packed_parts(version, {key: value for key, value in content.items() if is_packable({key: value})})
    try:
        make_folder(path.parent)
        write_whole(path, *packed, durable=False)
    except OSError:
        return False
    return True


@contextmanager
def _temporary(path: Path, parts: Iterable[bytes], *, durable: bool) -> Iterator[Path]:
    """Write a temporary file in the folder of a path; it is removed unless it was renamed."""
    # `tempfile` takes as long to import as it takes to read, change and write a small file.
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
    """Write a file so that a reader sees either the old or the new one; raises OSError.

    With `durable` this also holds after the machine has crashed.
    """
    with _temporary(path, parts, durable=durable) as temporary:
        with contextlib.suppress(OSError):
            # Keep the permissions of the old file; a link's own mode lets everybody write.
            mode = path.lstat().st_mode
            if S_ISREG(mode):
                temporary.chmod(S_IMODE(mode))
        temporary.replace(path)


def write_new(path: Path, content: bytes) -> None:
    """Write a file that must not exist yet, whole or not at all; raises FileExistsError and other OSErrors."""
    with _temporary(path, [content], durable=True) as temporary:
        temporary.chmod(default_mode())
        rename_new(temporary, path)
        note_written(str(path))


def leads_away(root: Path, path: str) -> bool:
    """Return whether a file, or a folder between it and the root, is a symbolic link."""
    parts = path.split("/")
    return any((root / "/".join(parts[:depth])).is_symlink() for depth in range(1, len(parts) + 1))


def default_mode() -> int:
    """Return the permissions of a new file of this user."""
    mask = os.umask(0o022)
    os.umask(mask)
    return 0o666 & ~mask


def write_record(path: Path, record: Struct) -> None:
    """Replace a record that only its owner may read; raises OSError."""
    make_folder(path.parent, mode=0o700)
    write_whole(path, canonical(to_builtins(record, order="sorted")))


def read_record(path: Path, kind: type[_Kind]) -> _Kind | None:
    """Return a record; None for a torn file, a link, or a value of another form."""
    try:
        # A link may lead anywhere.
        return convert(json.loads(read_regular(path, follow=False)), kind)
    except (OSError, ValueError, RecursionError):
        return None


def canonical(content: Any) -> bytes:
    """Return the canonical form of a JSON value, in ASCII."""
    return json.dumps(content, sort_keys=True, separators=(",", ":")).encode("ascii")


class Stored(Struct, Generic[_Kind], frozen=True):
    """A record with the version of its form, so that a later form can be told from it."""

    content: _Kind
    version: Literal["1"] = "1"


def written_time(moment: datetime) -> str:
    """Return a point in time as ISO 8601 in UTC; one without offset counts as UTC."""
    return (moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)).isoformat()


class BusyError(EnvironmentFaultError):
    """Another process has held the lock for too long."""


@contextmanager
def write_lock(state: Path, *, wait: float = 10.0) -> Iterator[None]:
    """Hold the lock of all writers of a state folder; raises BusyError after `wait` seconds, and OSError."""
    make_folder(state)
    try:
        with locked(state / "write.lock", wait=wait):
            yield
    except BlockingIOError as error:
        raise BusyError(f"another process has been writing for {wait:.0f} s; try again when it is done") from error


def try_lock(path: Path) -> int | None:
    """Lock a file and return its handle, or None where another process has the lock; raises OSError.

    To release the lock, remove the file and then close the handle; the kernel does so for a process that dies.
    """
    make_folder(path.parent)
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        acquire(handle)
        # The process that had the lock may have removed this file, and another one made a new file of the name.
        if os.path.samestat(os.fstat(handle), path.stat()):
            return handle
    except OSError:
        pass
    os.close(handle)
    return None


# Compare and swap: a file is replaced or removed only while it is still the one that was read.
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
