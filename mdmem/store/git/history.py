"""Read the history of files: commits, authors, renames and earlier versions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from mdmem.disk import read_regular
from mdmem.errors import GitError
from mdmem.store.git.process import Repository, UnknownRevisionError, ask_history, pathspec, records, resolve, run


class Commit(Struct, frozen=True):
    """One commit as a reader wants it named; `when` is ISO 8601."""

    digest: str
    author: str
    when: str
    subject: str
    paths: tuple[str, ...] = ()


def list_deletions(
    repository: Repository, under: str, *, revisions: Sequence[str] = ()
) -> dict[str, tuple[str, str | None]]:
    """Return, for each path that history deleted or moved away, the newest such commit and the path it moved to.

    `revisions` are the commits to look from, HEAD where there are none.
    """
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
        printed = ask_history(repository, *arguments, *revisions, "--", pathspec(under))
    except GitError:
        return {}
    return _parse_deletions(records(printed))


def list_staged_deletions(
    repository: Repository, under: str, *, index: Path | None = None
) -> dict[str, tuple[str, str | None]]:
    """Return, for each path that the index deletes or moves away against HEAD, no commit and the path it moved to."""
    arguments = ("diff", "--cached", "-z", "-M", "--diff-filter=DR", "--name-status", "--no-ext-diff", "--no-textconv")
    try:
        printed = run(repository.top, *arguments, "--", pathspec(under), index=index)
    except GitError:
        return {}
    return _parse_deletions(records(printed))


class FileDays(Struct, frozen=True):
    """The days that history tells of files, by the path they have now.

    `added` is that of the first commit of each, `ended` that of the commit that changed its status to deprecated.
    """

    added: Mapping[str, str] = field(default_factory=dict)
    ended: Mapping[str, str] = field(default_factory=dict)


def file_days(repository: Repository, under: str) -> FileDays:
    """Return the days of the files below a folder; nothing in a shallow clone, where each file looks new."""
    plain = ("log", "-M", "--format=%x01%as", "--no-ext-diff", "--no-textconv", "--no-show-signature")
    if _cut_commits(repository):
        return FileDays()
    try:
        names = ask_history(repository, *plain, "-z", "--diff-filter=AR", "--name-status", "--", pathspec(under))
        patch = ("-p", "-U0", "--diff-filter=MR", "-G^status:", "--src-prefix=a/", "--dst-prefix=b/")
        # A commit without parents changed nothing, and git would search all that it added.
        changes = run(repository.top, "-c", "log.showRoot=false", *plain, *patch, "--", pathspec(under))
    except GitError:
        return FileDays()
    added, now = _parse_added(records(names))
    ended = _parse_ended(changes.decode("utf-8", "replace"))
    return FileDays(added, {now.get(path, path): day for path, day in reversed(ended)})


def first_days(repository: Repository, paths: Sequence[str]) -> dict[str, str]:
    """Return the day on which each of some files was first committed, through renames within their folders.

    Nothing in a shallow clone, where each file looks new.
    """
    folders = sorted({path.rpartition("/")[0] or path for path in paths})
    if not folders or _cut_commits(repository):
        return {}
    plain = ("log", "-M", "--format=%x01%as", "--no-ext-diff", "--no-textconv", "--no-show-signature")
    specs = [pathspec(folder) for folder in folders]
    try:
        names = ask_history(repository, *plain, "-z", "--diff-filter=AR", "--name-status", "--", *specs)
    except GitError:
        return {}
    added, _ = _parse_added(records(names))
    return {path: added[path] for path in paths if path in added}


def _parse_added(records: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the first day of each path, and where each path that was renamed is now."""
    steps: list[tuple[str, str, str]] = []
    day, tokens = "", iter(records)
    for token in tokens:
        token = token.lstrip("\n")
        if token.startswith("\x01"):
            day = token[1:]
        elif token.startswith(("A", "R")):
            first = next(tokens)
            steps.append((day, first, next(tokens) if token.startswith("R") else first))
    now: dict[str, str] = {}
    for _, old, new in steps:
        now.setdefault(old, now.get(new, new))
    added: dict[str, str] = {}
    for day, old, new in reversed(steps):
        added.setdefault(new, added.get(old, day))
    return added, now


# The front matter stands at the head of a file; what a body says of a status is none.
_ENDING = re.compile(
    r"^\x01(?P<day>\S+)$|^\+\+\+ b/(?P<path>.+?)\t?$|^@@ -\d{1,2}(?:,\d+)? \+\d{1,2}(?:,\d+)? @@.*\n"
    r"(?=(?:[-+].*\n)*?-status:)(?P<ended>(?:[-+].*\n)*?\+status:[ \t]*['\"]?deprecated\b)",
    re.MULTILINE,
)


