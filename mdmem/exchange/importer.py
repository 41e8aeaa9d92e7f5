"""Import what other tools wrote: plan, write, remove or replace the old files, and check the new entries."""

from __future__ import annotations

import contextlib
import posixpath
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from mdmem.checks.case import Case
from mdmem.checks.engine import chosen_codes, run_checks
from mdmem.checks.run import CheckRequest, check_all
from mdmem.disk import read_regular
from mdmem.errors import GitError, UsageError
from mdmem.exchange.import_plan import ImportPlan, plan_import
from mdmem.exchange.intake import ImportRequest, Outcome
from mdmem.exchange.source import in_project
from mdmem.model.finding import Finding, Severity
from mdmem.store.git.commit import stage_paths
from mdmem.store.git.history import list_staged_deletions
from mdmem.store.git.status import list_tracked, search_lines
from mdmem.store.state import leads_away, write_whole
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.supersede import listed
from mdmem.write.write import WriteOptions, WriteResult, catalog_after, commit_files, write

# So many patterns fit on a command line.
_AT_ONCE = 200
_MOST_LINES = 100_000
# A shorter name of a file is common in texts.
_SHORT = 8


class ImportReport(Struct, frozen=True, kw_only=True):
    """The plan, the result of the write, and the errors and warnings about the new entries.

    `gone` are the old files that were moved, `unapproved` counts the active rules that nobody approved.
    """

    plan: ImportPlan
    written: WriteResult
    errors: tuple[Finding, ...] = ()
    warnings: tuple[Finding, ...] = ()
    gone: tuple[str, ...] = ()
    unapproved: int = 0
    remarks: tuple[str, ...] = ()


def import_records(workspace: Workspace, request: ImportRequest, options: WriteOptions) -> ImportReport:
    """Import records. Nothing is overwritten, and a source that cannot be imported is a row of the plan.

    Raises UsageError, and what `write` raises; then nothing was written.
    """
    if request.leaves_pointer and not request.moves:
        raise UsageError("--pointer is about the files that --move moves; use both, or neither")
    plan = plan_import(workspace, request)

    def planned(fresh: Workspace) -> ImportPlan:
        nonlocal plan
        plan = plan_import(fresh, request) if fresh is not workspace else plan
        return plan

    gone: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    if not request.moves:
        written = write(workspace, lambda one: planned(one).change_set, options)
    else:
        # The new files come first: after an interruption both exist, and the same command completes the move.
        uncommitted = WriteOptions(is_dry=options.is_dry, commit=False)
        written = write(workspace, lambda one: planned(one).change_set, uncommitted)
        old = _OldFiles(workspace, plan, leaves_pointer=request.leaves_pointer)
        mentions = old.mentions()
        gone, said = old.clear(is_dry=options.is_dry)
        remarks = (*said, *mentions)
        if not options.is_dry:
            remarks += old.unfollowed(gone)
            written = commit_files(workspace, plan.change_set, written, also=old.staged, commit=options.commit)
    new = {f"{row.address}.md" for row in plan.rows if row.outcome is Outcome.IMPORTED}
    found = _findings(workspace, written, new)
    unapproved = sum(row.is_new_rule for row in plan.rows) if request.approved_by is None else 0
    return ImportReport(
        plan=plan,
        written=written,
        errors=tuple(one for one in found if one.severity is Severity.ERROR),
        warnings=tuple(one for one in found if one.severity is Severity.WARNING),
        gone=gone,
        unapproved=unapproved,
        remarks=(*plan.remarks, *remarks),
    )


def _findings(workspace: Workspace, written: WriteResult, paths: set[str]) -> list[Finding]:
    """Return the findings of `mdmem check` in some new entries, or about them; those of a dry run lack git's facts."""
    if not written.changes:
        return []
    if written.is_dry:
        case = Case(catalog_after(workspace, written.changes), workspace.settings, workspace.today)
        found: Sequence[Finding] = run_checks(case, chosen_codes(workspace.settings))
    else:
        found = check_all(workspace.reread(), CheckRequest(with_uncommitted=True)).findings
    return [one for one in found if one.place.path in paths or (one.other is not None and one.other.path in paths)]


class _OldFiles:
    """The files that an import moves; `staged` are those that git knows, by their path from the top."""

    def __init__(self, workspace: Workspace, plan: ImportPlan, *, leaves_pointer: bool) -> None:
        self._location, self._plan, self._leaves_pointer = workspace.location, plan, leaves_pointer
        self.staged: list[str] = []

    def clear(self, *, is_dry: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Remove or replace the files that are as they were read; return these, and messages about the others."""
        gone, said = [], []
        for path, content in self._plan.contents.items():
            why = None if is_dry else self._clear(path, content)
            if why is None:
                gone.append(path)
            else:
                said.append(f"{path} stays: {why}; run the same command again to move it")
        repository = self._location.repository
        if repository is not None and gone and not is_dry:
            tracked = list_tracked(repository)
            self.staged = [path for path in gone if path in tracked]
            new = [in_project(self._location, f"{address}.md") for path in gone for address, _ in self._entries(path)]
            # What cannot be staged is on disk all the same.
            with contextlib.suppress(GitError):
                stage_paths(repository, [*self.staged, *new])
        return tuple(gone), tuple(said)

    def _clear(self, path: str, content: bytes) -> str | None:
        base = self._location.base
        place = base / path
        try:
            if leads_away(base, path):
                return "a symbolic link is on the way"
            if read_regular(place, follow=False) != content:
                return "it changed during the import"
            if self._leaves_pointer:
                write_whole(place, self._pointer(path))
            else:
                place.unlink()
                _remove_empty(base, place.parent)
        except OSError as error:
            return (error.strerror or str(error)).lower()
        return None

    def _pointer(self, path: str) -> bytes:
        folder = posixpath.dirname(path) or "."
        places = ((title, in_project(self._location, f"{address}.md")) for address, title in self._entries(path))
        links = (f"[{title}](<{posixpath.relpath(place, folder)}>)" for title, place in places)
        return f"Moved to {', '.join(links)}.\n".encode()

    def _entries(self, path: str) -> list[tuple[str, str]]:
        rows = (row for row in self._plan.rows if row.path == path)
        return [(row.address, row.title or row.address) for row in rows if row.address is not None]

    def mentions(self) -> tuple[str, ...]:
        """Return a message about the files of the repository that mention the old paths."""
        repository, paths = self._location.repository, list(self._plan.contents)
        if repository is None or self._leaves_pointer or not paths:
            return ()
        own = [self._location.under] if self._location.under else []
        found: dict[str, int] = {}
        for start in range(0, len(paths), _AT_ONCE):
            words = [_mentioned_as(path) for path in paths[start : start + _AT_ONCE]]
            for path, line, _ in search_lines(repository, words, _MOST_LINES, without=own):
                if path not in self._plan.contents:
                    found.setdefault(path, line)
        if not found:
            return ()
        files = "1 file mentions" if len(found) == 1 else f"{len(found)} files mention"
        named = listed([f"{path}:{line}" for path, line in sorted(found.items())])
        return (f"{files} moved records: {named}; --pointer leaves a line in each old place that leads to the new one",)

    def unfollowed(self, gone: Sequence[str]) -> tuple[str, ...]:
        """Return a message about the moves that git does not recognise, since more than half of the file changed."""
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


def _mentioned_as(path: str) -> str:
    """Return the text that mentions of a file have in common: its name, with its folder if the name is short."""
    stem = posixpath.splitext(posixpath.basename(path))[0]
    return stem if "-" in stem and len(stem) > _SHORT else "/".join(path.split("/")[-2:])


def _remove_empty(base: Path, folder: Path) -> None:
    while folder != base and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent
