"""Run git processes with safe settings, read objects, and find the repository of a folder and its default branch.

git treats any folder that contains `HEAD`, `objects` and `refs` as a git directory, and obeys the settings in it. An
attacker could commit such a folder as ordinary files. mdmem therefore accepts only `.git`, which git never tracks.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryFile, mkdtemp
from time import time_ns
from typing import Any
from weakref import finalize

from msgspec import Struct
from msgspec.structs import replace

from mdmem.disk import RACY_NS, read_regular
from mdmem.errors import GitError, UsageError, reason_of

UNSHALLOW = "fetch the whole history: `git fetch --unshallow`, in GitHub's checkout `fetch-depth: 0`"


class UnknownRevisionError(UsageError):
    """A revision does not name a commit of this repository."""


class NoCommonAncestorError(GitError):
    """Two commits have no common history."""


class ShallowHistoryError(GitError):
    """The merge base of two commits is missing, because the clone is shallow."""


class NotCommittedError(GitError):
    """git did not commit the files that were written; `output` is what git and its hooks printed."""

    def __init__(self, why: str, *, output: str = "") -> None:
        """Add to the message that the written files stay."""
        super().__init__("\n".join(filter(None, (f"{why}; nothing was committed, the files are written", output))))


class ObjectStore:
    """A temporary folder for new git objects, deleted with this object. `empty` is an empty folder in it."""

    def __init__(self, real: Path) -> None:
        """Create the folder; `real` is the object folder of the repository. Raises GitError."""
        try:
            folder = Path(mkdtemp(prefix="mdmem-"))
            finalize(self, rmtree, folder, ignore_errors=True)
            self.empty, objects = folder / "empty", folder / "objects"
            self.empty.mkdir()
            objects.mkdir()
        except OSError as error:
            why = f"mdmem cannot write to the temporary folder: {reason_of(error)}"
            raise GitError(f"{why}; set TMPDIR to a writable folder") from error
        others = os.environ.get("GIT_ALTERNATE_OBJECT_DIRECTORIES")
        # Quote the path, because git would split an unquoted path at each colon.
        escaped = real.as_posix().replace("\\", "\\\\").replace('"', '\\"')
        self.environment = {
            "GIT_OBJECT_DIRECTORY": str(objects),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": os.pathsep.join([f'"{escaped}"', *([others] if others else [])]),
        }


# Of the variables whose names start with `GIT_`, mdmem passes only those below to git. A hook has variables about its
# repository (`GIT_DIR`, `GIT_WORK_TREE`), but mdmem finds its repository from the folder. Variables that name a program
# or a trace file (`GIT_EXTERNAL_DIFF`, `GIT_ASKPASS`, `GIT_TRACE`) are not needed.

# A hook that receives a push needs these variables to read the pushed objects before git accepts them.
_QUARANTINE = ("GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH")
# Variables for the author, the settings, ssh, the editor, the end of the search for a repository, and git's programs.
# `GIT_CONFIG` would replace all settings. `GIT_INDEX_FILE` is passed only for an index that `with_hook_index` found.
_KEPT_PREFIXES = (
    "GIT_AUTHOR_",
    "GIT_COMMITTER_",
    "GIT_CONFIG_",
    "GIT_SSH",
    "GIT_EDITOR",
    "GIT_CEILING_DIRECTORIES",
    "GIT_EXEC_PATH",
)

# A commit may contain a folder that looks like a bare repository and whose settings run programs. With this setting,
# git accepts a bare repository only if `GIT_DIR` names it.
EXPLICIT = ("-c", "safe.bareRepository=explicit")
# The settings for commands that read. They switch off programs that a repository's settings could name. With
# `log.showRoot=true`, a log includes the changes of the first commit.
SETTINGS = (
    "safe.bareRepository=explicit",
    "core.fsmonitor=false",
    "core.quotePath=false",
    "log.showRoot=true",
    "log.showSignature=false",
)
SAFE = (*(part for setting in SETTINGS for part in ("-c", setting)), "--no-pager")


class Repository(Struct, frozen=True):
    """One git worktree: its top folder, its own git directory, and the git directory that all worktrees share.

    A bare repository is its own top. With `is_literal`, git ignores the replacements of `git replace`. `index` is the
    index file to read, if it is not the worktree's own.
    """

    top: Path
    git_dir: Path
    common_dir: Path
    objects: ObjectStore | None = None
    is_literal: bool = False
    index: Path | None = None

    @classmethod
    def bare(cls, folder: Path) -> Repository:
        """Return the bare repository in a folder."""
        return cls(folder, folder, folder)

    @property
    def variables(self) -> Mapping[str, str]:
        """Return git's environment variables for this repository, its index file and its temporary objects."""
        found = {"GIT_NO_REPLACE_OBJECTS": "1"} if self.is_literal else {}
        if self.top == self.git_dir:
            # `safe.bareRepository=explicit` requires that `GIT_DIR` names a bare repository.
            return {"GIT_DIR": str(self.git_dir), **found}
        found |= {"GIT_INDEX_FILE": str(self.index)} if self.index is not None else {}
        return {**(self.objects.environment if self.objects is not None else {}), **found}

    def run(self, *arguments: str, variables: Mapping[str, str] | None = None, **options: Any) -> bytes:
        """Run git in the top of the repository and return its output; the options are those of the function `run`."""
        return run(self.top, *arguments, variables={**self.variables, **(variables or {})}, **options)


