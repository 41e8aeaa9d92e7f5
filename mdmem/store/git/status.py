"""List the files in the work tree, the index and commits, and the differences between these."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from mdmem.disk import read_regular
from mdmem.errors import SparseCheckoutError, UsageError
from mdmem.store.git.process import Repository, pathspec, records


class Blob(NamedTuple):
    """One file as git lists it, by its path from the top; `stage` is not 0 for a file with a merge conflict."""

    path: str
    mode: str
    digest: str
    stage: int = 0


def list_staged(repository: Repository, under: str) -> list[Blob]:
    """Return every file of the index below a folder, in git's order, without those of `git add --intent-to-add`."""
    printed = repository.run("ls-files", "-s", "-z", "--", pathspec(under))
    # The mode and the stage have a fixed width, but the length of hashes differs.
    parts = (record.partition("\t") for record in records(printed))
    blobs = [Blob(path, meta[:6], meta[7:-2], int(meta[-1])) for meta, _, path in parts]
    if not any(blob.digest.startswith(_EMPTY_BLOBS) for blob in blobs):
        return blobs
    # `git add --intent-to-add` lists a file with the hash of an empty file. Such a file is not staged yet.
    options = ("--name-only", "--diff-filter=A", "-z")
    intended = set(records(repository.run("diff-files", *options, "--", pathspec(under))))
    return [blob for blob in blobs if blob.path not in intended or not blob.digest.startswith(_EMPTY_BLOBS)]


# The beginning of the hash of an empty file, in a repository with SHA-1 and with SHA-256.
_EMPTY_BLOBS = ("e69de29bb2d1d643", "473a0f4c3be8a936")


def refuse_sparse(repository: Repository, root: Path) -> None:
    """Raise SparseCheckoutError if a sparse checkout left out files below a folder."""
    if (repository.git_dir / "info" / "sparse-checkout").exists():
        relative = root.relative_to(repository.top).as_posix()
        under = "" if relative == "." else relative
        printed = repository.run("ls-files", "-t", "-z", "--", pathspec(under))
        if any(record.startswith("S ") for record in records(printed)):
            fetch = f"`git sparse-checkout add {shlex.quote(relative)}`" if under else "`git sparse-checkout disable`"
            raise SparseCheckoutError(f"a sparse checkout left out files of the memory; type {fetch} to get them")


def list_revision(repository: Repository, commit: str, under: str) -> list[Blob]:
    """Return every file of a commit or a git tree below a folder, in git's order."""
    within = ["--", pathspec(under)] if under else []
    printed = repository.run("ls-tree", "-r", "-z", "--full-tree", commit, *within)
    parts = (record.partition("\t") for record in records(printed))
    return [Blob(path, meta[:6], meta.rpartition(" ")[2]) for meta, _, path in parts]


def _status(repository: Repository, specs: Sequence[str], *options: str) -> list[str]:
    """Return the records of `git status` in format version 2, without renames."""
    usual = ("--porcelain=v2", "-z", "--no-renames", "--untracked-files=all")
    return records(repository.run("status", *usual, *options, "--", *specs))


def list_changed(repository: Repository, *places: str) -> tuple[str | None, frozenset[str]]:
    """Return HEAD's commit (None before the first), and the changed or untracked paths at or below some places.

    If git converts the line ends of a file or filters it, the file may count as unchanged although its bytes differ.
    """
    printed = _status(repository, [*map(pathspec, places)], "--branch", "--no-ahead-behind")
    heads = (one.removeprefix("# branch.oid ") for one in printed if one.startswith("# branch.oid "))
    changed = frozenset(_parse(one).path for one in printed if not one.startswith("# "))
    # Before the first commit, git prints `(initial)` in place of the hash.
    return next(filter(str.isalnum, heads), None), changed


def list_changed_in_index(repository: Repository) -> list[str]:
    """Return the paths that differ between the index and HEAD; a moved file is listed with both paths."""
    arguments = ("diff", "--cached", "--name-only", "--no-renames", "--no-ext-diff", "--no-textconv", "-z")
    return records(repository.run(*arguments))


def list_tracked(repository: Repository) -> frozenset[str]:
    """Return the paths of all files of the index, relative to the top of the repository."""
    return frozenset(records(repository.run("ls-files", "-z")))


def list_ignored(repository: Repository, paths: Sequence[str]) -> frozenset[str]:
    """Return those of the paths that git ignores; paths are relative to the top of the repository."""
    if not paths:
        return frozenset()
    asked = b"".join(os.fsencode(path) + b"\0" for path in paths)
    printed = repository.run("check-ignore", "-z", "--stdin", text_in=asked, ok=(0, 1))
    return frozenset(records(printed))


def list_not_added(repository: Repository, under: str) -> frozenset[str]:
    """Return the untracked files below a folder that git does not ignore, relative to the top of the repository."""
    options = ("--others", "--exclude-standard", "-z")
    return frozenset(records(repository.run("ls-files", *options, "--", pathspec(under))))


def list_tracked_named(repository: Repository, name: str) -> list[str]:
    """Return the sorted tracked files with a name, in any folder; if there is none, the untracked ones."""
    wanted = ("-z", "--", f":(glob)**/{name}")
    # Use a set, because git lists a file in conflict once for each side.
    tracked = set(records(repository.run("ls-files", *wanted)))
    return sorted(tracked or records(repository.run("ls-files", "--others", "--exclude-standard", *wanted)))


