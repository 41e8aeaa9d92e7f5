"""Run git: its processes, errors, settings and objects."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryFile, mkdtemp
from typing import IO
from weakref import finalize

from msgspec import Struct

from mdmem.errors import GitError, UsageError

UNSHALLOW = "fetch the whole history: `git fetch --unshallow`, in GitHub's checkout `fetch-depth: 0`"


class UnknownRevisionError(UsageError):
    """A revision is no commit of this repository."""


class NoCommonAncestorError(GitError):
    """Two commits have no history in common."""


class ShallowHistoryError(GitError):
    """The history is cut off before the commit that two others have in common."""


class NotCommittedError(GitError):
    """git did not commit the files that were written; `output` is that of git and the hooks."""

    def __init__(self, why: str, *, output: str = "") -> None:
        """Set the message: the reason, that the files stay, and the output."""
        printed = f"\n{output}" if output else ""
        super().__init__(f"{why}; nothing was committed, the files are written{printed}")
        self.output = output


class GitLockedError(NotCommittedError):
    """Another process held a lock of git for longer than we wait; a later try may succeed."""


class ObjectStore:
    """A temporary folder for new objects; git also reads the real store and those of the environment.

    The folder is removed with this object. Raises GitError if none can be made.
    """

    def __init__(self, real: Path) -> None:
        """Make the folder."""
        try:
            self._folder = Path(mkdtemp(prefix="mdmem-"))
            finalize(self, rmtree, self._folder, ignore_errors=True)
            for name in ("objects", "empty"):
                (self._folder / name).mkdir()
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            message = f"no temporary folder can be written: {reason}; set TMPDIR to one that can"
            raise GitError(message) from error
        others = os.environ.get("GIT_ALTERNATE_OBJECT_DIRECTORIES")
        # git takes an entry that starts with a quote for a C string, in which a colon separates nothing.
        escaped = real.as_posix().replace("\\", "\\\\").replace('"', '\\"')
        self.environment = {
            "GIT_OBJECT_DIRECTORY": str(self._folder / "objects"),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": os.pathsep.join([f'"{escaped}"', *([others] if others else [])]),
        }

    @property
    def empty(self) -> Path:
        """Return a folder without attributes, which git may use for temporary files."""
        return self._folder / "empty"


# All of git's variables are dropped but for the ones below. Those about a repository or its history (`GIT_DIR`,
# `GIT_WORK_TREE`, `GIT_COMMON_DIR`, `GIT_NAMESPACE`, `GIT_SHALLOW_FILE`, `GIT_PREFIX`) belong to a hook, and ours is
# found from the folder; those that name a program or a trace (`GIT_EXTERNAL_DIFF`, `GIT_PAGER`, `GIT_ASKPASS`,
# `GIT_TRACE`) are not needed. No variable comes from a repository: each is the user's, or that of a hook's git.

# While a push is received, the hook has to see the objects that are not accepted yet.
_QUARANTINE = ("GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH")
# The author; the user's settings and those of `git -c`, but not `GIT_CONFIG`, which replaces the settings; ssh and the
# editor; where not to search for repositories; and the folder of git's programs. `GIT_INDEX_FILE` is passed only by
# callers of `staged_index`.
_KEPT_PREFIXES = (
    "GIT_AUTHOR_",
    "GIT_COMMITTER_",
    "GIT_CONFIG_",
    "GIT_SSH",
    "GIT_EDITOR",
    "GIT_CEILING_DIRECTORIES",
    "GIT_EXEC_PATH",
)

# Also for commands that write. A folder that only looks like a git directory may have come with a commit, with settings
# that name programs; git's own `.git`, and a bare repository named by `GIT_DIR`, count as before.
EXPLICIT = ("-c", "safe.bareRepository=explicit")
# A repository's settings may name programs for these, and reading needs none. Without `showRoot` a log would hide the
# changes of the first commit.
SETTINGS = (
    "safe.bareRepository=explicit",
    "core.fsmonitor=false",
    "core.quotePath=false",
    "log.showRoot=true",
    "log.showSignature=false",
)
SAFE = (*(part for setting in SETTINGS for part in ("-c", setting)), "--no-pager")


class Repository(Struct, frozen=True):
    """One git work tree: its top, its own git directory, and the one it shares with other worktrees.

    `objects` is another store that is read, too. A bare repository is its own top. `is_literal` ignores the
    replacements of `git replace`.
    """

    top: Path
    git_dir: Path
    common_dir: Path
    objects: ObjectStore | None = None
    is_literal: bool = False

    @classmethod
    def bare(cls, folder: Path) -> Repository:
        """Return the bare repository of a folder."""
        return cls(folder, folder, folder)

    @property
    def variables(self) -> Mapping[str, str]:
        """Return git's variables for this repository and its objects."""
        literal = {"GIT_NO_REPLACE_OBJECTS": "1"} if self.is_literal else {}
        if self.top == self.git_dir:
            # The user's git may find bare repositories only where they are named.
            return {"GIT_DIR": str(self.git_dir), **literal}
        return {**(self.objects.environment if self.objects is not None else {}), **literal}


