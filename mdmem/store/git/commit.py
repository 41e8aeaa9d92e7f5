"""Commit given paths under the locks of git."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from random import uniform
from tempfile import TemporaryDirectory, TemporaryFile
from typing import TypeVar

from msgspec import Struct

from mdmem.disk import acquire, read_regular
from mdmem.errors import GitError
from mdmem.store.git.process import (
    EXPLICIT,
    GitLockedError,
    NotCommittedError,
    Repository,
    environment_for,
    hooks_folder,
    pathspec,
    records,
    resolve,
    run,
)
from mdmem.store.git.status import PORTION, FileStatus, has_sparse_checkout, list_file_status


class LockHeldError(Exception):
    """Another process is in the way; `lock` is the file that git names."""

    def __init__(self, lock: str | None) -> None:
        """Keep the name of the lock."""
        super().__init__(lock)
        self.lock = lock


_Result = TypeVar("_Result")


def in_turn(repository: Repository, attempt: Callable[[], _Result], *, wait: float) -> _Result:
    """Return what the attempt gives once no other process is in its way; raises GitLockedError after `wait` seconds.

    Who waits sees others come and go: the wait counts from when a lock last changed hands, and is twelve times as
    long at most.
    """
    end = time.monotonic() + 12 * wait
    until, seen, pause = end, object(), 0.01
    while True:
        try:
            with _turn(repository):
                return attempt()
        except LockHeldError as error:
            lock, now, holder = error.lock, time.monotonic(), _holder(repository)
        if holder != seen:
            seen, until = holder, now + wait
        if now > min(until, end):
            doing = f"holds `{lock}`; if none runs any more, remove that file" if lock else "keeps committing"
            raise GitLockedError(f"another git process {doing}")
        time.sleep(uniform(pause / 2, pause))
        pause = min(pause * 1.5, 0.2)


@contextmanager
def _turn(repository: Repository) -> Iterator[None]:
    """Hold the lock of our commits in a work tree; raises LockHeldError.

    `git commit --only` reads the index before it locks it, and so writes an old one back where two run at once: the
    commit of the one would then stand in the index as undone.
    """
    try:
        _file(repository).parent.mkdir(exist_ok=True)
        handle = os.open(_file(repository), os.O_RDWR | os.O_CREAT, 0o666)
    except OSError:
        # Where we cannot write, git cannot either, and says why.
        yield
        return
    try:
        _take(handle)
        yield
        _mark_turn(handle)
    finally:
        os.close(handle)


def _take(handle: int) -> None:
    try:
        acquire(handle)
    except OSError as error:
        raise LockHeldError(None) from error


def _mark_turn(handle: int) -> None:
    """Leave a trace of a turn for those that wait; one that came to nothing leaves none, or we would wait for it."""
    # On a full disk it was a turn all the same.
    with suppress(OSError):
        os.ftruncate(handle, 0)
        os.write(handle, str(os.getpid()).encode())


def _file(repository: Repository) -> Path:
    return repository.git_dir / "mdmem" / "commit.lock"


def _holder(repository: Repository) -> object:
    """Return what changes with every process that takes git's lock, and with every turn of ours."""
    found = []
    for path in (repository.git_dir / "index.lock", _file(repository)):
        try:
            stated = path.stat()
        except OSError:
            continue
        found.append((stated.st_ino, stated.st_mtime_ns))
    return found


def commit_paths(
    repository: Repository,
    paths: Sequence[str],
    message: str,
    *,
    before: Mapping[str, bytes | None] | None = None,
    wait: float = 5.0,
) -> str | None:
    """Commit exactly these files as they are on disk and return the new commit; None where HEAD holds them so already.

    Paths are counted from the repository's top; one that is gone is committed as deleted. Everything else stays
    staged or not as it is. `before` is what each file held before it was written (None: no file): what a person
    staged of it gives way only if it is that. `wait` is in seconds, for as long as one process holds git's lock.
    Raises NotCommittedError, of which GitLockedError is one; the index is then as before, and the files stay.
    """
    asked = _Asked(repository, tuple(dict.fromkeys(paths)), message, before or {})
    intended: set[str] = set()
    try:
        return in_turn(repository, lambda: _attempt(asked, intended), wait=wait)
    except OSError as error:
        raise NotCommittedError(f"git could not be run: {error.strerror or error}") from error
    finally:
        # What was committed is no mere intention any more; the error that is on its way outweighs one of tidying.
        with suppress(GitError, OSError):
            _forget(asked, intended, wait=wait)


