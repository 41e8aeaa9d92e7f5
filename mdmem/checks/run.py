"""Runs the checks over a workspace: what to compare with, the findings, those that are known, and what is left.

What git says about a root, asked when a check needs it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from mdmem.checks.baseline import without_known, write_baseline
from mdmem.checks.case import Base, Case
from mdmem.checks.compare import ComparedTrees, checked_catalog, compare
from mdmem.checks.engine import CheckReport, chosen_codes, mark_new, require_known_wings, run_checks
from mdmem.checks.kept_findings import ExtractStore, with_extracts
from mdmem.checks.registry import CHANGE, CODES, INCOMPLETE_CODES, MERGE
from mdmem.checks.rules.file import merge_marker
from mdmem.checks.rules.wings import settings_loosened
from mdmem.errors import UsageError
from mdmem.model.finding import Finding, Severity
from mdmem.store.catalog import Catalog
from mdmem.store.git import (
    BlobReader,
    Repository,
    list_ignored,
    list_not_added,
    list_staged,
    list_tracked,
    staged_index,
)
from mdmem.store.git.history import FileDays, file_days, list_deletions, list_staged_deletions
from mdmem.store.settings import Old, Settings
from mdmem.store.tree import NarrowedTree
from mdmem.store.workspace.location import PushTarget, Snapshot
from mdmem.store.workspace.visibility import visible_findings
from mdmem.store.workspace.workspace import Workspace

if TYPE_CHECKING:
    from mdmem.checks.baseline import BaselineResult


class GitFacts(Struct, frozen=True, dict=True):
    """The facts of one root; paths count from it unless a name says otherwise.

    `revisions` are the commits whose history counts, HEAD where there are none.
    """

    repository: Repository
    under: str
    on_disk: tuple[str, ...]
    index: Path | None = None
    revisions: tuple[str, ...] = ()

    @cached_property
    def tracked(self) -> frozenset[str]:
        """Return the paths of git's index below the root; what is only intended to be added is not there yet."""
        return frozenset(
            self._from_root(blob.path) for blob in list_staged(self.repository, self.under, index=self.index)
        )

    @cached_property
    def tracked_in_repository(self) -> frozenset[str]:
        """Return every path of git's index, from the repository's top."""
        return list_tracked(self.repository, index=self.index)

    def committed(self, path: str) -> bytes | None:
        """Return what HEAD has of a file; None where it has none."""
        # The name of an object ends with its line.
        named = f"HEAD:{self._from_top(path)}"
        return None if "\n" in path else dict(self._reader.read([named]))[named]

    @cached_property
    def _reader(self) -> BlobReader:
        return BlobReader(self.repository)

    @cached_property
    def ignored(self) -> frozenset[str]:
        """Return the paths on disk below the root that git ignores."""
        asked = [self._from_top(path) for path in self.on_disk if path not in self.tracked]
        return frozenset(self._from_root(path) for path in list_ignored(self.repository, asked, index=self.index))

    @cached_property
    def not_added(self) -> frozenset[str]:
        """Return the paths on disk below the root that `git add` would take."""
        return frozenset(map(self._from_root, list_not_added(self.repository, self.under, index=self.index)))

    @cached_property
    def deleted(self) -> Mapping[str, tuple[str, str | None]]:
        """Return, by path, the newest commit that took a file away and where it moved to; no commit for the index."""
        found = {}
        gone = list_deletions(self.repository, self.under, revisions=self.revisions)
        if not self.revisions:
            gone |= list_staged_deletions(self.repository, self.under, index=self.index)
        for path, (commit, moved) in gone.items():
            found[self._from_root(path)] = (commit, self._from_root(moved) if moved else None)
        return found

    @cached_property
    def days(self) -> FileDays:
        """Return when files came and when they ended, by their paths now."""
        days = file_days(self.repository, self.under)
        added, ended = ({self._from_root(path): day for path, day in one.items()} for one in (days.added, days.ended))
        return FileDays(added, ended)

    def _from_root(self, path: str) -> str:
        return path.removeprefix(f"{self.under}/") if self.under else path

    def _from_top(self, path: str) -> str:
        return f"{self.under}/{path}" if self.under else path


