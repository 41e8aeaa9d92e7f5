"""The old files of what was moved into the memory: taken away as git's own move does, or left as a pointer.

Who mentions them, and how far git follows the move, is reported.
"""

from __future__ import annotations

import contextlib
import posixpath
from collections.abc import Sequence
from pathlib import Path

from mdmem.disk import read_regular
from mdmem.errors import GitError
from mdmem.exchange.import_plan import ImportPlan
from mdmem.exchange.source import in_project
from mdmem.store.git import list_tracked, search_lines
from mdmem.store.git.commit import stage_paths
from mdmem.store.git.history import list_staged_deletions
from mdmem.store.state import leads_away, write_whole
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.citations import listed

# So many patterns fit on a command line.
_AT_ONCE = 200
_MOST = 100_000
_SHORT = 8


class OldPlaces:
    """Clears the files that an import took in, each only as it was read; `touched` are paths from the top."""

    def __init__(self, workspace: Workspace, *, leaves_pointer: bool) -> None:
        """Take the workspace before anything is written."""
        self._location, self._leaves_pointer = workspace.location, leaves_pointer
        self.touched: list[str] = []

    def clear(self, plan: ImportPlan, *, is_dry: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the files that are gone, or would be, and sentences about those that had to stay."""
        gone, said = [], []
        for path, content in plan.contents.items():
            why = None if is_dry else self._clear(path, content, _entries(plan, path))
            if why is None:
                gone.append(path)
            else:
                said.append(f"{path} stays: {why}; the same command takes it away later")
        if not is_dry:
            self._stage(plan, gone)
        return tuple(gone), tuple(said)

    def mentions(self, plan: ImportPlan) -> tuple[str, ...]:
        """Return a sentence about the files of the repository that mention the old paths; none with a pointer."""
        repository = self._location.repository
        if repository is None or self._leaves_pointer or not plan.contents:
            return ()
        own = [self._location.under] if self._location.under else []
        found: dict[str, int] = {}
        paths = list(plan.contents)
        for start in range(0, len(paths), _AT_ONCE):
            words = [_called(path) for path in paths[start : start + _AT_ONCE]]
            for path, line, _ in search_lines(repository, words, _MOST, without=own):
                if path not in plan.contents:
                    found.setdefault(path, line)
        if not found:
            return ()
        files = "1 file mentions" if len(found) == 1 else f"{len(found)} files mention"
        named = listed([f"{path}:{line}" for path, line in sorted(found.items())])
        return (f"{files} moved records: {named}; with --pointer, a line in each old place leads to the new one",)

    def unfollowed(self, gone: Sequence[str]) -> tuple[str, ...]:
        """Return a sentence about the moves that git takes for a new file, since more than half of it changed."""
        repository = self._location.repository
        if repository is None or self._leaves_pointer:
            return ()
        moves = list_staged_deletions(repository, "")
        lost = [path for path in gone if path in moves and moves[path][1] is None]
        if not lost:
            return ()
        files = f"{len(lost)} of {len(gone)} files" if len(gone) > 1 else "the file"
        why = f"{files} changed by more than half, so that `git log --follow` ends at the move"
        return (f"{why}; `git log --follow -M10%` and `mdmem log` go on",)

    def _clear(self, path: str, content: bytes, entries: list[tuple[str, str]]) -> str | None:
        base = self._location.base
        place = base / path
        try:
            if leads_away(base, path):
                return "a symbolic link is on the way"
            if read_regular(place, follow=False) != content:
                return "it changed while it was imported"
            if self._leaves_pointer:
                write_whole(place, self._pointer(path, entries))
            else:
                place.unlink()
                _remove_empty(base, place.parent)
        except OSError as error:
            return (error.strerror or str(error)).lower()
        return None

    def _pointer(self, path: str, entries: list[tuple[str, str]]) -> bytes:
        folder = posixpath.dirname(path) or "."
        places = ((title, in_project(self._location, f"{address}.md")) for address, title in entries)
        links = (f"[{title}](<{posixpath.relpath(place, folder)}>)" for title, place in places)
        return f"Moved to {', '.join(links)}.\n".encode()

    def _stage(self, plan: ImportPlan, gone: list[str]) -> None:
        """Stage both sides of each move that git knew the old one of."""
        repository = self._location.repository
        if repository is None or not gone:
            return
        tracked = list_tracked(repository)
        new = [in_project(self._location, f"{address}.md") for path in gone for address, _ in _entries(plan, path)]
        self.touched = [path for path in gone if path in tracked]
        # What cannot be staged now is on disk all the same.
        with contextlib.suppress(GitError):
            stage_paths(repository, [*self.touched, *new])


def _called(path: str) -> str:
    """Return what mentions of a file have in common: its name, with its folder where that is a mere number."""
    stem = posixpath.splitext(posixpath.basename(path))[0]
    return stem if "-" in stem and len(stem) > _SHORT else "/".join(path.split("/")[-2:])


def _entries(plan: ImportPlan, path: str) -> list[tuple[str, str]]:
    return [
        (row.address, row.title or row.address) for row in plan.rows if row.path == path and row.address is not None
    ]


def _remove_empty(base: Path, folder: Path) -> None:
    while folder != base and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent
