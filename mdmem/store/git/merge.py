"""Merge revisions without a work tree, and compare them by ancestry."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct
from msgspec.structs import replace

from mdmem.disk import read_regular
from mdmem.errors import GitError
from mdmem.store.git.process import (
    UNSHALLOW,
    GitTooOldError,
    NoCommonAncestorError,
    ObjectStore,
    Repository,
    ShallowHistoryError,
    new_store,
    resolve,
    run,
)


def is_ancestor(repository: Repository, old: str, new: str) -> bool:
    """Say whether a commit is another one or led to it; one that is not here led to nothing."""
    asked = ("rev-list", "--count", "--max-count=1", old, f"^{new}", "--")
    return run(repository.top, *asked, variables=repository.variables, ok=(0, 128)).strip() == b"0"


def leading_to(repository: Repository, olds: Iterable[str], new: str) -> frozenset[str]:
    """Return those of some commits that are a commit or led to it; one that is not here led to nothing."""
    wanted = frozenset(olds)
    if not wanted:
        return wanted
    printed = run(repository.top, "rev-list", new, "--", variables=repository.variables)
    return wanted.intersection(printed.decode("ascii").split())


def led_to_any(repository: Repository, old: str, news: Iterable[str]) -> bool:
    """Say whether a commit is one of others or led to one; those that are not here are passed over."""
    asked = "".join([f"{old}\n", *(f"^{commit}\n" for commit in news)]).encode()
    counted = ("rev-list", "--max-count=1", "--ignore-missing", "--stdin")
    return not run(repository.top, *counted, text_in=asked, variables=repository.variables).strip()


def root_commits(repository: Repository, commit: str) -> tuple[str, ...]:
    """Return the commits without a parent that a history begins with, sorted."""
    printed = run(repository.top, "rev-list", "--max-parents=0", commit, "--", variables=repository.variables)
    return tuple(sorted(printed.decode("ascii").split()))


def committed_at(repository: Repository, commit: str) -> datetime | None:
    """Return a commit's own date; None where it lies beyond the calendar."""
    asked = ("log", "-1", "--no-show-signature", "--format=%ct", commit, "--")
    seconds = int(run(repository.top, *asked, variables=repository.variables))
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None


class PathConflict(Struct, frozen=True):
    """A path that git cannot merge; `kind` is git's word: `content`, `add/add`, `modify/delete`, `rename/delete`, …"""

    path: str
    kind: str


# `merge-tree --write-tree` came with it.
_NEEDED = "2.38"
# git's exit code for options that it does not know.
_USAGE = 129
_KIND = re.compile(r"CONFLICT ?\(([^)]*)\)")
# The words of the type differ from those of the sentence, which the newest versions leave out for some.
_KINDS = {"contents": "content"}


class MergeResult(Struct, frozen=True):
    """The result of merging `commit` into `into`: its tree, what they both come from, and what git cannot merge.

    `repository` also sees the objects of the result, for as long as it is held. `bases` has several commits where
    the two branches were merged crosswise; `conflicts` are paths from the top with git's word for each, sorted.
    """

    tree: str
    repository: Repository
    into: str
    commit: str
    bases: tuple[str, ...]
    conflicts: tuple[tuple[str, str], ...]

    @property
    def ancestor(self) -> str:
        """Return the commit that both come from, the first that git names where there are several."""
        return self.bases[0]

    def conflicts_below(self, folder: str) -> tuple[PathConflict, ...]:
        """Return what git cannot merge below a folder, by path from there."""
        under = f"{folder}/" if folder else ""
        return tuple(PathConflict(path[len(under) :], kind) for path, kind in self.conflicts if path.startswith(under))


def merge(repository: Repository, into: str, commit: str) -> MergeResult:
    """Return the result of merging a revision into another one; nothing of the repository is touched.

    It is what a host's bare repository gives, the same everywhere: attributes and settings of the work tree have no
    say, and no merge driver runs. Raises UnknownRevisionError and subclasses of GitError.
    """
    ours, theirs = resolve(repository, into), resolve(repository, commit)
    bases = _merge_bases(repository, into, commit)
    printed = run(repository.top, "rev-parse", "--git-path", "objects").decode("utf-8", "surrogateescape")
    store = new_store((repository.top / printed.removesuffix("\n")).resolve(), os.environ)
    try:
        result = _merge_tree(repository, store, ours, theirs)
    except GitError:
        store.close()
        raise
    tree, _, rest = result.decode("utf-8", "surrogateescape").partition("\0")
    seeing = replace(repository, objects=store)
    return MergeResult(tree, seeing, ours, theirs, bases, tuple(sorted(_conflicts(rest))))