def stage_paths(repository: Repository, paths: Sequence[str], *, wait: float = 5.0) -> None:
    """Stage exactly these files, from the top, as they are on disk, those that are gone as deleted; raises GitError."""
    if paths:
        sparse = ("--sparse",) if has_sparse_checkout(repository) else ()
        specs = _specs(tuple(dict.fromkeys(paths)))
        add = ("add", "--all", *sparse, *_FROM_STDIN)
        in_turn(repository, lambda: _raise_failure(_start(repository, *add, text_in=specs)), wait=wait)


class _Asked(Struct, frozen=True):
    repository: Repository
    paths: tuple[str, ...]
    message: str
    before: Mapping[str, bytes | None]


def _attempt(asked: _Asked, intended: set[str]) -> str | None:
    standings = list_file_status(asked.repository, asked.paths)
    _refuse_unseen(asked, standings)
    if not any(_differs_from_head(asked, one) for one in standings):
        return None
    new = [one.path for one in standings if one.code == "?"]
    if new:
        intended.update(new)
        sparse = ("--sparse",) if has_sparse_checkout(asked.repository) else ()
        _raise_failure(_start(asked.repository, "add", "--intent-to-add", *sparse, *_FROM_STDIN, text_in=_specs(new)))
    done = _commit(asked, [one.path for one in standings])
    if done.returncode == 1 and done.stdout:
        # git prints the status where nothing is to be committed: somebody else committed these very files just now.
        return None
    _refuse_failed(asked.repository, done)
    made = re.search(rb"^\[.*? ([0-9a-f]{40,64})\] ", done.stdout, re.MULTILINE)
    return made[1].decode() if made else resolve(asked.repository, "HEAD")


# A thousand files and more are too long for a command line.
_FROM_STDIN = ("--pathspec-from-file=-", "--pathspec-file-nul")


def _specs(paths: Sequence[str]) -> bytes:
    return b"".join(os.fsencode(pathspec(path)) + b"\0" for path in paths)


