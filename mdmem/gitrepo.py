"""What we ask git: every git process of mdmem starts here, one for many files."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from weakref import finalize

from mdmem.errors import GitError, UsageError

# A hook's variables name the repository of the hook; these alone are still right for ours.
_KEPT = ("GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH")
_AUTHOR_PREFIXES = (
    "GIT_AUTHOR_",
    "GIT_COMMITTER_",
    "GIT_CONFIG",
    "GIT_SSH",
    "GIT_EDITOR",
    "GIT_CEILING_DIRECTORIES",
    "GIT_EXEC",
)
# A hostile repository's settings may name programs for these; none is needed to read.
_SAFE = ("-c", "core.fsmonitor=false", "-c", "core.quotePath=false", "--no-pager")


@dataclass(frozen=True, slots=True)
class Repository:
    """One git work tree: its top, its own git directory, and the one it shares with other worktrees."""

    top: Path
    git_dir: Path
    common_dir: Path


@dataclass(frozen=True, slots=True)
class Blob:
    """One file as git lists it; `path` is counted from the top of the repository."""

    path: str
    mode: str
    digest: str
    stage: int = 0


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit as a reader wants it named; `when` is ISO 8601."""

    digest: str
    author: str
    when: str
    subject: str
    paths: tuple[str, ...] = ()


def _environment(environment: Mapping[str, str], index: Path | None) -> dict[str, str]:
    kept = {
        name: value
        for name, value in environment.items()
        if not name.startswith("GIT_") or name.startswith(_AUTHOR_PREFIXES)
    }
    for name in _KEPT[1:]:
        if name in environment:
            kept[name] = environment[name]
    if index is not None:
        kept["GIT_INDEX_FILE"] = str(index)
    # LANGUAGE outweighs every locale but C itself, and git's sentences are told apart by their English words.
    return kept | {"GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C.UTF-8", "LANGUAGE": "", "GIT_TERMINAL_PROMPT": "0"}


def run(
    folder: Path, *arguments: str, text_in: bytes | None = None, index: Path | None = None, ok: tuple[int, ...] = (0,)
) -> bytes:
    """Run git in a folder and return what it printed; raises GitError with git's own words."""
    try:
        done = subprocess.run(
            ["git", *_SAFE, *arguments],
            cwd=folder,
            input=text_in if text_in is not None else b"",
            capture_output=True,
            env=_environment(os.environ, index),
            check=False,
        )
    except (FileNotFoundError, NotADirectoryError) as error:
        missing = "git is not installed" if folder.is_dir() else f"there is no folder {folder}"
        raise GitError(missing) from error
    if done.returncode not in ok:
        words = done.stderr.decode("utf-8", "replace").strip().splitlines() or [f"exit code {done.returncode}"]
        raise GitError(f"git {arguments[0]}: {words[0].removeprefix('fatal: ')}")
    return done.stdout


def find_repository(folder: Path) -> Repository | None:
    """Return the repository that a folder lies in, or None; raises GitError where git refuses to say."""
    place = folder
    # git cannot start in a folder that may not be entered.
    while not os.access(place, os.X_OK) or not place.is_dir():
        place = place.parent
    try:
        printed = run(place, "rev-parse", "--show-toplevel", "--absolute-git-dir", "--git-common-dir")
    except GitError as error:
        if (
            "not a git repository" in str(error)
            or "must be run in a work tree" in str(error)
            or "not installed" in str(error)
        ):
            return None
        raise
    top, git_dir, common = printed.decode("utf-8", "surrogateescape").split("\n")[:3]
    return Repository(Path(top), Path(git_dir), (place / common).resolve())


def staged_index(repository: Repository, environment: Mapping[str, str], cwd: Path) -> Path | None:
    """Return the index a hook was given (`commit -o`, `commit -a`), if it belongs to this repository."""
    given = environment.get("GIT_INDEX_FILE")
    if not given:
        return None
    path = Path(given) if Path(given).is_absolute() else cwd / given
    path = path.resolve()
    inside = (repository.git_dir.resolve(), repository.common_dir)
    return path if any(path.is_relative_to(folder) for folder in inside) and path.exists() else None