class SeenFacts(Struct, frozen=True, dict=True):
    """The facts of a root as who sees some of its wings may know them."""

    whole: GitFacts
    tree: NarrowedTree

    @cached_property
    def tracked(self) -> frozenset[str]:
        """Return the paths of git's index below the root that are seen."""
        return frozenset(path for path in self.whole.tracked if self.tree.access.sees(path))

    @cached_property
    def tracked_in_repository(self) -> frozenset[str]:
        """Return the paths of git's index, from the repository's top, without the wings that are not seen."""
        prefix = f"{self.whole.under}/" if self.whole.under else ""
        hidden = tuple(f"{prefix}{name}/" for name in self.tree.hidden())
        return frozenset(path for path in self.whole.tracked_in_repository if not path.startswith(hidden))

    def committed(self, path: str) -> bytes | None:
        """Return what HEAD has of a file that is seen; None where it has none."""
        return self.whole.committed(path) if self.tree.access.sees(path) else None

    @property
    def days(self) -> FileDays:
        """Return when files came and when they ended; asked only of those that are seen."""
        return self.whole.days

    @property
    def ignored(self) -> frozenset[str]:
        """Return the paths on disk that are seen and that git ignores."""
        return self.whole.ignored

    @cached_property
    def not_added(self) -> frozenset[str]:
        """Return the paths on disk that are seen and that `git add` would take."""
        return frozenset(path for path in self.whole.not_added if self.tree.access.sees(path))

    @cached_property
    def deleted(self) -> Mapping[str, tuple[str, str | None]]:
        """Return what became of files that are seen; one that moved out of sight is gone."""
        sees = self.tree.access.sees
        return {
            path: (commit, moved if moved is not None and sees(moved) else None)
            for path, (commit, moved) in self.whole.deleted.items()
            if sees(path)
        }


def narrowed(workspace: Workspace, findings: Sequence[Finding], paths: Sequence[str]) -> list[Finding]:
    """Return the findings in or below some paths, or all where none is given; raises UsageError for an absent one."""
    told = {finding.place.path for finding in findings}
    wanted = [_from_root(workspace, path, told) for path in paths]
    if not wanted:
        return list(findings)
    return [finding for finding in findings if any(_is_below(finding.place.path, path) for path in wanted)]


def _from_root(workspace: Workspace, name: str, told: Collection[str]) -> str:
    """Return a path from here or from the root as counted from the root; raises UsageError where nothing is there.

    `told` are the paths of findings: a file that was deleted may have one.
    """
    root = workspace.location.root
    tried = (Path(os.path.normpath(folder / name)) for folder in (workspace.cwd, root))
    # The last part stays as it is typed: a symbolic link is checked, not what it leads to.
    real = [path.parent.resolve() / path.name for path in tried]
    inside = [path.relative_to(root).as_posix() for path in real if path.is_relative_to(root)]
    for path in inside:
        listed = (*(file.path for file in workspace.tree.files()), *told)
        if (workspace.access.sees(path) and (root / path).exists()) or any(_is_below(one, path) for one in listed):
            return path
    raise UsageError(f"{name} is nothing in the memory {root}; name a file, a wing/ or a wing/room/ of it")


def _is_below(path: str, wanted: str) -> bool:
    return wanted in (".", path, path.removesuffix(".md")) or path.startswith(f"{wanted.rstrip('/')}/")