def _parse_ended(patch: str) -> list[tuple[str, str]]:
    """Return path and day of each change of a status to deprecated, the newest first."""
    found, day, path = [], "", ""
    for part in _ENDING.finditer(patch):
        day, path = part["day"] or day, part["path"] or path
        if part["ended"]:
            found.append((path, day))
    return found


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


def history(repository: Repository, paths: Sequence[str], *, until: str | None = None) -> list[Commit]:
    """Return the commits that touched any of the paths, newest first, each with those it touched.

    `until` is the commit to start from, HEAD where it is None.
    """
    form = "%x01%h%x02%an%x02%aI%x02%s"
    options = (f"--format={form}", "--name-only", "--no-ext-diff", "--no-textconv", "--no-show-signature", "-z")
    try:
        printed = ask_history(repository, "log", *options, until or "HEAD", "--", *paths)
    except GitError:
        # A repository without a commit has no history, which is no fault; neither has one that is gone.
        return []
    text = printed.decode("utf-8", "surrogateescape")
    # A subject may hold the mark itself; what follows a real one is a digest.
    return [_commit(record) for record in re.split(r"\x01(?=[0-9a-f]{4,64}\x02)", text) if record]


def paths_of_commits(repository: Repository, digests: Sequence[str], under: str) -> dict[str, tuple[str, ...]]:
    """Return, for each commit, the paths below a folder that it touched, from the top.

    Each is there by its full digest and by its short one.
    """
    form = ("--no-walk=unsorted", "-m", "--name-only", "--format=%x01%H %h", "--no-ext-diff", "--no-textconv", "-z")
    printed = ask_history(repository, "log", *form, *digests, "--", pathspec(under))
    found: dict[str, tuple[str, ...]] = {}
    named: list[str] = []
    for token in records(printed):
        name = token.lstrip("\n")
        if name.startswith("\x01"):
            named = name[1:].split()
            found = dict.fromkeys(named, ()) | found
        elif name:
            found |= {digest: (*found[digest], name) for digest in named}
    return found


def _commit(record: str) -> Commit:
    head, _, rest = record.partition("\n")
    digest, author, when, subject = head.rstrip("\0").split("\x02", 3)
    return Commit(digest, author, when, subject.rstrip("\0"), tuple(path for path in rest.split("\0") if path))


_HEAD = re.compile(r"\n?\x01([0-9a-f]+) (\d{4}-\d\d-\d\d)\Z")
# git reads no date before it.
_EPOCH = date(1970, 1, 2)
# git compares every changed path with each of them, and a command line has an end: of more places all are asked for.
_MOST_PLACES = 256


class Activity(Struct, frozen=True):
    """The day of the newest change of each path, from the top; `is_cut`: a shallow clone may hide some."""

    days: Mapping[str, date] = field(default_factory=dict)
    is_cut: bool = False


def last_changes(repository: Repository, places: Sequence[str], *, since: date, until: str | None = None) -> Activity:
    """Return when the files at or below some paths last changed, asked of one git process.

    What a merge brought counts with the day of the merge: it was not here before. `until` is the commit to look from,
    HEAD where it is None. A repository without a commit has no changes. Raises GitError where git does not answer.
    """
    arguments = [
        *("log", "-z", "--first-parent", "--diff-merges=first-parent", "--name-only", "--format=%x01%H %cs"),
        *("--no-renames", "--no-ext-diff", "--no-textconv", "--no-show-signature", "--no-follow"),
    ]
    if since >= _EPOCH:
        # A day begins elsewhere up to 14 hours earlier.
        start = datetime.combine(since - timedelta(days=1), time(), UTC)
        arguments.append(f"--since={start.isoformat()}")
    paths = [pathspec(place) for place in places] if len(places) <= _MOST_PLACES else [pathspec("")]
    try:
        printed = ask_history(repository, *arguments, until or "HEAD", "--", *paths)
    except GitError:
        if _has_commit(repository):
            raise
        return Activity()
    cut = _cut_commits(repository)
    return Activity(_newest(records(printed), cut), bool(cut))


def _has_commit(repository: Repository) -> bool:
    return bool(run(repository.top, "rev-parse", "--verify", "--quiet", "HEAD^{commit}", ok=(0, 1, 128)))


def _newest(printed: Sequence[str], cut: frozenset[str]) -> dict[str, date]:
    newest: dict[str, date] = {}
    day: date | None = None
    for record in printed:
        head = _HEAD.match(record)
        if head:
            # Where a shallow clone ends, every file looks as if it were new.
            day = None if head[1] in cut else date.fromisoformat(head[2])
        elif day is not None:
            path = record.removeprefix("\n")
            newest[path] = max(day, newest.get(path, day))
    return newest


def _cut_commits(repository: Repository) -> frozenset[str]:
    """Return the commits whose parents a shallow clone left out."""
    try:
        return frozenset(read_regular(repository.common_dir / "shallow").decode("ascii").split())
    except OSError:
        return frozenset()