def list_staged(repository: Repository, under: str, *, index: Path | None = None) -> list[Blob]:
    """Return every file of the git index below a folder, in git's order."""
    printed = run(repository.top, "ls-files", "-s", "-z", "--", _pathspec(under), index=index)
    blobs = []
    for record in _records(printed):
        meta, path = record.split("\t", 1)
        mode, digest, stage = meta.split(" ")
        blobs.append(Blob(path, mode, digest, int(stage)))
    return _without_intended(repository, under, blobs, index)


def _without_intended(repository: Repository, under: str, blobs: list[Blob], index: Path | None) -> list[Blob]:
    """Drop paths that are only intended to be added: they show as the empty blob, and are not staged."""
    empty = {blob.path for blob in blobs if blob.digest in _EMPTY_BLOBS}
    if not empty:
        return blobs
    printed = run(
        repository.top, "diff-files", "--name-only", "--diff-filter=A", "-z", "--", _pathspec(under), index=index
    )
    intended = empty & set(_records(printed))
    return [blob for blob in blobs if blob.path not in intended]


_EMPTY_BLOBS = frozenset(
    {
        "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
        "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
    }
)


def list_revision(repository: Repository, commit: str, under: str) -> list[Blob]:
    """Return every file of a commit below a folder, in git's order."""
    arguments = ["ls-tree", "-r", "-z", "--full-tree", commit]
    printed = run(repository.top, *arguments, *(["--", _pathspec(under)] if under else []))
    blobs = []
    for record in _records(printed):
        meta, path = record.split("\t", 1)
        mode, _, digest = meta.split(" ")
        blobs.append(Blob(path, mode, digest))
    return blobs


def resolve(repository: Repository, revision: str) -> str:
    """Return the commit that a revision names; raises UsageError where it names none."""
    printed = run(
        repository.top, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}", ok=(0, 1, 128)
    )
    # A range gives several.
    if len(printed.split()) != 1:
        raise UsageError(f"`{revision}` names no commit here; write a branch, a tag or a commit")
    return printed.decode().strip()


class BlobReader:
    """One `git cat-file --batch` that answers until it is closed or forgotten; it starts with the first question."""

    def __init__(self, repository: Repository) -> None:
        """Take the repository; no process runs yet."""
        self._repository = repository
        self._git: subprocess.Popen[bytes] | None = None
        self._closing: finalize[..., BlobReader] | None = None

    def read(self, digests: Sequence[str]) -> Iterator[tuple[str, bytes | None]]:
        """Yield each blob's digest and bytes, in the order asked; None for one that is missing."""
        # Asking in portions keeps both pipes short of their limits, so that neither side waits for ever.
        for start in range(0, len(digests), _PORTION):
            portion = digests[start : start + _PORTION]
            # A portion is read to its end before any of it is handed out: the caller may stop half-way.
            yield from list(zip(portion, self._ask(portion), strict=True))

    def _ask(self, digests: Sequence[str]) -> list[bytes | None]:
        git = self._started()
        assert git.stdin is not None
        assert git.stdout is not None
        git.stdin.write("".join(f"{digest}\n" for digest in digests).encode())
        git.stdin.flush()
        return [_read_blob(git.stdout) for _ in digests]

    def _started(self) -> subprocess.Popen[bytes]:
        if self._git is None:
            self._git = subprocess.Popen(
                ["git", *_SAFE, "cat-file", "--batch"],
                cwd=self._repository.top,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=_environment(os.environ, None),
            )
            self._closing = finalize(self, _end, self._git)
        return self._git

    def close(self) -> None:
        """End the process, if one runs."""
        if self._closing is not None:
            self._closing()


_PORTION = 256


def _end(git: subprocess.Popen[bytes]) -> None:
    # Leaving the context closes both pipes and waits, which is what ends the process.
    with git:
        pass


def read_blobs(repository: Repository, digests: Sequence[str]) -> Iterator[tuple[str, bytes | None]]:
    """Yield each blob's digest and bytes, in the order asked, from one git process; None for one that is missing."""
    reader = BlobReader(repository)
    try:
        yield from reader.read(digests)
    finally:
        reader.close()


def _read_blob(stream: IO[bytes]) -> bytes | None:
    header = stream.readline()
    if not header or header.endswith(b" missing\n"):
        return None
    content = stream.read(int(header.split(b" ")[2]))
    stream.read(1)
    return content