class CheckRequest(Struct, frozen=True, kw_only=True):
    """What one run of the checks was asked for.

    `base` is the revision to compare with; without one, what is staged is compared with HEAD and a merge with what it
    goes into, and what is `pushed` with what is there already. `baseline` is a file of known findings, counted from the
    root; without one the settings' own, unless `is_bare`. With `strict` warnings fail, too. Without `with_info`
    findings of severity info are left out; with `shows_old` those that what it is compared with has, too, are told one
    by one. `with_uncommitted` tells what a commit of the files on disk would change, too, as its hook does. `progress`
    is told how far the run is.
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
    """Return what the checks find on the whole tree, narrowed to what was asked for."""
    return reported(check_all(workspace, request), request)


def reported(report: CheckReport, request: CheckRequest) -> CheckReport:
    """Return a report without the findings that the request leaves out, and at what it says that a run fails."""
    fail_on = Severity.WARNING if request.strict else report.fail_on
    # That nothing was checked is news even where it is no fault.
    with_info = request.with_info or not report.checked
    found = [one for one in report.findings if with_info or one.severity is not Severity.INFO]
    return replace(report, findings=tuple(found), fail_on=fail_on, shows_old=request.shows_old)


def check_all(workspace: Workspace, request: CheckRequest) -> CheckReport:
    """Return what the checks find whatever its severity, new or old, narrowed to paths where some are given."""
    compared = compare(workspace, request.base, pushed=request.pushed, with_uncommitted=request.with_uncommitted)
    if compared.faults and workspace.snapshot.merge_into is not None:
        # The merge cannot be told; what goes into it can.
        workspace = workspace.at(Snapshot(revision=workspace.snapshot.revision or "HEAD"))
    codes = _codes(workspace, compared, request)
    if request.progress is not None:
        # To read the files is a quarter of it.
        request.progress(0, len(workspace.tree.files()))
    store = ExtractStore(workspace.cache_folder).load()
    catalog = checked_catalog(workspace)
    require_known_wings(workspace.settings, catalog.wings)
    found = find(workspace, compared, codes, request, store)
    # Which checks were chosen does not change what could not be read.
    unread = (*catalog.findings, *catalog.closed, *compared.faults, *found)
    incomplete = sorted({finding.place.path for finding in unread if finding.code in INCOMPLETE_CODES})
    seen = _visible(catalog, found)
    found, known = _without_known(workspace, seen, codes, request)
    if workspace.snapshot.revision is not None or workspace.snapshot.merge_into is not None:
        # Nobody can write into a commit; what is staged is mended on disk.
        found = [replace(finding, fix=None) for finding in found]
    return CheckReport(
        tree=catalog.tree.name,
        checked=len(catalog.files),
        findings=tuple(narrowed(workspace, found, request.paths)),
        known=tuple(narrowed(workspace, known, request.paths)),
        incomplete=tuple(incomplete),
        base=compared.name,
        fail_on=workspace.settings.fail_on,
        old_fails=workspace.settings.old is Old.FAIL,
    )


def _without_known(
    workspace: Workspace, found: list[Finding], codes: Sequence[str], request: CheckRequest
) -> tuple[list[Finding], list[Finding]]:
    if request.is_bare or (request.baseline is None and workspace.settings.baseline is None):
        return found, []
    return without_known(workspace, found, codes, request.baseline)


def _visible(catalog: Catalog, found: list[Finding]) -> list[Finding]:
    if not catalog.access.is_narrow:
        return found
    return visible_findings(catalog, found)


def _codes(workspace: Workspace, compared: ComparedTrees, request: CheckRequest) -> tuple[str, ...]:
    codes = chosen_codes(workspace.settings, request.select, request.ignore)
    guard = settings_loosened.code
    base = compared.base or compared.last_commit
    if base is None or request.select or guard in (*request.ignore, *base.settings.ignore):
        return codes
    # A change that switches this check off does so for later ones, not for itself.
    return tuple(code for code in CODES if code == guard or code in codes)


def find(
    workspace: Workspace, compared: ComparedTrees, codes: Sequence[str], request: CheckRequest, store: ExtractStore
) -> list[Finding]:
    """Return every finding of the tree, those marked new that what it is compared with has not."""
    case = _case(workspace, compared, in_ci=request.in_ci)

    def found_in(one: Case, some: Sequence[str]) -> list[Finding]:
        one = with_extracts(one, store)
        files, told = len(one.catalog.files), request.progress
        step = None if told is None else lambda done: told(files * done // len(some), files)
        return run_checks(one, some, by_wing=not request.select, is_debugging=request.is_debugging, step=step)

    # What else is wrong with a file that git could not merge is its conflict's doing.
    found = [one for one in found_in(case, codes) if one.code in MERGE or one.place.path not in case.unmerged]
    if compared.last_commit is not None:
        changing = [code for code in codes if code in (*CHANGE, settings_loosened.code)]
        uncommitted = found_in(replace(case, base=compared.last_commit), changing)
        in_conflict = {one.place.path for one in case.catalog.findings if one.code == merge_marker.code}
        found += [one for one in uncommitted if one.place.path in compared.apart - in_conflict]
        found.sort(key=lambda finding: finding.sort_key)
    for parent in compared.other_parents:
        # A merge commit did only what differs from every parent.
        changing = [code for code in codes if code in CHANGE]
        elsewhere = {(one.code, one.place.path) for one in found_in(replace(case, base=parent), changing)}
        found = [one for one in found if one.code not in CHANGE or (one.code, one.place.path) in elsewhere]
    moves = _moves(case)
    found = [replace(one, new=True) for one in found] if compared.has_before else found
    for before in compared.before():
        # A check that finds nothing new needs no look at what it found before; to read a tree takes a while.
        codes = [code for code in codes if code not in CHANGE and any(one.new and one.code == code for one in found)]
        if not codes:
            break
        was = Case(before.catalog, before.settings, workspace.today, case.facts)
        rewritten = _rewritten_unread(case, before, moves)
        known = [one for one in found_in(was, codes) if one.place.path not in rewritten]
        if _weighing(before.settings) != _weighing(workspace.settings):
            # That the settings weigh a finding otherwise makes it no other.
            known = [replace(one, severity=Severity.ERROR) for one in known]
        marked = mark_new(found, known, moves=moves)
        found = [one if again.new or not one.new else again for one, again in zip(found, marked, strict=True)]
    return found


def _weighing(settings: Settings) -> tuple[object, ...]:
    """Return what the settings say of how much findings weigh."""
    return settings.severity, settings.ended, {name: wing.severity for name, wing in settings.wings.items()}


def _moves(case: Case) -> dict[str, str]:
    """Return where the change moved entries, and files of the same bytes that are none, from address to address."""
    if case.base is None:
        return {}
    before, after = case.base.catalog, case.catalog
    gone = {file.path for file in before.files} - {file.path for file in after.files}
    if not gone:
        return {}
    had = {file.path for file in before.files}
    fresh = {digest: path for path, digest in after.file_digests.items() if path not in had}
    same = ((path, fresh.get(before.file_digests.get(path, ""))) for path in gone)
    files = {old.removesuffix(".md"): new.removesuffix(".md") for old, new in same if new is not None}
    return files | {one.before.address: one.after.address for one in case.changes.changed}


def _rewritten_unread(case: Case, before: Base, moves: Mapping[str, str]) -> frozenset[str]:
    """Return the paths that changed files had before which cannot be parsed: no check has looked at their text."""
    now, was = case.catalog.file_digests, before.catalog.file_digests
    back = {new: old for old, new in moves.items()}
    addresses = {path: path.removesuffix(".md") for path in case.catalog.broken}
    paths = {path: f"{back.get(address, address)}.md" for path, address in addresses.items()}
    return frozenset(old for path, old in paths.items() if now.get(path) != was.get(old))


def update_baseline(workspace: Workspace, request: CheckRequest) -> BaselineResult:
    """Record every finding of the whole tree as known, in the file that settings or request name, or the usual one."""
    codes = chosen_codes(workspace.settings, request.select, request.ignore)
    store = ExtractStore(workspace.cache_folder).load()
    found = find(workspace, compare(workspace, request.base), codes, request, store)
    return write_baseline(workspace, found, codes, request.baseline)


def _case(workspace: Workspace, compared: ComparedTrees, *, in_ci: bool) -> Case:
    return Case(
        catalog=checked_catalog(workspace),
        settings=workspace.settings,
        today=workspace.today,
        facts=facts_of(workspace),
        base=compared.base,
        merge=compared.merge,
        faults=compared.faults,
        in_ci=in_ci,
    )


def facts_of(workspace: Workspace) -> GitFacts | SeenFacts | None:
    """Return what git has to say of the files that are read; None outside git."""
    location = workspace.location
    if location.repository is None:
        return None
    index = staged_index(location.repository, workspace.environment, workspace.cwd)
    elsewhere = checked_catalog(workspace).fetched_wings
    # What git's index lists is nothing that git ignores.
    listed = () if workspace.snapshot.staged else workspace.tree.files()
    on_disk = tuple(one.path for one in listed if one.path.partition("/")[0] not in elsewhere)
    facts = GitFacts(location.repository, location.under, on_disk, index, workspace.commits)
    return SeenFacts(facts, workspace.tree) if isinstance(workspace.tree, NarrowedTree) else facts
