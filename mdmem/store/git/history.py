"""Read the history of files (commits, authors, renames, earlier versions), and merge revisions in memory."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from mdmem.disk import read_regular
from mdmem.errors import GitError
from mdmem.store.git.process import (
    OURS,
    SETTINGS,
    UNSHALLOW,
    NoCommonAncestorError,
    ObjectStore,
    Repository,
    ShallowHistoryError,
    UnknownRevisionError,
    pathspec,
    read_blobs,
    records,
    resolve,
    run,
)


def _ask(repository: Repository, command: str, *arguments: str) -> bytes:
    """Return the output of a git command about history, by GitPython; raises GitError."""
    # This import takes 0.1 s, so questions of a hook or about the current files must not come here. Import the package,
    # not its modules, since another thread could import a module before the package has found git.
    from git import Git
    from git.exc import CommandError

    # Do not use `Repo`, which accepts a folder with `HEAD`, `objects` and `refs` before it looks at `.git`.
    git = Git(repository.top)
    named = {"GIT_DIR": str(repository.git_dir), "GIT_COMMON_DIR": str(repository.common_dir)}
    if repository.top != repository.git_dir:
        named["GIT_WORK_TREE"] = str(repository.top)
    # GitPython passes on the environment of a hook. These variables override it.
    git.update_environment(**named, **OURS, **repository.variables)
    try:
        asked = getattr(git(c=list(SETTINGS)), command.replace("-", "_"))
        return bytes(asked(*arguments, stdout_as_string=False, strip_newline_in_stdout=False))
    except CommandError as error:
        words = str(error.stderr or "").strip().removeprefix("stderr: '").splitlines() or [str(error.status)]
        raise GitError(f"git {command}: {words[0].removeprefix('fatal: ')}") from error


class _Change(NamedTuple):
    """A changed file in git's raw format: the hashes before and after (None for no file), the new and the old path."""

    before: str | None
    after: str | None
    path: str
    old: str


class Commit(Struct, frozen=True):
    """One commit with its changes: the full and the short hash, and the author's and the committer's ISO time."""

    commit: str = ""
    digest: str = ""
    author: str = ""
    email: str = ""
    when: str = ""
    committed: str = ""
    subject: str = ""
    changes: tuple[_Change, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the paths that the commit changed."""
        return tuple(change.path for change in self.changes)


_PLAIN = ("--no-ext-diff", "--no-textconv")
_RAW = ("--raw", "-z", *_PLAIN)
_LOG = ("log", *_RAW, "--no-show-signature", "--format=%x01%H%x02%h%x02%aI%x02%cI%x02%an%x02%ae%x02%s")


def _logged(printed: bytes) -> Iterator[Commit]:
    """Yield the commits in the output of `_LOG`. Changes before the first commit have an empty one."""
    head, changes = Commit(), list[_Change]()
    parts = iter(records(printed))
    for part in (one.lstrip("\n") for one in parts):
        if part.startswith("\x01"):
            yield replace(head, changes=tuple(changes))
            # Names may contain the separator, so they come last.
            commit, digest, *times, author, email, subject = part[1:].split("\x02", 6)
            # git writes UTC as `Z` since version 2.46, and `+00:00` before.
            when, committed = (when.replace("Z", "+00:00") for when in times)
            head, changes = Commit(commit, digest, author, email, when, committed, subject), []
            continue
        words = part.lstrip(":").split(" ")
        # The words are a mode and a hash for each parent and for the result, and a letter for each parent.
        parents = len(words) // 2 - 1
        *before, after = (blob if blob.strip("0") else None for blob in words[parents + 1 : -1])
        old = path = next(parts)
        # For a merge, git lists only the new path.
        if words[-1][0] in "RC" and not part.startswith("::"):
            path = next(parts)
        changes.append(_Change(next(filter(None, before), None), after, path, old))
    yield replace(head, changes=tuple(changes))


def history(repository: Repository, paths: Sequence[str], *, until: str | None = None) -> list[Commit]:
    """Return the commits up to `until` that changed any of the pathspecs, newest first; empty if git fails."""
    # A repository without commits, or one that was deleted, has no history.
    with suppress(GitError):
        return [one for one in _logged(_ask(repository, *_LOG, until or "HEAD", "--", *paths)) if one.commit]
    return []


def last_touches(repository: Repository, since: str, tip: str, under: str) -> dict[str, tuple[str, str]]:
    """Return author and short hash of the last commit in `since..tip` by changed path; raises GitError if git fails."""
    printed = repository.run(*_LOG, "-c", "--no-renames", f"{since}..{tip}", "--", pathspec(under))
    found: dict[str, tuple[str, str]] = {}
    for commit in _logged(printed):
        for change in commit.changes:
            found.setdefault(change.path, (commit.author, commit.digest))
    return found


def list_deletions(
    repository: Repository, under: str, *, revisions: Sequence[str] = ()
) -> dict[str, tuple[str, str | None]]:
    """Return each path that the history deleted or moved, with the newest such commit and the new path, or None.

    Without `revisions` to start from, the staged changes count, too; their commit is empty. If git fails, paths may be
    missing.
    """
    options, printed = ("-M", "--diff-filter=DR"), b""
    with suppress(GitError):
        if not revisions:
            printed = repository.run("diff", "--cached", *_RAW, *options, "--", pathspec(under))
    with suppress(GitError):
        printed += repository.run(*_LOG, *options, *revisions, "--", pathspec(under))
    gone: dict[str, tuple[str, str | None]] = {}
    for commit in _logged(printed):
        for change in commit.changes:
            gone.setdefault(change.old, (commit.digest, change.path if change.after is not None else None))
    return gone


def first_days(repository: Repository, folders: Sequence[str]) -> dict[str, str]:
    """Return the ISO day of the first commit of each file, following renames; empty in a shallow clone."""
    days: dict[str, str] = {}
    for day, change in reversed(_arrivals(repository, folders)):
        days.setdefault(change.path, days.get(change.old, day))
    return days


def _arrivals(repository: Repository, folders: Sequence[str]) -> list[tuple[str, _Change]]:
    """Return the changes that added or renamed a file, newest first, each with its day."""
    # In a shallow clone every file would look new.
    if folders and not _cut_commits(repository):
        with suppress(GitError):
            found = _logged(repository.run(*_LOG, "-M", "--diff-filter=AR", "--", *map(pathspec, folders)))
            return [(one.when[: len("2026-01-31")], change) for one in found for change in one.changes]
    return []


def days_of_ends(repository: Repository, under: str) -> dict[str, str]:
    """Return the ISO day on which each file's status became deprecated; empty in a shallow clone, or if git fails."""
    current: dict[str, str] = {}
    for _, change in _arrivals(repository, [under]):
        current.setdefault(change.old, current.get(change.path, change.path))
    if not current:
        return {}
    # Leave out the first commit, because it changed no status and git would search all its files.
    asked = (*_LOG, "-M", "--no-abbrev", "--diff-filter=MR", "-G^status:", "--", pathspec(under))
    try:
        found = _logged(repository.run("-c", "log.showRoot=false", *asked))
    except GitError:
        # The remote of a partial clone cannot be reached.
        return {}
    changes = [(one.when[: len("2026-01-31")], change) for one in found for change in one.changes]
    blobs = {blob for _, change in changes for blob in (change.before, change.after) if blob is not None}
    is_ended = {blob: _ENDED.match(content or b"") is not None for blob, content in read_blobs(repository, blobs)}
    ended: dict[str, str] = {}
    for day, change in changes:
        if is_ended.get(change.after or "") and not is_ended.get(change.before or ""):
            # Commits are listed newest first, so keep the first day.
            ended.setdefault(current.get(change.path, change.path), day)
    return ended


# Matches a file whose front matter has this status; its body may contain `status:`, too.
_ENDED = re.compile(rb"(?:\xef\xbb\xbf)?---(?:(?!\n---).)*?\nstatus:[ \t]*['\"]?deprecated\b", re.DOTALL)


# With more paths than this, ask git about the whole repository, because command lines are limited in length.
_MAX_PLACES = 256


class Activity(Struct, frozen=True):
    """The day of the newest change of each path; `is_cut` says that a shallow clone may hide changes."""

    days: Mapping[str, date] = field(default_factory=dict)
    is_cut: bool = False


def last_changes(repository: Repository, places: Sequence[str], *, since: date, until: str | None = None) -> Activity:
    """Return the day of the last change of each file at or below some paths, by path.

    With more than 256 paths, all files of the repository count. Changes before the day `since` are left out, except
    some of the day before `since`. Changes that a merge brought in count on the day of the merge. Raises GitError if
    git fails.
    """
    # Begin a day earlier, since a day begins up to 14 hours earlier in other time zones. git needs a date after 1970.
    start = max(since, date(1970, 1, 2)) - timedelta(days=1)
    options = ("--first-parent", "--diff-merges=first-parent", "--no-renames", "--no-follow")
    paths = [pathspec(place) for place in places] if len(places) <= _MAX_PLACES else [pathspec("")]
    try:
        printed = _ask(repository, *_LOG, *options, f"--since={start}T00:00:00+00:00", until or "HEAD", "--", *paths)
    except GitError:
        if repository.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}", ok=(0, 1, 128)):
            raise
        return Activity()
    cut = _cut_commits(repository)
    newest: dict[str, date] = {}
    # In the oldest commit of a shallow clone every file looks new, so that commit does not count.
    for commit in (one for one in _logged(printed) if one.commit not in cut):
        for change in commit.changes:
            day = date.fromisoformat(commit.committed[: len("2026-01-31")])
            newest[change.path] = max(day, newest.get(change.path, day))
    return Activity(newest, bool(cut))


