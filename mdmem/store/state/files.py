"""Find, lock, read and write the files of the local state."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from stat import S_IMODE, S_ISREG
from typing import Annotated, Any, TypeVar

from msgspec import Meta, Struct, ValidationError, convert

from mdmem.disk import acquire, locked, make_folder, read_regular
from mdmem.errors import EnvironmentFaultError
from mdmem.record import UNPACKABLE, is_packable, packed_parts, unpack
from mdmem.reply import note_written
from mdmem.store.git import Repository, is_brought_along


class Places(Struct, frozen=True):
    """Where one root keeps its index (a worktree's own), its parsed entries (shared by worktrees) and its state.

    The first two may be deleted at any time; the state is what nothing else holds, and nothing deletes it.
    """

    index: Path
    shared: Path
    state: Path


def places(root: Path, repository: Repository | None, environment: Mapping[str, str]) -> Places:
    """Return a root's folders: below git's own directory, which no commit can write, else in the user's cache."""
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
    """Return a folder of the user's, or one that cannot be there in place of what a repository brought along.

    In a CI the user's cache may lie in the clone.
    """
    return Path(os.devnull) / folder.name if is_brought_along(folder) else folder


def user_folder(environment: Mapping[str, str], variable: str, below_home: str) -> Path:
    """Return a folder that only the user can write; one that nobody can where the user has no home."""
    stated = Path(environment.get(variable, ""))
    if stated.is_absolute():
        return stated
    home = Path(environment.get("HOME") or os.path.expanduser("~"))  # noqa: PTH111  # a Path raises without a home
    return home / below_home if home.is_absolute() else Path(os.devnull)


WING = "private"


def private_root(environment: Mapping[str, str], root: Path, caller: str | None) -> Path:
    """Return the root of a caller's own memory.

    That of the user is one for all their memories; that of a token is one for each memory that the token opens, since
    the same name may mean somebody else elsewhere.
    """
    folder = user_folder(environment, "XDG_DATA_HOME", ".local/share") / "mdmem" / "private"
    if caller is None:
        return folder / "own"
    # A hash: names that differ in their case alone are one file on some systems.
    named = os.fsencode(root) + b"\0" + caller.encode("utf-8", "surrogatepass")
    return folder / f"token-{hashlib.sha256(named).hexdigest()[:24]}"


_Kind = TypeVar("_Kind")
# A point in time of a record: one without offset makes the record unreadable.
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
    """Return the names in a folder, sorted, those that start with a dot left out; none where there is no folder."""
    try:
        return sorted(name for name in os.listdir(folder) if not name.startswith("."))  # noqa: PTH208  # names alone
    except (FileNotFoundError, NotADirectoryError):
        return []


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


def read_packed(path: Path, version: str, kind: type[_Kind]) -> _Kind | None:
    """Return what `write_packed` stored under this version; None for a file that is absent, torn or of another."""
    try:
        return unpack(read_regular(path), version, kind)
    except OSError:
        return None


def write_packed(path: Path, version: str, content: Mapping[str, object]) -> bool:
    """Replace a file of the cache as `write_json` does, in the form that is read fastest.

    What cannot be packed, as a file's name that is no UTF-8, is left out.
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


def _made_beside(path: Path) -> tuple[int, str]:
    # As `tempfile` does it, which takes as long to import as a small file to read, change and write.
    name = f"{path.parent}{os.sep}.{path.name}.{os.urandom(4).hex()}"
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    return os.open(name, flags, 0o600), name


def write_whole(path: Path, *content: bytes, durable: bool = True) -> None:
    """Write a file, part after part, so that a reader sees either the old or the new one; raises OSError.

    `durable`: also after the machine has crashed.
    """
    handle, name = _made_beside(path)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.writelines(content)
            stream.flush()
            if durable:
                os.fsync(stream.fileno())
        with contextlib.suppress(OSError):
            # A temporary file is its owner's alone; who may read the old one may read the new one.
            mode = path.lstat().st_mode
            # A link's own mode lets everybody write.
            if S_ISREG(mode):
                Path(name).chmod(S_IMODE(mode))
        Path(name).replace(path)
    finally:
        # Where the replacing failed or was interrupted, the new file is still there.
        with contextlib.suppress(OSError):
            Path(name).unlink()


def write_new(path: Path, content: bytes) -> None:
    """Write a file that must not exist yet, whole or not at all; raises FileExistsError and other OSErrors."""
    handle, name = _made_beside(path)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).chmod(default_mode())
        # A hard link fails where the name is taken; a rename would replace what somebody wrote meanwhile.
        os.link(name, path)
        note_written(str(path))
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


def write_record(path: Path, content: Mapping[str, Any]) -> None:
    """Replace a record as a whole, for its owner's eyes alone; raises OSError."""
    make_folder(path.parent, mode=0o700)
    write_whole(path, canonical(content))


def read_record(path: Path) -> dict[str, Any] | None:
    """Return a record; None for what is torn, no JSON object, or no file of its own."""
    try:
        # A link may lead anywhere.
        found = json.loads(read_regular(path, follow=False))
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def read_struct(path: Path, kind: type[_Kind]) -> _Kind | None:
    """Return a record as a kind of struct; None where it is not one."""
    try:
        return convert(read_record(path), kind)
    except ValidationError:
        return None


def canonical(content: Any) -> bytes:
    """Return the one form of a JSON value: the same for equal values, in ASCII."""
    return json.dumps(content, sort_keys=True, separators=(",", ":")).encode("ascii")


def written_time(moment: datetime) -> str:
    """Return a point in time as the state holds it: ISO 8601 in UTC; one without offset counts as UTC."""
    return (moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)).isoformat()


def read_time(value: object) -> datetime | None:
    """Return the point in time that `written_time` gave, or None for anything else."""
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return moment if moment is not None and moment.tzinfo else None


class BusyError(EnvironmentFaultError):
    """Another process holds the lock for longer than anybody should wait."""


@contextmanager
def write_lock(state: Path, *, wait: float = 10.0) -> Iterator[None]:
    """Hold the lock of everybody who writes entries or state; raises BusyError after `wait` seconds, and OSError.

    The kernel keeps it, so that a file which a dead process left behind locks nobody out.
    """
    make_folder(state)
    try:
        with locked(state / "write.lock", wait=wait):
            yield
    except BlockingIOError as error:
        raise BusyError(f"another process has been writing for {wait:.0f} s; try again when it is done") from error


def try_lock(path: Path) -> int | None:
    """Return the handle of a file that is now this process's alone, or None where another has it; raises OSError.

    To let go is to remove the file and then to close the handle; the kernel lets go for a process that dies.
    """
    make_folder(path.parent)
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        acquire(handle)
        # Whoever held it before may have removed this file, and somebody else made another of the name.
        if os.path.samestat(os.fstat(handle), path.stat()):
            return handle
    except OSError:
        pass
    os.close(handle)
    return None