# LANGUAGE overrides every locale but C, and git's sentences are compared by their English words.
OURS = {"GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C.UTF-8", "LANGUAGE": "", "GIT_TERMINAL_PROMPT": "0"}


def environment_for(
    environment: Mapping[str, str], index: Path | None = None, variables: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the environment of a git process: without another repository, in English, and with our own variables.

    If those name the repository, the object folders of a hook's repository are left out.
    """
    variables = variables or {}
    kept = {
        name: value
        for name, value in environment.items()
        if not name.startswith("GIT_")
        or name.startswith(_KEPT_PREFIXES)
        or (name in _QUARANTINE and "GIT_DIR" not in variables)
    }
    if index is not None:
        kept["GIT_INDEX_FILE"] = str(index)
    return {**kept, **OURS, **variables}


def run(
    folder: Path,
    *arguments: str,
    text_in: bytes | None = None,
    index: Path | None = None,
    variables: Mapping[str, str] | None = None,
    ok: tuple[int, ...] = (0,),
    seconds: float | None = None,
) -> bytes:
    """Run git in a folder and return what it printed; raises GitError with git's own words, or after some seconds."""
    try:
        done = subprocess.run(
            ["git", *SAFE, *arguments],
            cwd=folder,
            input=text_in if text_in is not None else b"",
            capture_output=True,
            env=environment_for(os.environ, index, variables),
            check=False,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired as error:
        raise GitError(f"git {arguments[0]} took longer than {seconds} s") from error
    except (FileNotFoundError, NotADirectoryError) as error:
        missing = "git is not installed" if folder.is_dir() else f"there is no folder {folder}"
        raise GitError(missing) from error
    if done.returncode not in ok:
        words = done.stderr.decode("utf-8", "replace").strip().splitlines() or [f"exit code {done.returncode}"]
        raise GitError(f"git {arguments[0]}: {words[0].removeprefix('fatal: ')}")
    return done.stdout


def run_as_user(
    folder: Path,
    *arguments: str,
    text_in: bytes = b"",
    variables: Mapping[str, str] | None = None,
    timeout: float | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a git command that writes, as its user would: hooks, signing and helpers work; every exit code returns.

    With a timeout git has no terminal on which ssh would ask, and everything that it starts ends with it.
    Raises OSError and TimeoutExpired.
    """
    environment = environment_for(os.environ, None, variables)
    # Unlike for reading, git may refresh its index.
    del environment["GIT_OPTIONAL_LOCKS"]
    command = ["git", "--no-pager", *EXPLICIT, *arguments]
    # A program that a hook leaves running keeps its output open: reading a pipe would not end before it does.
    with TemporaryFile() as out, TemporaryFile() as err:
        git = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=err,
            env=environment,
            start_new_session=timeout is not None,
        )
        try:
            git.communicate(text_in, timeout)
        finally:
            if git.poll() is None:
                _kill(git, is_session=timeout is not None)
        printed = []
        for file in (out, err):
            file.seek(0)
            printed.append(file.read().decode("utf-8", "surrogateescape"))
        return subprocess.CompletedProcess(command, git.returncode, *printed)


def _kill(git: subprocess.Popen[bytes], *, is_session: bool) -> None:
    with suppress(OSError):
        if is_session and hasattr(os, "killpg"):
            os.killpg(git.pid, signal.SIGTERM)
        else:
            git.terminate()
    with suppress(subprocess.TimeoutExpired):
        git.wait(5)
    if git.poll() is None:
        git.kill()
        git.wait()


def staged_index(repository: Repository, environment: Mapping[str, str], cwd: Path) -> Path | None:
    """Return the index a hook was given (`commit -o`, `commit -a`), if it belongs to this repository."""
    given = environment.get("GIT_INDEX_FILE")
    if not given:
        return None
    path = (cwd / given).resolve()
    # Deeper in the same folder lie the indexes of worktrees and submodules.
    return path if path.parent == repository.git_dir.resolve() and path.exists() else None


def resolve(repository: Repository, revision: str) -> str:
    """Return the commit that a revision names; raises UnknownRevisionError if it names none."""
    asked = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    printed = run(repository.top, *asked, variables=repository.variables, ok=(0, 1, 128))
    # A range gives several.
    if len(printed.split()) != 1:
        raise UnknownRevisionError(f"`{revision}` is not a commit here; write a branch, a tag or a commit")
    return printed.decode().strip()


def has_commit(repository: Repository, commit: str) -> bool:
    """Return whether the repository has a commit."""
    asked = ("rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}")
    return bool(run(repository.top, *asked, variables=repository.variables, ok=(0, 1, 128)))


def setting(repository: Repository, name: str) -> str | None:
    """Return one value of git's configuration, or None."""
    printed = run(repository.top, "config", "--get", name, ok=(0, 1))
    return printed.decode("utf-8", "replace").strip() or None


def hooks_folder(repository: Repository) -> Path:
    """Return where git looks for hooks, `core.hooksPath` included."""
    printed = run(repository.top, "rev-parse", "--git-path", "hooks").decode("utf-8", "surrogateescape").strip()
    return repository.top / printed


def editor(folder: Path) -> str:
    """Return the command of the user's editor as git resolves it."""
    return run(folder, "var", "GIT_EDITOR").decode("utf-8", "replace").strip()


def pathspec(under: str) -> str:
    """Return the pathspec of a folder, from the top, that matches nothing else, whatever characters its name has."""
    return f":(top,literal){under}" if under else ":(top)"


def records(printed: bytes) -> list[str]:
    """Return the output of git with `-z`, one text a record."""
    return [record for record in printed.decode("utf-8", "surrogateescape").split("\0") if record]


def identity(repository: Repository) -> str | None:
    """Return `Name <email>` as git would write it for a committer here, or None if it knows nobody."""
    try:
        printed = run(repository.top, "var", "GIT_COMMITTER_IDENT")
    except GitError:
        return None
    # The time follows the address, which contains no angle bracket.
    return printed.decode("utf-8", "replace").rpartition(">")[0] + ">"


class BlobReader:
    """A `git cat-file --batch` process, started on first use and ended when it is closed or collected."""

    def __init__(self, repository: Repository) -> None:
        """Take the repository; no process runs yet."""
        self._repository = repository
        self._git: subprocess.Popen[bytes] | None = None
        self._ended = 0
        self._closing: finalize[..., BlobReader] | None = None

    def read(self, digests: Sequence[str]) -> Iterator[tuple[str, bytes | None]]:
        """Yield each blob's digest and bytes, in the given order; None for one that is missing."""
        # Asking in portions keeps both pipes short of their limits, so that neither side waits for ever.
        for start in range(0, len(digests), _PORTION):
            portion = digests[start : start + _PORTION]
            found: list[bytes | None] = []
            while len(found) < len(portion) and self._ended < _PATIENCE:
                found += self._answers(portion[len(found) :])
                if len(found) < len(portion):
                    # git ends at a blob that is damaged, or that a partial clone cannot fetch; others may exist.
                    found.append(None)
                    self.close()
                    self._git, self._ended = None, self._ended + 1
            found += [None] * (len(portion) - len(found))
            # A portion is read to its end first: the caller may stop half-way.
            yield from zip(portion, found, strict=True)

    def _answers(self, digests: Sequence[str]) -> list[bytes | None]:
        """Return git's answers until it ends."""
        if self._git is None:
            self._git = subprocess.Popen(
                ["git", *SAFE, "cat-file", "--batch"],
                cwd=self._repository.top,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment_for(os.environ, None, self._repository.variables),
            )
            self._closing = finalize(self, _end, self._git)
        assert self._git.stdin is not None
        assert self._git.stdout is not None
        with suppress(BrokenPipeError):
            self._git.stdin.write("".join(f"{digest}\n" for digest in digests).encode())
            self._git.stdin.flush()
        found = []
        with suppress(EOFError):
            for _ in digests:
                found.append(_read_blob(self._git.stdout))  # noqa: PERF401  # an error keeps the answers before it
        return found

    def close(self) -> None:
        """End the process, if one runs."""
        if self._closing is not None:
            self._closing()


_PORTION = 256
# Each end may be a fetch that timed out: if so many blobs cannot be had, the rest is not waited for.
_PATIENCE = 20


def _end(git: subprocess.Popen[bytes]) -> None:
    # Leaving the context closes both pipes, which ends the process, and waits for it.
    with suppress(BrokenPipeError), git:
        pass


def _read_blob(stream: IO[bytes]) -> bytes | None:
    """Return the next blob, or None if git does not have it; raises EOFError if git ended."""
    header = stream.readline()
    if header.endswith(b" missing\n"):
        return None
    size = int(header.split(b" ")[2]) if header.endswith(b"\n") else 0
    content = stream.read(size + 1)
    if not header or len(content) <= size:
        raise EOFError
    return content[:-1]


def read_blobs(repository: Repository, digests: Sequence[str]) -> Iterator[tuple[str, bytes | None]]:
    """Yield each blob's digest and bytes, in the given order, from one git process; None for one that is missing."""
    with closing(BlobReader(repository)) as reader:
        yield from reader.read(digests)
