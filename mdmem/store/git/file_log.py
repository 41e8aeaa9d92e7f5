"""Which commits changed one file, at this path and at those it had before."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from mdmem.store.git.errors import UnknownRevisionError
from mdmem.store.git.process import Repository, ask_history, pathspec, records, resolve

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