def _merge_tree(repository: Repository, store: ObjectStore, ours: str, theirs: str) -> bytes:
    variables = {
        "GIT_DIR": str(repository.git_dir),
        "GIT_WORK_TREE": str(store.empty),
        "GIT_ATTR_NOSYSTEM": "1",
        "MDMEM_MERGE_FILE": _MERGE_FILE,
    }
    drivers = [f"--config-env={name}=MDMEM_MERGE_FILE" for name in _drivers(repository)]
    command = [*_SETTINGS, *drivers, "merge-tree", "--write-tree", "-z", "--messages", ours, theirs]
    done = run(store.empty, *command, variables={**variables, **store.environment}, ok=(0, 1, _USAGE))
    if not done:
        found = run(repository.top, "version").decode().strip()
        raise GitTooOldError(f"the result of a merge needs git {_NEEDED} or later; this is {found}")
    return done


_MERGE_FILE = "git merge-file --marker-size=%L -L ours -L base -L theirs %A %O %B"
# Whatever else has a say in a merge is set to git's default.
_SETTINGS = tuple(
    part
    for said in (
        f"core.attributesFile={os.devnull}",
        "merge.default=text",
        "merge.conflictStyle=merge",
        "merge.directoryRenames=conflict",
        "merge.renames=true",
        "merge.renormalize=false",
    )
    for part in ("-c", said)
)


def _drivers(repository: Repository) -> list[str]:
    """Return the settings that name a driver's command; the one file of attributes left could call for them."""
    if not (repository.common_dir / "info" / "attributes").exists():
        return []
    wanted = ("config", "-z", "--name-only", "--get-regexp", r"^merge\..*\.driver$")
    printed = run(repository.top, *wanted, ok=(0, 1)).decode("utf-8", "surrogateescape")
    return sorted({name for name in printed.split("\0") if name})


def _conflicts(printed: str) -> Iterator[tuple[str, str]]:
    """Yield path and kind, each once, from the two sections after the tree."""
    # Each listed file ends with a NUL, and one more precedes the messages.
    listed, _, messages = f"\0{printed}".partition("\0\0")
    unmerged = {record.split("\t", 1)[1] for record in listed.split("\0") if "\t" in record}
    found: dict[tuple[str, str], None] = {}
    rest = iter(messages.split("\0"))
    for count in rest:
        if not count.isdecimal():
            break
        paths = [next(rest, "") for _ in range(int(count))]
        stated, message = next(rest, ""), next(rest, "")
        kind = _KIND.match(message) or _KIND.match(stated)
        if kind and paths:
            word = _KINDS.get(kind[1], kind[1])
            found |= {(path, word): None for path in [one for one in paths if one in unmerged] or paths[:1]}
    yield from found
    # A kind of message that a later git invents must not hide a conflict.
    yield from ((path, "content") for path in unmerged - {path for path, _ in found})


def merge_base(repository: Repository, one: str, other: str) -> str:
    """Return the commit that two revisions come from.

    Raises UnknownRevisionError, ShallowHistoryError and NoCommonAncestorError.
    """
    return _merge_bases(repository, one, other)[0]


def _merge_bases(repository: Repository, one: str, other: str) -> tuple[str, ...]:
    commits = (resolve(repository, one), resolve(repository, other))
    found = run(repository.top, "merge-base", "--all", *commits, ok=(0, 1)).decode().split()
    if found:
        return tuple(found)
    if is_shallow(repository):
        common = f"the commit that `{one}` and `{other}` have in common"
        raise ShallowHistoryError(f"the history is cut off before {common}; {UNSHALLOW}")
    raise NoCommonAncestorError(f"`{one}` and `{other}` have no common history; choose a branch that shares it")


def is_shallow(repository: Repository) -> bool:
    """Say whether the history was cut off when the repository was cloned or fetched."""
    return run(repository.top, "rev-parse", "--is-shallow-repository").strip() == b"true"


def parents_at_hand(repository: Repository) -> tuple[str, ...]:
    """Return the commits that a merge at hand will have as parents beside HEAD; none where no merge is being made."""
    try:
        return tuple(read_regular(repository.git_dir / "MERGE_HEAD").decode("ascii").split())
    except FileNotFoundError:
        return ()


# git counts the conflicts in its exit code, up to this many.
_CONFLICTS = tuple(range(1, 128))


def merge_file(
    folder: Path,
    versions: tuple[bytes, bytes, bytes],
    *,
    labels: tuple[str, str, str] = ("ours", "base", "theirs"),
    width: int = 7,
) -> tuple[bytes, bool]:
    """Return the merge of ours, base and theirs, and whether it holds a conflict.

    The settings for conflicts are those of `folder`. Raises GitError for what is no text.
    """
    named = [part for label in labels for part in ("-L", label)]
    with TemporaryDirectory(prefix="mdmem-") as kept:
        files = [Path(kept) / name for name in ("ours", "base", "theirs")]
        for file, content in zip(files, versions, strict=True):
            file.write_bytes(content)
        command = ["merge-file", "-p", f"--marker-size={width}", *named, *map(str, files)]
        try:
            return run(folder, *command), False
        except GitError:
            return run(folder, *command, ok=_CONFLICTS), True


def shows_base(folder: Path) -> bool:
    """Say whether the user wants to see what both sides come from in a conflict, as `merge.conflictStyle` says."""
    return run(folder, "config", "--get", "merge.conflictStyle", ok=(0, 1)).strip() in (b"diff3", b"zdiff3")