def _commit(asked: _Asked, paths: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
    # HEAD may be another's commit by the time we could ask for it: git prints the whole name of ours where nothing
    # is abbreviated. `--only` holds the lock of the index from before the hooks until the branch has moved.
    settings = ("-c", "core.abbrev=no", "-c", "i18n.commitEncoding=UTF-8")
    with TemporaryDirectory(prefix="mdmem-") as folder:
        file = Path(folder) / "message"
        file.write_bytes(asked.message.encode("utf-8", "replace"))
        options = ("--only", "--cleanup=whitespace", "-F", str(file), *_FROM_STDIN)
        return _start(asked.repository, *settings, "commit", *options, text_in=_specs(paths))


def _forget(asked: _Asked, intended: set[str], *, wait: float) -> None:
    """Take those files out of the index that are there only because we meant to commit them."""
    if not intended:
        return

    def attempt() -> None:
        left = [one.path for one in list_file_status(asked.repository, sorted(intended)) if one.is_intended]
        if left:
            gone = b"".join(os.fsencode(path) + b"\0" for path in left)
            _start(asked.repository, "update-index", "--force-remove", "-z", "--stdin", text_in=gone)

    in_turn(asked.repository, attempt, wait=wait)


def _refuse_unseen(asked: _Asked, standings: Sequence[FileStatus]) -> None:
    """Refuse what git ignores, what a conflict is open about, what a person staged, what git does not look at."""
    for one in standings:
        if one.code == "!":
            raise NotCommittedError(f"git ignores `{one.path}`")
        if one.code == "u":
            raise NotCommittedError(f"`{one.path}` is in conflict in git's index; `git add` or `git rm` settles it")
        if one.is_half_staged and not _is_what_was_before(asked, one):
            hint = "commit that or `git restore --staged` it first"
            raise NotCommittedError(f"another version of `{one.path}` is staged; {hint}")
    rest = sorted(set(asked.paths) - {one.path for one in standings})
    if rest:
        _refuse_hidden(asked.repository, rest)


def _is_what_was_before(asked: _Asked, one: FileStatus) -> bool:
    return one.path in asked.before and one.staged == _stored(asked, one.path, asked.before[one.path])


def _refuse_hidden(repository: Repository, paths: Sequence[str]) -> None:
    there = [path for path in paths if os.path.lexists(repository.top / path)]
    seen: set[str] = set()
    for start in range(0, len(there), PORTION):
        specs = [pathspec(path) for path in there[start : start + PORTION]]
        listed = records(run(repository.top, "ls-files", "-v", "-z", "--", *specs))
        seen.update(record[2:] for record in listed if record[0] == "H")
    for path in there:
        if path not in seen:
            why = "it lies in another repository, or is marked skip-worktree or assume-unchanged"
            raise NotCommittedError(f"git does not look at `{path}`: {why}")


def _differs_from_head(asked: _Asked, one: FileStatus) -> bool:
    if not one.is_half_staged:
        return True
    try:
        content = read_regular(asked.repository.top / one.path)
    except FileNotFoundError:
        return one.head is not None
    return _stored(asked, one.path, content) != one.head


def _stored(asked: _Asked, path: str, content: bytes | None) -> str | None:
    """Return the digest under which git stores a content of a file, its attributes and filters heeded."""
    if content is None:
        return None
    printed = run(asked.repository.top, "hash-object", "--stdin", f"--path={path}", text_in=content)
    return printed.decode().strip()


def _start(repository: Repository, *arguments: str, text_in: bytes) -> subprocess.CompletedProcess[bytes]:
    """Run a git command that writes; raises LockHeldError where another process is in the way."""
    # Unlike for reading, nothing is switched off that a person's own commit has: hooks run here anyway.
    variables = environment_for(os.environ, None)
    del variables["GIT_OPTIONAL_LOCKS"]
    command = ["git", "--no-pager", *EXPLICIT, *arguments]
    # A program that a hook leaves running keeps what it was given to write to: a pipe would not end before it does.
    with TemporaryFile() as out, TemporaryFile() as err:
        ran = subprocess.run(
            command, cwd=repository.top, input=text_in, stdout=out, stderr=err, env=variables, check=False
        )
        out.seek(0)
        err.seek(0)
        done = subprocess.CompletedProcess(command, ran.returncode, out.read(), err.read())
    held = _HELD.search(done.stderr.decode("utf-8", "replace")) if done.returncode else None
    if held:
        raise LockHeldError(held[1])
    return done


_HELD = re.compile(
    r"^(?:fatal|error): (?:cannot lock ref .*?)?(?:unable to create '([^']+\.lock)': File exists|.* but expected )",
    re.MULTILINE | re.IGNORECASE,
)


def _refuse_failed(repository: Repository, done: subprocess.CompletedProcess[bytes]) -> None:
    if not done.returncode:
        return
    output = _plain(done.stderr)
    if "repository has been updated" in output:
        raise GitError(f"the files are committed, but git could not write its index: {_faults(output)}")
    if _NOBODY.search(output):
        hint = "type `git config user.name NAME` and `git config user.email EMAIL`"
        raise NotCommittedError(f"git does not know who you are; {hint}")
    if output.startswith("error: pathspec"):
        # Another git that read the index before it took the lock has written it back without our intentions.
        raise LockHeldError(None)
    if done.returncode == 1:
        raise NotCommittedError(f"{_hooks_there(repository)} refused the commit", output=output)
    _raise_failure(done)


_NOBODY = re.compile(r"^\*\*\* Please tell me who you are|^fatal: .*(?:empty ident name|auto-detect)", re.MULTILINE)
_HOOKS = ("pre-commit", "prepare-commit-msg", "commit-msg")


def _hooks_there(repository: Repository) -> str:
    folder = hooks_folder(repository)
    there = [f"`{name}`" for name in _HOOKS if os.access(folder / name, os.X_OK)]
    return f"the hook {' or '.join(there)}" if there else "a hook"


def _raise_failure(done: subprocess.CompletedProcess[bytes]) -> None:
    """Raise what git said, if it failed."""
    if done.returncode:
        output = _plain(done.stderr) or _plain(done.stdout)
        raise NotCommittedError(f"git refused: {_faults(output) or f'exit code {done.returncode}'}", output=output)


def _faults(output: str) -> str:
    lines = output.splitlines()
    faults = [line.partition(": ")[2].rstrip(".") for line in lines if line.startswith(("error: ", "fatal: "))]
    return ", ".join(faults or lines[:1])


# More than this of a hook's words fills the screen.
_LINES = 60


def _plain(printed: bytes) -> str:
    """Return the end of what was printed, without colours, other controls and hints."""
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", printed.decode("utf-8", "replace")).replace("\r", "\n")
    lines = [line.rstrip() for line in text.splitlines() if not line.startswith("hint: ")]
    shown = ("".join(one for one in line if one.isprintable() or one == "\t") for line in lines)
    return "\n".join(list(shown)[-_LINES:]).strip("\n")
