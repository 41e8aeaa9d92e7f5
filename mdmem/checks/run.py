"""Runs the checks over a workspace: what to compare with, the findings, and those that a baseline keeps out."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from mdmem.checks.baseline import without_known, write_baseline
from mdmem.checks.cache import FileCache
from mdmem.checks.case import Base, Case
from mdmem.checks.check import get_check, get_checks
from mdmem.checks.codes import chosen_codes, renamed_codes, require_known_wings
from mdmem.checks.compare import ComparedTrees, compare
from mdmem.checks.engine import CheckReport, is_incomplete, mark_new, run_checks
from mdmem.checks.facts import GitFacts
from mdmem.errors import UsageError
from mdmem.model.finding import Finding, Severity
from mdmem.store.git.process import staged_index
from mdmem.store.settings import Old, Settings
from mdmem.store.workspace.location import PushTarget, Snapshot
from mdmem.store.workspace.visibility import visible_findings
from mdmem.store.workspace.workspace import Workspace

if TYPE_CHECKING:
    from mdmem.checks.baseline import BaselineResult

_LOOSENED = "settings-loosened"
_CONFLICT = "merge-conflict"


class CheckRequest(Struct, frozen=True, kw_only=True):
    """The options of one run of the checks.

    `base` is the revision to compare with; `compare` says what happens without one. `baseline` is a file of known
    findings, counted from the root; without one it is the settings' own, unless `is_bare`. With `strict` warnings fail,
    too; `with_info` includes findings of severity info; `shows_old` reports old findings one by one.
    `with_uncommitted` also reports what a commit of the files on disk would change. `progress` is called with the
    number of files that are done and of all.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    base: str | None = None
    pushed: PushTarget | None = None
    baseline: str | None = None
    is_bare: bool = False
    strict: bool = False
    with_info: bool = True
    shows_old: bool = False
    with_uncommitted: bool = False
    in_ci: bool = False
    is_debugging: bool = False
    progress: Callable[[int, int], None] | None = None


def check(workspace: Workspace, request: CheckRequest) -> CheckReport:
    """Return the findings on the whole tree, limited to those that were asked for."""
    return limited(check_all(workspace, request), request)


def limited(report: CheckReport, request: CheckRequest) -> CheckReport:
    """Return a report without the findings that the request leaves out, and with its level of failure."""
    fail_on = Severity.WARNING if request.strict else report.fail_on
    # That nothing was checked is news even if it is no fault.
    with_info = request.with_info or not report.checked
    found = [one for one in report.findings if with_info or one.severity is not Severity.INFO]
    return replace(report, findings=tuple(found), fail_on=fail_on, shows_old=request.shows_old)


def check_all(workspace: Workspace, request: CheckRequest) -> CheckReport:
    """Return the findings of any severity, new and old, limited to the paths of the request."""
    compared = compare(workspace, request.base, pushed=request.pushed, with_uncommitted=request.with_uncommitted)
    if compared.faults and workspace.snapshot.merge_into is not None:
        # The merge cannot be checked, but the branch that goes into it can.
        workspace = workspace.at(Snapshot(revision=workspace.snapshot.revision or "HEAD"))
    codes = _codes(workspace, compared, request)
    if request.progress is not None:
        # To read the files is a quarter of the work.
        request.progress(0, len(workspace.tree.files()))
    catalog = workspace.whole_catalog
    require_known_wings(workspace.settings, catalog.wings)
    found = find(workspace, compared, codes, request)
    # The choice of checks does not change which files could not be read.
    unread = (*catalog.findings, *catalog.closed, *compared.faults, *found)
    incomplete = sorted({finding.place.path for finding in unread if is_incomplete(finding)})
    found = visible_findings(catalog, found) if catalog.access.is_narrow else found
    known: list[Finding] = []
    if not request.is_bare:
        found, known = without_known(workspace, found, codes, request.baseline)
    if workspace.snapshot.revision is not None or workspace.snapshot.merge_into is not None:
        # Nobody can write into a commit.
        found = [replace(finding, fix=None) for finding in found]
    return CheckReport(
        tree=catalog.tree.name,
        checked=len(catalog.files),
        findings=tuple(_in_paths(workspace, found, request.paths)),
        known=tuple(_in_paths(workspace, known, request.paths)),
        incomplete=tuple(incomplete),
        base=compared.name,
        fail_on=workspace.settings.fail_on,
        old_fails=workspace.settings.old is Old.FAIL,
        remarks=tuple(renamed_codes(workspace.settings, (*request.select, *request.ignore))),
    )