def _cut_commits(repository: Repository) -> frozenset[str]:
    """Return the commits whose parents a shallow clone left out."""
    try:
        return frozenset(read_regular(repository.common_dir / "shallow").decode("ascii").split())
    except OSError:
        return frozenset()


class FileRevision(Struct, frozen=True):
    """One commit's change of a file, with the hashes of the content before and after; None if there was no file.

    `moved_from` is the earlier path, and `moved_to` the later path of a file that was moved away.
    """

    commit: str
    author: str
    email: str
    when: str
    subject: str
    path: str
    before: str | None
    after: str | None
    moved_from: str | None = None
    moved_to: str | None = None

    @property
    def short(self) -> str:
        """Return the abbreviated hash of the commit."""
        return self.commit[:10]


def file_changes(repository: Repository, path: str, *, until: str | None = None) -> tuple[FileRevision, ...]:
    """Return the commits that changed a file, newest first, following renames; empty if there is no commit.

    At a merge, only the side that the file came from is followed, and a merge counts only if it differs from all
    parents.
    """
    try:
        start = resolve(repository, until or "HEAD")
    except UnknownRevisionError:
        return ()
    found: list[FileRevision] = []
    seen: set[str] = set()
    while path not in seen:
        seen.add(path)
        options = ("--no-renames", "--no-abbrev", "--diff-merges=combined", start, "--", pathspec(path))
        commits = _logged(_ask(repository, *_LOG, *options))
        steps = [(commit, change) for commit in commits for change in commit.changes if change.path == path]
        for one, change in steps:
            at = (one.commit, one.author, one.email, one.committed, one.subject)
            found.append(FileRevision(*at, path, change.before, change.after))
            if change.before is None:
                break
        if not found or found[-1].before is not None or found[-1].after is None:
            break
        # The commit that added the file may have renamed it. `git log --follow` is not used, as it also follows copies.
        added = found[-1]
        move = next((one for one in _renames_of(repository, added.commit) if one.path == path), None)
        if move is None:
            break
        start, path = f"{added.commit}^1", move.old
        found[-1] = replace(added, before=move.before, moved_from=path)
    if found and found[0].after is None:
        moves = _renames_of(repository, found[0].commit)
        found[0] = replace(found[0], moved_to=next((one.path for one in moves if one.old == found[0].path), None))
    return tuple(found)


def _renames_of(repository: Repository, commit: str) -> list[_Change]:
    """Return the renames in a commit; empty if its parent is not in this clone."""
    with suppress(GitError):
        # 40% is less than git's default: entries are short and a move rewrites links, so much of a file may differ.
        printed = _ask(repository, "diff-tree", "-r", "-M40%", "-l0", *_RAW, "--no-abbrev", f"{commit}^1", commit)
        changes = next(_logged(printed)).changes
        return [one for one in changes if one.old != one.path and one.before is not None]
    return []


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
    """A path that git cannot merge; `kind` is git's word, such as `content`, `add/add` or `modify/delete`.

    If both sides moved a file, `moves` has its old path and its new path on each side.
    """

    path: str
    kind: str
    moves: tuple[str, ...] = ()


class MergeResult(Struct, frozen=True):
    """The result of merging `commit` into `into`: its tree, the merge base, and the conflicts, sorted by path.

    `repository` can also read the objects that the merge created, which are deleted when `repository` is.
    """

    tree: str
    repository: Repository
    into: str
    commit: str
    ancestor: str
    conflicts: tuple[PathConflict, ...]


def merge(repository: Repository, into: str, commit: str) -> MergeResult:
    """Return the result of merging a revision into another one, without changing the repository.

    To get the same result on every machine, attributes and settings of the work tree are ignored and no merge driver
    runs. Raises GitError if git fails.
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
        raise GitError(f"checking a merge needs git 2.38 or later; this is {found}")
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
            moves = tuple(paths) if word == "rename/rename" and len(paths) == 3 else ()
            found |= {PathConflict(path, word, moves) for path in unmerged.intersection(paths) or paths[:1]}
    # Also report an unmerged file without a known message, since later versions of git may have new messages.
    return found | {PathConflict(path, "content") for path in unmerged - {one.path for one in found}}


def merge_base(repository: Repository, one: str, other: str) -> str:
    """Return the merge base of two revisions. If there is none, the class of the error says why."""
    commits = (resolve(repository, one), resolve(repository, other))
    found = repository.run("merge-base", *commits, ok=(0, 1)).decode().split()
    if found:
        return found[0]
    if is_shallow(repository):
        common = f"the commit that `{one}` and `{other}` have in common"
        raise ShallowHistoryError(f"the history of this clone does not reach back to {common}; {UNSHALLOW}")
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
    """Return the merge of `versions` (ours, base, theirs), and whether it has conflicts; binaries raise GitError."""
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
