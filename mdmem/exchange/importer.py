"""Import the records of other tools: plan, write, remove or replace the old files, and check the new entries."""

from __future__ import annotations

import contextlib
import posixpath
from collections.abc import Sequence

from msgspec import Struct

from mdmem.checks.case import Case
from mdmem.checks.check import chosen_codes
from mdmem.checks.engine import run_checks
from mdmem.checks.run import CheckRequest, check_all
from mdmem.disk import read_regular
from mdmem.errors import GitError, UsageError
from mdmem.exchange.intake import ImportRequest
from mdmem.exchange.plan import ImportPlan, plan_import
from mdmem.exchange.record import Outcome
from mdmem.exchange.source import in_project
from mdmem.model.finding import Finding, Severity
from mdmem.store.git.commit import stage_paths
from mdmem.store.git.status import list_tracked, search_lines
from mdmem.store.state.files import leads_away, write_whole
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.change_set import ChangeSet
from mdmem.write.supersede import join_addresses
from mdmem.write.write import WriteOptions, WriteResult, catalog_after, commit_files, write

# The number of patterns that fit on a command line.
_AT_ONCE = 200
_MOST_LINES = 100_000
# A file name that is shorter also occurs in texts by accident.
_SHORT = 8


class ImportReport(Struct, frozen=True, kw_only=True):
    """The plan of an import, the result of the write, and the findings about the new entries.

    `gone` are the old files that were moved. `left` are the folders of the old files if the import was only a copy.
    `unapproved` counts the active rules that nobody approved.
    """

    plan: ImportPlan
    written: WriteResult
    errors: tuple[Finding, ...] = ()
    warnings: tuple[Finding, ...] = ()
    gone: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    unapproved: int = 0
    remarks: tuple[str, ...] = ()


def import_records(workspace: Workspace, request: ImportRequest, options: WriteOptions) -> ImportReport:
    """Import records. No existing entry is overwritten. A file that cannot be imported is listed with the reason.

    Raises UsageError and the errors of `write`. Nothing was written in that case.
    """
    if request.leaves_pointer and not request.moves:
        raise UsageError("--pointer is about the files that --move moves; use both, or neither")
    plan = plan_import(workspace, request)

    def change_set(fresh: Workspace) -> ChangeSet:
        nonlocal plan
        plan = plan_import(fresh, request) if fresh is not workspace else plan
        return plan.change_set

    gone: list[str] = []
    # A move writes the new files first. After an interruption both exist, and the same command completes the move.
    commit = False if request.moves else options.commit
    written = write(workspace, change_set, WriteOptions(is_dry=options.is_dry, commit=commit))
    remarks = list(plan.remarks)
    if request.moves:
        mentions = [] if request.leaves_pointer else _mentions(workspace, plan)
        gone, kept = _clear(workspace, plan, leaves_pointer=request.leaves_pointer, is_dry=options.is_dry)
        remarks += [*kept, *mentions]
        if not options.is_dry:
            staged = _stage(workspace, plan, gone)
            written = commit_files(workspace, plan.change_set, written, also=staged, commit=options.commit)
    found = _findings(workspace, plan, written)
    return ImportReport(
        plan=plan,
        written=written,
        errors=tuple(one for one in found if one.severity is Severity.ERROR),
        warnings=tuple(one for one in found if one.severity is Severity.WARNING),
        gone=tuple(gone),
        left=() if request.moves else tuple(dict.fromkeys(posixpath.dirname(path) or "." for path in plan.contents)),
        unapproved=sum(row.is_new_rule for row in plan.rows) if request.approved_by is None else 0,
        remarks=tuple(remarks),
    )


def _findings(workspace: Workspace, plan: ImportPlan, written: WriteResult) -> list[Finding]:
    """Return the findings of `mdmem check` in or about the new entries. A dry run lacks the findings that need git."""
    if not written.changes:
        return []
    if written.is_dry:
        case = Case(catalog_after(workspace, written.changes), workspace.settings, workspace.today)
        found: Sequence[Finding] = run_checks(case, chosen_codes(workspace.settings))
    else:
        found = check_all(workspace.reread(), CheckRequest(with_uncommitted=True)).findings
    new = {f"{row.address}.md" for row in plan.rows if row.outcome is Outcome.IMPORTED}
    return [one for one in found if one.place.path in new or (one.other is not None and one.other.path in new)]


def _clear(
    workspace: Workspace, plan: ImportPlan, *, leaves_pointer: bool, is_dry: bool
) -> tuple[list[str], list[str]]:
    """Remove or replace the old files that did not change during the import.

    Return these files, and a message about each file that stays.
    """
    base, places = workspace.location.base, _new_places(workspace, plan)
    gone, messages = [], []
    for path, content in plan.contents.items():
        why = None
        try:
            if leads_away(base, path):
                why = "a symbolic link is on the way"
            elif read_regular(base / path, follow=False) != content:
                why = "it changed during the import"
            elif not is_dry and leaves_pointer:
                folder = posixpath.dirname(path) or "."
                links = [f"[{title}](<{posixpath.relpath(place, folder)}>)" for place, title in places[path]]
                write_whole(base / path, f"Moved to {', '.join(links)}.\n".encode())
            elif not is_dry:
                (base / path).unlink()
                folders = (base / path).parents
                for empty in folders[: folders.index(base)]:
                    if not any(empty.iterdir()):
                        empty.rmdir()
        except OSError as error:
            why = (error.strerror or str(error)).lower()
        if why is None:
            gone.append(path)
        else:
            messages.append(f"{path} stays: {why}; run the same command again to move it")
    return gone, messages


def _new_places(workspace: Workspace, plan: ImportPlan) -> dict[str, list[tuple[str, str]]]:
    """Return the path and title of each new entry, by the path of the old file."""
    places: dict[str, list[tuple[str, str]]] = {}
    for row in plan.rows:
        if row.address is not None:
            place = in_project(workspace.location, f"{row.address}.md")
            places.setdefault(row.path, []).append((place, row.title or row.address))
    return places


def _stage(workspace: Workspace, plan: ImportPlan, gone: Sequence[str]) -> list[str]:
    """Stage the move in git, and return the old files that git tracked."""
    repository = workspace.location.repository
    if repository is None or not gone:
        return []
    tracked, places = list_tracked(repository), _new_places(workspace, plan)
    old = [path for path in gone if path in tracked]
    # A file that cannot be staged is still written to disk.
    with contextlib.suppress(GitError):
        stage_paths(repository, [*old, *(place for path in gone for place, _ in places[path])])
    return old


def _mentions(workspace: Workspace, plan: ImportPlan) -> list[str]:
    """Return a message about the files of the repository that mention the old paths."""
    location, paths = workspace.location, list(plan.contents)
    if location.repository is None or not paths:
        return []
    own = [location.under] if location.under else []
    found: dict[str, int] = {}
    for start in range(0, len(paths), _AT_ONCE):
        words = []
        for path in paths[start : start + _AT_ONCE]:
            # A short file name counts only together with its folder.
            stem = posixpath.splitext(posixpath.basename(path))[0]
            words.append(stem if "-" in stem and len(stem) > _SHORT else "/".join(path.split("/")[-2:]))
        for path, line, _ in search_lines(location.repository, words, _MOST_LINES, without=own):
            if path not in plan.contents:
                found.setdefault(path, line)
    if not found:
        return []
    files = "1 file mentions" if len(found) == 1 else f"{len(found)} files mention"
    places = join_addresses([f"{path}:{line}" for path, line in sorted(found.items())])
    return [f"{files} moved records: {places}; --pointer leaves a line in each old place that leads to the new one"]