_FORM = "--format=%x01%H%x02%an%x02%ae%x02%cI%x02%s"
# Blob before and after, state, path, and the path it came from.
_Raw = tuple[str, str, str, str, str]
_RAW = ("--raw", "-z", "--no-abbrev", "--no-ext-diff", "--no-textconv")


class FileRevision(Struct, frozen=True):
    """One commit's change of a file: the blobs before and after, None for no file.

    `moved_from` is its path before, `moved_to` the one it has instead where it is gone; `when` is the committer's date
    in ISO 8601, `path` counts from the top.
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
        """Return the commit's name as people see it."""
        return self.commit[:10]


def file_changes(repository: Repository, path: str, *, until: str | None = None) -> tuple[FileRevision, ...]:
    """Return the commits that changed a file, newest first, followed through renames; none where there is no commit.

    `until` is the commit to look from, HEAD where it is None. As git's log does, it follows the side of a merge that
    the file came from; a merge is listed only where it differs from all it merges.
    """
    try:
        start: str | None = resolve(repository, until or "HEAD")
    except UnknownRevisionError:
        return ()
    found: list[FileRevision] = []
    seen: set[str] = set()
    while start is not None and path not in seen:
        seen.add(path)
        segment = list(_at_path(repository, path, start))
        made = segment[-1] if segment and segment[-1].before is None and segment[-1].after is not None else None
        origin = _origin(repository, made) if made is not None else None
        found += segment[:-1] if origin is not None else segment
        if origin is None:
            break
        found.append(origin)
        start, path = _parent(repository, origin.commit), origin.moved_from or ""
    if found and found[0].after is None:
        found[0] = replace(found[0], moved_to=_destination(repository, found[0]))
    return tuple(found)


def _at_path(repository: Repository, path: str, start: str) -> Iterator[FileRevision]:
    """Yield the changes of one path; the last of them is where the file came to it."""
    printed = ask_history(
        repository,
        "log",
        *_RAW,
        "--no-renames",
        "--no-show-signature",
        "--diff-merges=combined",
        _FORM,
        start,
        "--",
        pathspec(path),
    )
    for commit, changes in _commits(records(printed)):
        for before, after, state, name, _ in changes:
            if name == path:
                digest, author, email, when, subject = commit
                blobs = None if state == "A" else before, None if state == "D" else after
                yield FileRevision(digest, author, email, when, subject, path, *blobs)
                if state == "A":
                    return


def _commits(parts: list[str]) -> Iterator[tuple[list[str], list[_Raw]]]:
    """Yield what is said of each commit with its changes."""
    starts = [number for number, part in enumerate(parts) if part.lstrip("\n").startswith("\x01")]
    for start, end in zip(starts, [*starts, len(parts)][1:], strict=True):
        commit = parts[start].strip("\n").removeprefix("\x01").split("\x02", 4)
        yield commit, list(_raw(parts[start + 1 : end]))


def _raw(parts: list[str]) -> Iterator[_Raw]:
    rest = iter(parts)
    for part in rest:
        words = part.lstrip("\n").lstrip(":").split(" ")
        # A mode and a blob for each parent and for the result, and a letter for each parent.
        parents = len(words) // 2 - 1
        *before, after = words[parents + 1 : -1]
        first = next(rest)
        state = words[-1][0] if parents == 1 else _state(before, after)
        has_two = state in "RC"
        was = next((blob for blob in before if blob.strip("0")), before[0])
        yield was, after, state, next(rest) if has_two else first, first if has_two else ""


def _state(before: list[str], after: str) -> str:
    """Return the letter of what a merge did that differs from all it merges."""
    if not after.strip("0"):
        return "D"
    return "M" if any(blob.strip("0") for blob in before) else "A"


def _origin(repository: Repository, made: FileRevision) -> FileRevision | None:
    """Return the commit that made a file as the move that it was, None where it was none."""
    for before, after, state, new, old in _renames(repository, made.commit):
        if state == "R" and new == made.path:
            return replace(made, before=before, after=after, moved_from=old)
    return None


def _destination(repository: Repository, gone: FileRevision) -> str | None:
    renames = _renames(repository, gone.commit)
    return next((new for _, _, state, new, old in renames if state == "R" and old == gone.path), None)


def _renames(repository: Repository, commit: str) -> list[_Raw]:
    parent = _parent(repository, commit)
    if parent is None:
        return []
    # An entry is short, and a move rewrites its links: more than half of it may differ.
    return list(_raw(records(ask_history(repository, "diff-tree", "-r", "-M40%", "-l0", *_RAW, parent, commit))))


def _parent(repository: Repository, commit: str) -> str | None:
    try:
        return resolve(repository, f"{commit}^1")
    except UnknownRevisionError:
        return None