# mdmem compares git's messages with English words, so LANGUAGE, which overrides most locales, must be empty.
OURS = {"GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C.UTF-8", "LANGUAGE": "", "GIT_TERMINAL_PROMPT": "0"}


def environment_for(environment: Mapping[str, str], variables: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of a git process: safe variables of the user, English messages, and extra variables."""
    variables = variables or {}
    # If `variables` has the `GIT_DIR` of another repository, leave out the object folders of a hook's repository.
    kept = {
        name: value
        for name, value in environment.items()
        if not name.startswith("GIT_")
        or name.startswith(_KEPT_PREFIXES)
        or (name in _QUARANTINE and "GIT_DIR" not in variables)
    }
    return {**kept, **OURS, **variables}


def run(
    folder: Path,
    *arguments: str,
    text_in: bytes | None = None,
    variables: Mapping[str, str] | None = None,
    ok: tuple[int, ...] = (0,),
    seconds: float | None = None,
) -> bytes:
    """Run git in a folder and return its output; raises GitError for an exit code not in `ok`, or after `seconds`."""
    try:
        done = subprocess.run(
            ["git", *SAFE, *arguments],
            cwd=folder,
            input=text_in if text_in is not None else b"",
            capture_output=True,
            env=environment_for(os.environ, variables),
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
    """Run a git command that writes, with the user's hooks, signing and helpers.

    With a timeout, ssh has no terminal to prompt on. After the timeout, git and the processes that it started are
    ended, and TimeoutExpired is raised. Raises OSError if git cannot be started.
    """
    environment = environment_for(os.environ, variables)
    # A command that writes may refresh the index, unlike a command that reads.
    del environment["GIT_OPTIONAL_LOCKS"]
    command = ["git", "--no-pager", *EXPLICIT, *arguments]
    # Use files, not pipes. A background program that a hook started would keep a pipe open.
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
                with suppress(OSError):
                    # Windows has no process groups.
                    if timeout is not None and hasattr(os, "killpg"):
                        os.killpg(git.pid, signal.SIGTERM)
                    else:
                        git.terminate()
                with suppress(subprocess.TimeoutExpired):
                    git.wait(5)
                git.kill()
                git.wait()
        printed = []
        for file in (out, err):
            file.seek(0)
            printed.append(file.read().decode("utf-8", "surrogateescape"))
        return subprocess.CompletedProcess(command, git.returncode, *printed)


def with_hook_index(repository: Repository, environment: Mapping[str, str], cwd: Path) -> Repository:
    """Return the repository with the index file that git passed to a hook, if the file is in its git directory."""
    path = (cwd / environment.get("GIT_INDEX_FILE", "")).resolve()
    # Only a file directly in the git directory counts; deeper ones belong to worktrees and submodules.
    is_own = path.parent == repository.git_dir.resolve() and path.is_file()
    return replace(repository, index=path) if is_own else repository


def resolve(repository: Repository, revision: str) -> str:
    """Return the full hash of a revision's commit; raises UnknownRevisionError if there is none."""
    asked = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    printed = repository.run(*asked, ok=(0, 1, 128))
    # A range such as `a..b` gives several commits.
    if len(printed.split()) != 1:
        raise UnknownRevisionError(f"`{revision}` is not a commit here; write a branch, a tag or a commit")
    return printed.decode().strip()


def has_commit(repository: Repository, commit: str) -> bool:
    """Return whether a commit is in the repository."""
    return bool(repository.run("rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}", ok=(0, 1, 128)))


def is_ancestor(repository: Repository, old: str, new: str) -> bool:
    """Return whether a commit is an ancestor of another commit or the same; false if one is not in the repository."""
    return repository.run("rev-list", "--count", "--max-count=1", old, f"^{new}", "--", ok=(0, 128)).strip() == b"0"


def setting(repository: Repository, name: str) -> str | None:
    """Return the value of one key of git's configuration, or None."""
    printed = repository.run("config", "--get", name, ok=(0, 1))
    return printed.decode("utf-8", "replace").strip() or None


def editor(folder: Path) -> str:
    """Return the command of the user's editor as git resolves it."""
    return run(folder, "var", "GIT_EDITOR").decode("utf-8", "replace").strip()


def pathspec(under: str) -> str:
    """Return a git pathspec for a folder, given from the top of the repository, and for everything below it."""
    return f":(top,literal){under}" if under else ":(top)"


def records(printed: bytes) -> list[str]:
    """Return the parts of git's output with `-z`, which NULs separate."""
    return [record for record in printed.decode("utf-8", "surrogateescape").split("\0") if record]


def faults_in(printed: str) -> list[str]:
    """Return the error messages in git's output; without any, its first line."""
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    faults = (line for line in lines if line.startswith(("fatal: ", "error: ", "remote: error: ")))
    return [line.partition(": ")[2].rstrip(".") for line in faults] or lines[:1]


def identity(repository: Repository) -> str | None:
    """Return `Name <email>` of the committer as git would write it, or None if git does not know who commits."""
    try:
        printed = repository.run("var", "GIT_COMMITTER_IDENT")
    except GitError:
        return None
    # git prints a time after the address, so cut at the last angle bracket.
    return printed.decode("utf-8", "replace").rpartition(">")[0] + ">"


class BlobReader:
    """A process `git cat-file --batch` that reads many files; it starts on first use and ends with `close`."""

    def __init__(self, repository: Repository) -> None:
        """Take the repository without starting the process."""
        self._repository, self._ended, self._closing = repository, 0, ExitStack()
        self._git: subprocess.Popen[bytes] | None = None
        finalize(self, self._closing.close)

    def read(self, digest: str) -> bytes | None:
        """Return the content of the file with a hash; None if it is missing or damaged, or if git exited too often."""
        if self._ended >= _PATIENCE:
            return None
        if self._git is None:
            git = subprocess.Popen(
                ["git", *SAFE, "cat-file", "--batch"],
                cwd=self._repository.top,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment_for(os.environ, self._repository.variables),
            )
            # Closing closes both pipes, so that git exits, and waits for git.
            self._closing.enter_context(suppress(BrokenPipeError))
            self._git = self._closing.enter_context(git)
        assert self._git.stdin is not None
        assert self._git.stdout is not None
        with suppress(BrokenPipeError):
            self._git.stdin.write(f"{digest}\n".encode())
            self._git.stdin.flush()
        header = self._git.stdout.readline()
        if header.endswith(b" missing\n"):
            return None
        size = int(header.split(b" ")[2]) if header.endswith(b"\n") else 0
        content = self._git.stdout.read(size + 1)
        if len(content) <= size:
            # git exits at a damaged object, or one that a partial clone cannot fetch. The next file starts it again.
            self.close()
            self._ended += 1
            return None
        return content[:-1]

    def close(self) -> None:
        """End the `git cat-file` process if it is running."""
        self._closing.close()
        self._git = None


# The number of times that git may exit before the rest is given up, since each may be a fetch that timed out.
_PATIENCE = 20


def read_blobs(repository: Repository, digests: Iterable[str]) -> Iterator[tuple[str, bytes | None]]:
    """Yield each hash with the content of that file, or None, as `BlobReader.read` returns it."""
    with closing(BlobReader(repository)) as reader:
        # Memory has only one file at a time, since any may be large.
        yield from ((digest, reader.read(digest)) for digest in digests)


def find_repository(folder: Path) -> Repository | None:
    """Return the repository that contains a folder; None without one, in a git directory, or if git is not installed.

    Raises GitError if git fails, or if `.git` leads to a folder that may come from a commit, and so from a stranger.
    """
    place = folder
    # Go up to a folder that exists and may be entered, because git cannot start in any other.
    while not os.access(place, os.X_OK) or not place.is_dir():
        place = place.parent
    place = place.resolve()
    for top in _work_trees_above(place):
        # The ceiling keeps git from searching above the top.
        variables = {"GIT_CEILING_DIRECTORIES": str(top.parent)}
        asked = ("rev-parse", "--show-toplevel", "--absolute-git-dir", "--git-common-dir")
        try:
            printed = run(top, *asked, variables=variables)
        except GitError as error:
            words = str(error)
            is_no_repository = "not a git repository" in words or "cannot use bare repository" in words
            # Like git, continue above a folder `.git` that is no git directory, but stop at a file `.git`.
            if is_no_repository and (top / ".git").is_dir():
                continue
            if is_no_repository or "must be run in a work tree" in words or "not installed" in words:
                return None
            if "dubious ownership" not in words and "unsafe repository" not in words:
                raise
            hint = f"if you trust it, type `git config --global --add safe.directory {shlex.quote(str(top))}`"
            raise GitError(f"{words.removeprefix('git rev-parse: ')}; {hint}") from error
        shown, git_dir, common = printed.decode("utf-8", "surrogateescape").split("\n")[:3]
        real = Path(git_dir).resolve()
        # Later git commands run in the top, so the repository must be the one that git finds there.
        if not Path(shown).samefile(top) or place.is_relative_to(git_dir):
            return None
        # A commit may have brought along the folder that a file or link `.git` points to. The git directories of
        # worktrees and submodules are outside the work tree.
        if real != top / ".git" and (real.is_relative_to(top) or may_be_tracked(real)):
            where = f"{top / '.git'} leads to {real}, a folder inside the work tree"
            raise GitError(f"{where}; mdmem trusts no repository there, so move it out of the work tree")
        return Repository(Path(shown), Path(git_dir), (top / common).resolve())
    return None


def may_be_tracked(folder: Path) -> bool:
    """Return whether a repository tracks a folder or anything below it; also True if git fails."""
    folder = folder.resolve()
    outer = next(_work_trees_above(folder), None)
    if outer is None or folder.is_relative_to(outer / ".git"):
        return False
    try:
        return bool(run(outer, "ls-files", "-z", "--", pathspec(folder.relative_to(outer).as_posix())))
    except GitError as error:
        # `proj/.git` may point to the bare repository `proj/.bare`, whose worktrees are folders of `proj`.
        return "must be run in a work tree" not in str(error)


def _work_trees_above(place: Path) -> Iterator[Path]:
    """Yield the folders with a `.git` upwards, to `GIT_CEILING_DIRECTORIES` or another file system, like git."""
    stated = os.environ.get("GIT_CEILING_DIRECTORIES", "").split(os.pathsep)
    ceilings = {os.path.realpath(path) for path in stated if Path(path).is_absolute()}
    device = None
    for folder in (place, *place.parents):
        try:
            here = folder.stat().st_dev
        except OSError:
            continue
        if device is not None and (str(folder) in ceilings or here != device):
            return
        device = here
        entry = folder / ".git"
        if entry.is_dir() or entry.is_file():
            yield folder


_KEYS = r"^(mdmem\.defaultbranch|init\.defaultbranch|checkout\.defaultremote|remote\..*\.(url|fetch))$"


class DefaultBranch(Struct, frozen=True):
    """The default branch of a repository: `ref` is the local branch, or the remote-tracking one such as `origin/main`.

    `is_here` says whether it is checked out in this worktree. `at_remote` is the commit of the remote-tracking branch.
    """

    name: str
    ref: str
    commit: str
    is_here: bool = False
    at_remote: str | None = None


def find_default_branch(repository: Repository) -> DefaultBranch | None:
    """Return the default branch, or None if it is unknown.

    The first of these names that exists is used: git's setting `mdmem.defaultBranch`, the remote's HEAD, git's
    `init.defaultBranch`, `main`, `master`, `trunk`. A repository without a remote and with only one branch uses that
    branch. Of a local and a remote-tracking branch, the local one is used if it is checked out or contains the other.
    """
    printed = repository.run("config", "-z", "--get-regexp", _KEYS, ok=(0, 1))
    # If a key has several values, git uses the last one.
    stated = {key: value for key, _, value in (record.partition("\n") for record in records(printed))}
    remotes = {key.removeprefix("remote.").rpartition(".")[0] for key in stated if key.startswith("remote.")}
    preferred = (stated.get("checkout.defaultremote", "origin"), "origin", *(remotes if len(remotes) == 1 else ()))
    remote = next((name for name in preferred if name in remotes), "")
    copies = f"refs/remotes/{remote}/"
    form = "--format=%(refname)%00%(symref)%00%(objectname)%00%(HEAD)"
    printed = repository.run("for-each-ref", form, "refs/heads/", *([copies] if remote else []))
    # Each line has a ref, the target of a symbolic ref, the commit, and a star if the ref is checked out here.
    rows = (line.split("\0") for line in printed.decode("utf-8", "surrogateescape").splitlines())
    refs = {name: fields for name, *fields in rows}
    at_head = refs.get(f"{copies}HEAD", [""])[0].removeprefix(copies)
    names = (stated.get("mdmem.defaultbranch"), at_head, stated.get("init.defaultbranch"), "main", "master", "trunk")
    for name in filter(None, names):
        _, copy, _ = refs.get(f"{copies}{name}", ("", None, ""))
        if f"refs/heads/{name}" in refs:
            _, commit, mark = refs[f"refs/heads/{name}"]
            if mark == "*" or copy is None or copy == commit or is_ancestor(repository, copy, commit):
                return DefaultBranch(name, name, commit, mark == "*", copy)
        if copy is not None:
            return DefaultBranch(name, f"{remote}/{name}", copy, at_remote=copy)
    if remote or len(refs) != 1:
        return None
    [(ref, (_, commit, mark))] = refs.items()
    name = ref.removeprefix("refs/heads/")
    return DefaultBranch(name, name, commit, mark == "*")


# The files in a git directory that determine the refs, the index and the configuration.
_OWN = ("HEAD", "index", "config.worktree", "reftable/tables.list")
_SHARED = ("config", "packed-refs", "shallow", "info/attributes", "reftable/tables.list")
_REFS = ("refs/heads", "refs/remotes", "refs/replace")


def stamp_of(repository: Repository | None) -> object:
    """Return a value that changes whenever HEAD, a ref, the index, git attributes or git's configuration change."""
    if repository is None:
        return None
    # No git process is started, because a server calls this function before each answer.
    paths = [*(repository.git_dir / name for name in _OWN), *(repository.common_dir / name for name in _SHARED)]
    paths.append(repository.top / ".gitattributes")
    for name in _REFS:
        for folder, _, files in os.walk(repository.common_dir / name):
            paths += (Path(folder, file) for file in files)
    recent, stamp = time_ns() - RACY_NS, list[object]()
    for path in paths:
        with suppress(OSError):
            stat = path.stat()
            stamp.append((str(path), stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns))
            # Two quick changes may leave the same mtime, so a file that just changed is compared by its content.
            if max(stat.st_mtime_ns, stat.st_ctime_ns) > recent:
                stamp.append(read_regular(path))
    return stamp
