"""Imports what other tools wrote: plans, writes, lists what is wrong in the records, and clears the old places.

The old files of what was moved into the memory: taken away as git's own move does, or left as a pointer.

Who mentions them, and how far git follows the move, is reported.
"""

from __future__ import annotations

import contextlib
import posixpath
from collections.abc import Collection, Sequence
from pathlib import Path

from msgspec import Struct

from mdmem.checks.case import Case
from mdmem.checks.engine import chosen_codes, run_checks
from mdmem.disk import read_regular
from mdmem.errors import GitError, UsageError
from mdmem.exchange.import_plan import ImportPlan, plan_import
from mdmem.exchange.intake import ImportRequest, Outcome
from mdmem.exchange.source import in_project
from mdmem.model.finding import Finding, Severity
from mdmem.store.git import list_tracked, search_lines
from mdmem.store.git.commit import stage_paths
from mdmem.store.git.history import list_staged_deletions
from mdmem.store.state import leads_away, write_whole
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.supersede import listed
from mdmem.write.write import WriteOptions, WriteResult, catalog_after, commit_files, write

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


class ImportReport(Struct, frozen=True, kw_only=True):
    """The plan that was carried out, what was written, and the errors that the records brought along.

    `gone` are the old files that were moved away; `unapproved` counts what would be in force with nobody behind it;
    `remarks` are sentences that belong to no file.
    """

    plan: ImportPlan
    written: WriteResult
    errors: tuple[Finding, ...] = ()
    gone: tuple[str, ...] = ()
    unapproved: int = 0
    remarks: tuple[str, ...] = ()


def import_records(workspace: Workspace, request: ImportRequest, options: WriteOptions) -> ImportReport:
    """Import what is asked for; nothing that exists is overwritten, and what cannot be imported is a row of its own.

    Raises UsageError for what was typed wrong, and what `write` raises; then nothing was written.
    """
    if request.leaves_pointer and not request.moves:
        raise UsageError("--pointer says what --move leaves in the old place; give both, or neither")
    plan = plan_import(workspace, request)

    def planned(fresh: Workspace) -> ImportPlan:
        nonlocal plan
        plan = plan_import(fresh, request) if fresh is not workspace else plan
        return plan

    old = OldPlaces(workspace, leaves_pointer=request.leaves_pointer) if request.moves else None
    if old is None:
        written = write(workspace, lambda one: planned(one).change_set, options)
        gone: tuple[str, ...] = ()
        remarks = plan.remarks
    else:
        # The new files come first: whoever is killed between has both, and types the same once more.
        uncommitted = WriteOptions(is_dry=options.is_dry, commit=False)
        written = write(workspace, lambda one: planned(one).change_set, uncommitted)
        mentions = old.mentions(plan)
        gone, said = old.clear(plan, is_dry=options.is_dry)
        remarks = (*plan.remarks, *said, *mentions)
        if not options.is_dry:
            remarks += old.unfollowed(gone)
            written = commit_files(workspace, plan.change_set, written, also=old.touched, commit=options.commit)
    errors = _errors(workspace, written, [row.address for row in plan.rows if row.outcome is Outcome.IMPORTED])
    unapproved = sum(1 for row in plan.rows if row.puts_in_force) if request.approved_by is None else 0
    return ImportReport(plan=plan, written=written, errors=errors, gone=gone, unapproved=unapproved, remarks=remarks)


def _errors(workspace: Workspace, written: WriteResult, addresses: Sequence[str | None]) -> tuple[Finding, ...]:
    """Return the errors that stand in the new entries, or are about one of them."""
    if not written.changes:
        return ()
    fresh = workspace if written.is_dry else workspace.reread()
    catalog = catalog_after(workspace, written.changes) if written.is_dry else fresh.whole_catalog
    case = Case(catalog, workspace.settings, workspace.today)
    found = run_checks(case, chosen_codes(workspace.settings))
    paths = {f"{one}.md" for one in addresses if one is not None}
    return tuple(one for one in found if one.severity is Severity.ERROR and _is_about(one, paths))


def _is_about(finding: Finding, paths: Collection[str]) -> bool:
    return finding.place.path in paths or (finding.other is not None and finding.other.path in paths)