def _codes(workspace: Workspace, compared: ComparedTrees, request: CheckRequest) -> tuple[str, ...]:
    codes = chosen_codes(workspace.settings, request.select, request.ignore)
    base = compared.base or compared.last_commit
    if base is None or request.select or _LOOSENED in (*request.ignore, *base.settings.ignore):
        return codes
    # A change that switches this check off does so for later ones, not for itself.
    return tuple(code for code in get_checks() if code == _LOOSENED or code in codes)


def find(workspace: Workspace, compared: ComparedTrees, codes: Sequence[str], request: CheckRequest) -> list[Finding]:
    """Return every finding of the tree, those marked new that the trees before it do not have."""
    case = Case(
        catalog=workspace.whole_catalog,
        settings=workspace.settings,
        today=workspace.today,
        facts=facts_of(workspace),
        base=compared.base,
        merge=compared.merge,
        faults=compared.faults,
        in_ci=request.in_ci,
    )
    cache = FileCache(workspace.cache_folder)

    def found_in(one: Case, some: Sequence[str]) -> list[Finding]:
        one = cache.with_facts(one)
        files, progress = len(one.catalog.files), request.progress
        step = None if progress is None else lambda done: progress(files * done // len(some), files)
        by_wing, is_debugging = not request.select, request.is_debugging
        return run_checks(one, some, by_wing=by_wing, without=request.ignore, is_debugging=is_debugging, step=step)

    # Whatever else is wrong with a file that git could not merge comes from its conflict.
    found = [one for one in found_in(case, codes) if one.code == _CONFLICT or one.place.path not in case.unmerged]
    about_changes = [code for code in codes if get_check(code).needs_base]
    if compared.last_commit is not None:
        some = [code for code in codes if code in (*about_changes, _LOOSENED)]
        uncommitted = found_in(replace(case, base=compared.last_commit), some)
        in_conflict = {one.place.path for one in case.catalog.findings if one.code == "merge-marker"}
        found += [one for one in uncommitted if one.place.path in compared.uncommitted - in_conflict]
        found.sort(key=lambda finding: finding.sort_key)
    for parent in compared.other_parents:
        # A merge commit changed only what differs from every parent.
        differing = {(one.code, one.place.path) for one in found_in(replace(case, base=parent), about_changes)}
        found = [one for one in found if one.code not in about_changes or (one.code, one.place.path) in differing]
    if not compared.has_before:
        return found
    found = [replace(one, new=True) for one in found]
    moves = _moves(case)
    for before in compared.iter_before():
        # Only checks with new findings are run again: to read a tree takes a while.
        codes = [code for code in get_checks() if any(one.new and one.code == code for one in found)]
        codes = [code for code in codes if not get_check(code).needs_base]
        if not codes:
            break
        rewritten = _rewritten_unread(case, before, moves)
        was = Case(before.catalog, before.settings, case.today, case.facts)
        known = [one for one in found_in(was, codes) if one.place.path not in rewritten]
        if _weights(before.settings) != _weights(case.settings):
            # A finding is not new because the settings changed its severity.
            known = [replace(one, severity=Severity.ERROR) for one in known]
        marked = mark_new(found, known, moves=moves)
        found = [one if again.new or not one.new else again for one, again in zip(found, marked, strict=True)]
    return found


def _weights(settings: Settings) -> tuple[object, ...]:
    """Return the settings that decide how much findings weigh."""
    return settings.severity, settings.ended, {name: wing.severity for name, wing in settings.wings.items()}


def _moves(case: Case) -> dict[str, str]:
    """Return the addresses that the change moved, old to new, also of files of the same bytes that are no entries."""
    if case.base is None:
        return {}
    before, after = case.base.catalog, case.catalog
    had = {file.path for file in before.files}
    gone = had - {file.path for file in after.files}
    if not gone:
        return {}
    fresh = {digest: path for path, digest in after.file_digests.items() if path not in had}
    same = ((path, fresh.get(before.file_digests.get(path, ""))) for path in gone)
    files = {old.removesuffix(".md"): new.removesuffix(".md") for old, new in same if new is not None}
    return files | {one.before.address: one.after.address for one in case.changes.changed}


def _rewritten_unread(case: Case, before: Base, moves: Mapping[str, str]) -> frozenset[str]:
    """Return the former paths of changed files that cannot be parsed now: no check has read their text."""
    now, was = case.catalog.file_digests, before.catalog.file_digests
    back = {new: old for old, new in moves.items()}
    addresses = {path: path.removesuffix(".md") for path in case.catalog.broken}
    paths = {path: f"{back.get(address, address)}.md" for path, address in addresses.items()}
    return frozenset(old for path, old in paths.items() if now.get(path) != was.get(old))


def update_baseline(workspace: Workspace, request: CheckRequest) -> BaselineResult:
    """Record every finding of the whole tree as known, in the file that settings or request name, or the usual one."""
    codes = chosen_codes(workspace.settings, request.select, request.ignore)
    found = find(workspace, compare(workspace, request.base), codes, request)
    return write_baseline(workspace, found, codes, request.baseline)


def facts_of(workspace: Workspace) -> GitFacts | None:
    """Return what git knows about the files that are read; None outside git."""
    location, tree = workspace.location, workspace.tree
    if location.repository is None:
        return None
    index = staged_index(location.repository, workspace.environment, workspace.cwd)
    elsewhere = workspace.whole_catalog.fetched_wings
    # Files of git's index are not ignored.
    listed = () if workspace.snapshot.staged else tree.files()
    on_disk = tuple(one.path for one in listed if one.path.partition("/")[0] not in elsewhere)
    git, under = location.repository, location.under
    return GitFacts(git, under, on_disk, index, workspace.commits, workspace.access, tree.hidden())


def _in_paths(workspace: Workspace, findings: Sequence[Finding], paths: Sequence[str]) -> list[Finding]:
    """Return the findings in or below some paths, or all without a path; raises UsageError for an absent one."""
    reported = {finding.place.path for finding in findings}
    wanted = [_from_root(workspace, path, reported) for path in paths]
    if not wanted:
        return list(findings)
    return [finding for finding in findings if any(_is_below(finding.place.path, path) for path in wanted)]


def _from_root(workspace: Workspace, name: str, reported: Collection[str]) -> str:
    """Return a path from here or from the root as counted from the root; raises UsageError if nothing is there.

    A file that was deleted may have a finding: `reported` are the paths of those.
    """
    root = workspace.location.root
    tried = (Path(os.path.normpath(folder / name)) for folder in (workspace.cwd, root))
    # The last part stays as it is typed: a symbolic link is checked, not its target.
    real = [path.parent.resolve() / path.name for path in tried]
    inside = [path.relative_to(root).as_posix() for path in real if path.is_relative_to(root)]
    for path in inside:
        listed = (*(file.path for file in workspace.tree.files()), *reported)
        if (workspace.access.sees(path) and (root / path).exists()) or any(_is_below(one, path) for one in listed):
            return path
    raise UsageError(f"{name} is nothing in the memory {root}; name a file, a wing/ or a wing/room/ of it")


def _is_below(path: str, wanted: str) -> bool:
    return wanted in (".", path, path.removesuffix(".md")) or path.startswith(f"{wanted.rstrip('/')}/")
