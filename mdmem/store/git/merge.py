"""Merge revisions without changing the work tree, and find common ancestors."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct
from msgspec.structs import replace

from mdmem.disk import read_regular
from mdmem.errors import GitError
from mdmem.store.git.process import (
    UNSHALLOW,
    NoCommonAncestorError,
    ObjectStore,
    Repository,
    ShallowHistoryError,
    records,
    resolve,
    run,
)


def is_ancestor(repository: Repository, old: str, new: str) -> bool:
    """Return whether a commit is an ancestor of another commit or the same; false if one is not in the repository."""
    return repository.run("rev-list", "--count", "--max-count=1", old, f"^{new}", "--", ok=(0, 128)).strip() == b"0"


def is_ancestor_of_any(repository: Repository, old: str, news: Iterable[str]) -> bool:
    """Return whether a commit is one of some commits or an ancestor of one; unknown commits are ignored."""
    asked = "".join([f"{old}\n", *(f"^{commit}\n" for commit in news)]).encode()
    return not repository.run("rev-list", "--max-count=1", "--ignore-missing", "--stdin", text_in=asked).strip()


def committed_at(repository: Repository, commit: str) -> datetime | None:
    """Return the committer's date of a commit in UTC, or None if Python cannot represent the date."""
    seconds = int(repository.run("log", "-1", "--no-show-signature", "--format=%ct", commit, "--"))
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None


class PathConflict(Struct, frozen=True, order=True):
    """A path that git cannot merge; `kind` is git's word, such as `content`, `add/add` or `modify/delete`."""

    path: str
    kind: str


class MergeResult(Struct, frozen=True):
    """The result of merging `commit` into `into`: its tree, the merge base, and the conflicts, sorted by path.

    `repository` can also read the new objects of the result; they are deleted together with it. Paths are relative to
    the top of the repository.
    """

    tree: str
    repository: Repository
    into: str
    commit: str
    ancestor: str
    conflicts: tuple[PathConflict, ...]


def merge(repository: Repository, into: str, commit: str) -> MergeResult:
    """Return the result of merging a revision into another one, without changing the repository.

    The result is the same on every machine and in a host's bare repository. Attributes and settings of the work tree
    are therefore ignored, and no merge driver runs. Raises UnknownRevisionError and subclasses of GitError.
    """
    ours, theirs = resolve(repository, into), resolve(repository, commit)
    ancestor = merge_base(repository, into, commit)
    printed = repository.run("rev-parse", "--git-path", "objects").decode("utf-8", "surrogateescape")
    store = ObjectStore((repository.top / printed.removesuffix("\n")).resolve())
    variables = {
        "GIT_DIR": str(repository.git_dir),
        "GIT_WORK_TREE": str(store.empty),
        "GIT_ATTR_NOSYSTEM": "1",
        "MDMEM_MERGE_FILE": "git merge-file --marker-size=%L -L ours -L base -L theirs %A %O %B",
    }
    drivers: set[str] = set()
    # Only this file can select a merge driver here, since git finds no other attributes.
    if (repository.common_dir / "info" / "attributes").exists():
        wanted = r"^merge\..*\.driver$"
        drivers.update(records(repository.run("config", "-z", "--name-only", "--get-regexp", wanted, ok=(0, 1))))
    replaced = (f"--config-env={name}=MDMEM_MERGE_FILE" for name in sorted(drivers))
    command = [*_SETTINGS, *replaced, "merge-tree", "--write-tree", "-z", "--messages", ours, theirs]
    # The exit code 129 means that git does not know an option.
    result = run(store.empty, *command, variables={**variables, **store.environment}, ok=(0, 1, 129))
    if not result:
        found = repository.run("version").decode().strip()
        raise GitError(f"the result of a merge needs git 2.38 or later; this is {found}")
    tree, _, rest = result.decode("utf-8", "surrogateescape").partition("\0")
    conflicts = tuple(sorted(_conflicts(rest)))
    return MergeResult(tree, replace(repository, objects=store), ours, theirs, ancestor, conflicts)


# Set every setting that changes a merge to git's default.
_SETTINGS = (
    *("-c", f"core.attributesFile={os.devnull}", "-c", "merge.default=text", "-c", "merge.conflictStyle=merge"),
    *("-c", "merge.directoryRenames=conflict", "-c", "merge.renames=true", "-c", "merge.renormalize=false"),
)
_KIND = re.compile(r"CONFLICT ?\(([^)]*)\)")


def _conflicts(printed: str) -> set[PathConflict]:
    """Return the conflicts from the output of `git merge-tree`: the list of unmerged files, and git's messages."""
    # A NUL ends each listed file, and another NUL separates the list from the messages.
    listed, _, messages = f"\0{printed}".partition("\0\0")
    unmerged = {record.split("\t", 1)[1] for record in listed.split("\0") if "\t" in record}
    found: set[PathConflict] = set()
    rest = iter(messages.split("\0"))
    for count in rest:
        if not count.isdecimal():
            break
        paths = [next(rest, "") for _ in range(int(count))]
        stated, message = next(rest, ""), next(rest, "")
        kind = _KIND.match(message) or _KIND.match(stated)
        if kind and paths:
            # The newest versions of git write `contents` in one place and `content` in another.
            word = "content" if kind[1] == "contents" else kind[1]
            found |= {PathConflict(path, word) for path in unmerged.intersection(paths) or paths[:1]}
    # Also report an unmerged file without a known message, since later versions of git may have new messages.
    return found | {PathConflict(path, "content") for path in unmerged - {one.path for one in found}}


def merge_base(repository: Repository, one: str, other: str) -> str:
    """Return the hash of a merge base of two revisions.

    Raises UnknownRevisionError for an unknown revision. Without a merge base, raises ShallowHistoryError in a shallow
    clone, else NoCommonAncestorError.
    """
    commits = (resolve(repository, one), resolve(repository, other))
    found = repository.run("merge-base", *commits, ok=(0, 1)).decode().split()
    if found:
        return found[0]
    if is_shallow(repository):
        common = f"the commit that `{one}` and `{other}` have in common"
        raise ShallowHistoryError(f"the history is cut off before {common}; {UNSHALLOW}")
    raise NoCommonAncestorError(f"`{one}` and `{other}` have no common history; choose a branch that shares it")


def is_shallow(repository: Repository) -> bool:
    """Return whether the repository is a shallow clone, whose older history is missing."""
    return repository.run("rev-parse", "--is-shallow-repository").strip() == b"true"


def pending_merge_parents(repository: Repository) -> tuple[str, ...]:
    """Return the commits that are being merged into HEAD; empty if no merge is in progress."""
    try:
        return tuple(read_regular(repository.git_dir / "MERGE_HEAD").decode("ascii").split())
    except FileNotFoundError:
        return ()


def merge_file(
    folder: Path,
    versions: tuple[bytes, bytes, bytes],
    *,
    labels: tuple[str, str, str] = ("ours", "base", "theirs"),
    width: int = 7,
) -> tuple[bytes, bool]:
    """Return the three-way merge of `versions` (ours, base, theirs), and whether the result has conflicts.

    The conflict style is read from git's settings in `folder`. Raises GitError for binary content.
    """
    named = [part for label in labels for part in ("-L", label)]
    with TemporaryDirectory(prefix="mdmem-") as temporary:
        files = [Path(temporary) / name for name in ("ours", "base", "theirs")]
        for file, content in zip(files, versions, strict=True):
            file.write_bytes(content)
        command = ["merge-file", "-p", f"--marker-size={width}", *named, *map(str, files)]
        try:
            return run(folder, *command), False
        except GitError:
            # The exit code is the number of conflicts, up to 127.
            return run(folder, *command, ok=tuple(range(1, 128))), True


def shows_base(folder: Path) -> bool:
    """Return whether git's setting `merge.conflictStyle` shows the base version in a conflict."""
    return run(folder, "config", "--get", "merge.conflictStyle", ok=(0, 1)).strip() in (b"diff3", b"zdiff3")