def search_lines(
    repository: Repository,
    words: Sequence[str],
    limit: int,
    *,
    without: Sequence[str] = (),
    whole: bool = False,
    seconds: float | None = None,
) -> list[tuple[str, int, str]]:
    """Return path, line number and text of at most `limit` tracked lines that contain any of the words, ignoring case.

    A file gives at most twenty lines. Raises GitError after `seconds` seconds.
    """
    patterns = [part for word in words for part in ("-e", word)]
    options = ("-n", "-I", "-i", "-F", "-z", "--no-color", "--no-column", "--no-textconv", "--max-count=20")
    words_only = ("--word-regexp",) if whole else ()
    excluded = (f":(top,literal,exclude){folder}" for folder in without)
    command = ("grep", *options, *words_only, *patterns, "--", *excluded)
    printed = repository.run(*command, ok=(0, 1), seconds=seconds)
    found: list[tuple[str, int, str]] = []
    # Split at line feeds only, since a file that git treats as text may contain form feeds or NULs.
    for line in printed.decode("utf-8", "replace").split("\n"):
        parts = line.split("\0", 2)
        if len(parts) == 3 and parts[1].isdigit() and len(found) < limit:
            found.append((parts[0], int(parts[1]), parts[2].removesuffix("\r")))
    return found


def matching_lines(repository: Repository, start: str, under: str) -> list[str]:
    """Return the lines that match `start`, a basic regular expression, at their start; also in untracked files."""
    options = ("-h", "-I", "-G", "--untracked", "--no-color", "--no-textconv", "-e", f"^{start}")
    where = [pathspec(under)] if under else []
    printed = repository.run("grep", *options, "--", *where, ok=(0, 1))
    return printed.decode("utf-8", "replace").splitlines()


class FileStatus(Struct, frozen=True):
    """The state of one file: the two letters of `git status`, or `u` (in conflict), `?` (untracked) or `!` (ignored).

    `head` and `staged` are its hashes in HEAD and in the index. `is_untracked` means on disk, but not in the index.
    """

    path: str
    code: str
    head: str | None = None
    staged: str | None = None
    is_untracked: bool = False


# The number of paths per git command, so that the command line is short enough on every system.
_BATCH = 200


def list_file_status(repository: Repository, paths: Sequence[str]) -> list[FileStatus]:
    """Return the state of those files that differ between HEAD, the index and the disk, sorted by path."""
    found: dict[str, FileStatus] = {}
    asked = frozenset(paths)
    for start in range(0, len(paths), _BATCH):
        specs = [pathspec(path) for path in paths[start : start + _BATCH]]
        for record in _status(repository, specs, "--ignored=traditional"):
            one = _parse(record)
            # For a file in a nested repository, git lists the folder of that repository.
            if one.path not in asked:
                continue
            if one.path in found:
                # A file whose removal is staged and that is still on disk is listed twice.
                tracked = min(one, found[one.path], key=lambda each: each.is_untracked)
                one = FileStatus(one.path, tracked.code, tracked.head, tracked.staged, is_untracked=True)
            found[one.path] = one
    return [found[path] for path in sorted(found)]


def _parse(record: str) -> FileStatus:
    kind, _, rest = record.partition(" ")
    if kind == "1":
        code, _, _, _, _, head, staged, path = rest.split(" ", 7)
        # A hash of zeros means that there is no file.
        before, after = (digest if digest.strip("0") else None for digest in (head, staged))
        return FileStatus(path, code, before, None if code == ".A" else after)
    if kind == "u":
        return FileStatus(rest.split(" ", 9)[9], "u")
    return FileStatus(rest, kind, is_untracked=kind == "?")


# A file that exists during each operation. Rebase comes first, since it may also create the files of other operations.
_SIGNS = (
    ("rebase-merge", "rebase"),
    ("rebase-apply/applying", "am"),
    ("rebase-apply", "rebase"),
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("BISECT_LOG", "bisect"),
)


def state_of(repository: Repository) -> str | None:
    """Return the git operation in progress, or None: merge, rebase, am, cherry-pick, revert or bisect."""
    for name, operation in _SIGNS:
        if (repository.git_dir / name).exists():
            return operation
    try:
        # Between two commits of a longer cherry-pick or revert, only this file exists.
        word = read_regular(repository.git_dir / "sequencer" / "todo").decode("utf-8", "replace").split()[:1]
    except OSError:
        return None
    return "revert" if word == ["revert"] else "cherry-pick"


def refuse_while_busy(repository: Repository) -> None:
    """Raise UsageError, before anything is written, if a git operation is in progress that a commit would disturb."""
    operation = state_of(repository)
    if operation is None:
        return
    ends = "`git bisect reset`" if operation == "bisect" else f"`git {operation} --continue` or `--abort`"
    article = "an" if operation == "am" else "a"
    raise UsageError(f"{article} {operation} is in progress here; end it with {ends}, or leave out `--commit`")


def list_first_parents(repository: Repository, tip: str, *, until: date | None = None) -> list[tuple[str, str]]:
    """Return first-parent commits and their times in UTC, newest first; with `until`, only the last up to that day."""
    # The dates of commits may not be in order, so the commit nearest to the tip counts, as for `git rev-list --before`.
    end = int(datetime.combine(until, time(23, 59, 59), UTC).timestamp()) if until is not None else 0
    options = (f"--min-age={max(0, end)}", "--max-count=1") if until is not None else ()
    form = ("--no-show-signature", "--format=%H %cd", "--date=format-local:%Y-%m-%d %H:%M")
    printed = repository.run("log", "--first-parent", *form, *options, tip, "--", variables={"TZ": "UTC"})
    return [(commit, when) for commit, _, when in (line.partition(" ") for line in printed.decode().splitlines())]