def list_changed_in_index(repository: Repository, *, index: Path | None = None) -> list[str]:
    """Return the paths, from the top, in which the index differs from HEAD; both names of a move."""
    arguments = ("diff", "--cached", "--name-only", "--no-renames", "--no-ext-diff", "-z")
    return _records(run(repository.top, *arguments, index=index))


def list_tracked(repository: Repository) -> frozenset[str]:
    """Return the paths of all files of the index, from the top."""
    return frozenset(_records(run(repository.top, "ls-files", "-z")))


def list_ignored(repository: Repository, paths: Sequence[str]) -> frozenset[str]:
    """Return those of the paths, from the top, that git ignores."""
    if not paths:
        return frozenset()
    asked = b"".join(os.fsencode(path) + b"\0" for path in paths)
    return frozenset(_records(run(repository.top, "check-ignore", "-z", "--stdin", text_in=asked, ok=(0, 1))))


def list_deletions(repository: Repository, under: str) -> dict[str, tuple[str, str | None]]:
    """Return, for each path that history deleted or moved away, the newest such commit and the path it moved to."""
    arguments = (
        "log",
        "-z",
        "-M",
        "--diff-filter=DR",
        "--name-status",
        "--format=%x01%h",
        "--no-ext-diff",
        "--no-textconv",
    )
    try:
        printed = run(repository.top, *arguments, "--", _pathspec(under))
    except GitError:
        return {}
    return _parse_deletions(_records(printed))


def _parse_deletions(records: Sequence[str]) -> dict[str, tuple[str, str | None]]:
    gone: dict[str, tuple[str, str | None]] = {}
    commit, tokens = "", iter(records)
    for token in tokens:
        token = token.lstrip("\n")
        if token.startswith("\x01"):
            commit = token[1:]
        elif token == "D":
            gone.setdefault(next(tokens), (commit, None))
        elif token.startswith("R"):
            old, moved = next(tokens), next(tokens)
            gone.setdefault(old, (commit, moved))
    return gone


def list_tracked_named(repository: Repository, name: str) -> list[str]:
    """Return the tracked files with one name, in any folder, as paths from the top.

    Where none is tracked, those that `git add` would take: a memory counts from the moment it is founded.
    """
    wanted = ("-z", "--", f":(glob)**/{name}")
    # A file in conflict is listed once for each side.
    tracked = set(_records(run(repository.top, "ls-files", *wanted)))
    return sorted(tracked or _records(run(repository.top, "ls-files", "--others", "--exclude-standard", *wanted)))


def search_lines(repository: Repository, words: Sequence[str], limit: int) -> list[tuple[str, int, str]]:
    """Return path, line number and text of tracked lines that hold any of the words, whatever their case."""
    patterns = [part for word in words for part in ("-e", word)]
    printed = run(
        repository.top, "grep", "-n", "-I", "-i", "-F", "-z", "--no-color", "--max-count=20", *patterns, ok=(0, 1)
    )
    found: list[tuple[str, int, str]] = []
    for line in printed.decode("utf-8", "replace").splitlines():
        parts = line.split("\0", 2)
        if len(parts) == 3 and len(found) < limit:
            found.append((parts[0], int(parts[1]), parts[2]))
    return found


def history(repository: Repository, paths: Sequence[str], *, until: str | None = None) -> list[Commit]:
    """Return the commits that touched any of the paths, newest first, each with those it touched.

    `until` is the commit to start from, HEAD where it is None.
    """
    from git import Repo
    from git.exc import GitCommandError

    form = "%x01%h%x02%an%x02%aI%x02%s"
    with Repo(repository.top) as repo:
        try:
            options = (f"--format={form}", "--name-only", "--no-ext-diff", "--no-textconv", "-z")
            printed = repo.git.log(*options, until or "HEAD", "--", *paths)
        except GitCommandError:
            # A repository without a commit has no history, which is no fault.
            return []
    return [_commit(record) for record in str(printed).split("\x01") if record]


def _commit(record: str) -> Commit:
    head, _, rest = record.partition("\n")
    digest, author, when, subject = head.rstrip("\0").split("\x02", 3)
    return Commit(digest, author, when, subject.rstrip("\0"), tuple(path for path in rest.split("\0") if path))


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


def _pathspec(under: str) -> str:
    return f":(top,literal){under}" if under else ":(top)"


def _records(printed: bytes) -> list[str]:
    return [record for record in printed.decode("utf-8", "surrogateescape").split("\0") if record]
