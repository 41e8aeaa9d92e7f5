"""Run the checks on a workspace, compare the findings with the state before the change, and apply the baseline."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from mdmem import SETTINGS_NAME
from mdmem.checks.baseline import BaselineResult, without_known, write_baseline
from mdmem.checks.case import Base, Case, GitFacts, Merge
from mdmem.checks.check import chosen_codes, get_check, get_checks, require_known_wings
from mdmem.checks.engine import CheckReport, FileCache, is_incomplete, mark_new, run_checks
from mdmem.errors import GitError, MdmemError, SettingsError, UsageError, shown_message
from mdmem.model.finding import Finding, Place, Severity, fault
from mdmem.store.git.history import is_shallow, merge_base, pending_merge_parents
from mdmem.store.git.process import (
    UNSHALLOW,
    NoCommonAncestorError,
    Repository,
    ShallowHistoryError,
    UnknownRevisionError,
    find_default_branch,
    is_ancestor,
    resolve,
    with_hook_index,
)
from mdmem.store.git.status import list_changed, list_changed_in_index
from mdmem.store.settings import Settings
from mdmem.store.tree import TreeView
from mdmem.store.workspace.location import PushTarget, Snapshot
from mdmem.store.workspace.visibility import visible_findings
from mdmem.store.workspace.workspace import Workspace

_LOOSENED = "settings-loosened"
_CONFLICT = "merge-conflict"


class ComparedTrees(Struct, frozen=True):
    """The trees to compare the checked tree with: `base` is the tree before the change.

    `other_parents` are the other parents of a merge commit that is being made, `merged` the trees that another merge
    brings into the base. A finding is old if a tree in `elsewhere` has it. `last_commit` is HEAD: if there is no base,
    the files in `uncommitted` are compared with it.
    """

    base: Base | None = None
    other_parents: tuple[Base, ...] = ()
    merged: tuple[Base, ...] = ()
    merge: Merge | None = None
    faults: tuple[Finding, ...] = ()
    elsewhere: Iterable[Workspace] = ()
    last_commit: Base | None = None
    uncommitted: frozenset[str] = frozenset()


def compare(
    workspace: Workspace, base: str | None, *, pushed: PushTarget | None = None, with_uncommitted: bool = False
) -> ComparedTrees:
    """Return the trees to compare with; if one cannot be read, `faults` says why, and the other checks still run.

    - With `base`, the change is compared with its merge base with `base`.
    - A merge is compared with the branch that it goes into: the default branch if it is checked out, else the given
      one.
    - Staged files are compared with HEAD. Their findings are old if the default branch, local or remote, has them, too.
    - A push is only compared with the remote's version, to tell old findings from new ones.
    - With `with_uncommitted`, the files on disk are compared with HEAD.
    - Raises UnknownRevisionError if a given branch does not exist, unless a shallow clone may lack it.
    """
    snapshot, refused = workspace.snapshot, workspace.location.git_fault
    if refused is not None and snapshot.is_working_tree:
        return ComparedTrees(faults=(_fault(GitError(refused), None),))
    if base is not None and snapshot.merge_into not in (None, base):
        raise UsageError("--merge chooses the base itself; leave out --base")
    try:
        if snapshot.merge_into is not None:
            ours, theirs, ancestor = (_as_base(side) for side in workspace.sides)
            default = find_default_branch(workspace.location.get_repository()) if snapshot.revision is None else None
            # On the default branch, people name a branch to be merged into it, unless it has nothing new.
            merged, is_here = workspace.merged, default is not None and default.is_here
            is_old = default is None or merged.into in (merged.ancestor, default.at_remote)
            change, into = (theirs, ours) if is_here and not is_old else (ours, theirs)
            merge = Merge(change, into, ancestor, workspace.conflicts)
            return ComparedTrees(base=into, merged=(change,), merge=merge)
        if base is not None:
            here, tip, parents = workspace.location.get_repository(), snapshot.revision or "HEAD", set[str]()
            commit = merge_base(here, base, tip)
            # Only a merge commit has a second parent.
            with suppress(UnknownRevisionError):
                parents = {resolve(here, f"{tip}^{number}") for number in (2, 1)} - {commit}
            sides = tuple(_at(workspace, one) for one in sorted(parents))
            return ComparedTrees(base=_at(workspace, commit, f"{base} ({commit[:10]})"), merged=sides)
        if pushed is not None:
            return ComparedTrees(elsewhere=_at_remote(workspace, pushed))
        if with_uncommitted and snapshot.is_working_tree:
            return _uncommitted(workspace)
        return _staged(workspace) if snapshot.staged else ComparedTrees()
    except (UnknownRevisionError, GitError) as error:
        repository = workspace.location.repository
        is_stated = base is not None or snapshot.merge_into is not None
        if is_stated and isinstance(error, UnknownRevisionError) and not (repository and is_shallow(repository)):
            raise
        return ComparedTrees(faults=(_fault(error, repository),))


def _staged(workspace: Workspace) -> ComparedTrees:
    repository = workspace.location.get_repository()
    try:
        head = resolve(repository, "HEAD")
    except UnknownRevisionError:
        # Before the first commit everything is new.
        return ComparedTrees()
    parents = pending_merge_parents(repository)
    staging = with_hook_index(repository, workspace.environment, workspace.cwd)
    is_commit = bool(parents) or "GIT_INDEX_FILE" in workspace.environment
    if not is_commit and not list_changed_in_index(staging):
        # Without a commit in progress, for example in `pre-commit run --all-files`, there is nothing to compare.
        return ComparedTrees()
    base = _at(workspace, head, f"HEAD ({head[:10]})")
    others = {one: workspace.at_commit(one, one[:10]) for one in parents}
    elsewhere = _agreed(workspace, head, others)
    return ComparedTrees(base=base, other_parents=tuple(map(_as_base, others.values())), elsewhere=elsewhere)


def _agreed(workspace: Workspace, head: str, parents: Mapping[str, Workspace]) -> Iterator[Workspace]:
    """Yield the approved commits besides HEAD: parents that are on the default branch, and the tips of that branch."""
    repository = workspace.location.get_repository()
    branch = find_default_branch(repository)
    tips = [] if branch is None else [one for one in (branch.commit, branch.at_remote) if one is not None]
    agreed = [one for one in parents if any(is_ancestor(repository, one, tip) for tip in dict.fromkeys(tips))]
    for one in dict.fromkeys([*agreed, *(tip for tip in tips if tip != head)]):
        yield parents.get(one) or workspace.at_commit(one, one[:10])


def _uncommitted(workspace: Workspace) -> ComparedTrees:
    """Return HEAD and the files that differ from HEAD; empty before the first commit."""
    repository, under = workspace.location.repository, workspace.location.under
    if repository is None:
        return ComparedTrees()
    head, changed = list_changed(repository, under)
    paths = {path.removeprefix(workspace.location.prefix) for path in changed}
    tree = workspace.whole_tree
    if isinstance(tree, TreeView):
        # A fix is checked before it is written, so files that it changes in memory count, too.
        paths |= (tree.changed or {}).keys() | tree.gone
    if head is None or not paths:
        return ComparedTrees()
    others = tuple(_at(workspace, one) for one in pending_merge_parents(repository))
    base = _at(workspace, head, f"HEAD ({head[:10]})")
    return ComparedTrees(other_parents=others, last_commit=base, uncommitted=frozenset(paths))


def _at_remote(workspace: Workspace, pushed: PushTarget) -> tuple[Workspace, ...]:
    """Return the pushed branch as the remote has it; for a new branch, its merge base with the default branch."""
    repository = workspace.location.get_repository()
    branch = find_default_branch(repository)
    names = ("HEAD",) if branch is None else ("HEAD", branch.name)
    tip = workspace.snapshot.revision or "HEAD"
    for revision in filter(None, (pushed.old, *(f"refs/remotes/{pushed.remote}/{name}" for name in names))):
        try:
            is_stated = revision == pushed.old
            commit = resolve(repository, revision) if is_stated else merge_base(repository, revision, tip)
        except (UnknownRevisionError, NoCommonAncestorError, ShallowHistoryError):
            continue
        return (workspace.at_commit(commit, commit[:10]),)
    return ()


def _at(workspace: Workspace, commit: str, name: str = "") -> Base:
    # Load the checked files first, since only the first catalog keeps the documents of files that are in both.
    workspace.whole_catalog  # noqa: B018  # the first access loads it
    return _as_base(workspace.at_commit(commit, name or commit[:10]))


def _as_base(opened: Workspace) -> Base:
    try:
        settings = opened.settings
    except SettingsError as error:
        # If the settings of the base are invalid, use the valid part. The change has not caused the error.
        settings = error.readable if isinstance(error.readable, Settings) else Settings()
    return Base(opened.tree.name, opened.whole_catalog, settings)


def _fault(error: MdmemError, repository: Repository | None) -> Finding:
    message, _, help_ = shown_message(str(error)).partition("; ")
    code = "git-unavailable"
    if isinstance(error, ShallowHistoryError):
        code = "shallow-history"
    elif isinstance(error, UnknownRevisionError) and repository is not None and is_shallow(repository):
        code, message, help_ = "shallow-history", f"{message}, where the history is cut off", UNSHALLOW
    elif isinstance(error, UnknownRevisionError | NoCommonAncestorError):
        code = "base-unavailable"
    return fault(code, message, Place(SETTINGS_NAME), help_)


class CheckRequest(Struct, frozen=True, kw_only=True):
    """The options of one run of the checks.

    `base` is the revision to compare with; `compare` explains the comparison without one. `baseline` is a path relative
    to the root; without it that of the settings is used, unless `no_baseline`. `with_uncommitted` also checks what a
    commit of the files on disk would change. `progress` gets the numbers of finished and of all files.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    base: str | None = None
    pushed: PushTarget | None = None
    baseline: str | None = None
    no_baseline: bool = False
    strict: bool = False
    with_info: bool = True
    shows_old: bool = False
    with_uncommitted: bool = False
    in_ci: bool = False
    is_debugging: bool = False
    progress: Callable[[int, int], None] | None = None


def check(workspace: Workspace, request: CheckRequest) -> CheckReport:
    """Check the whole tree, and return the report with the findings that the request asks for."""
    return limited(check_all(workspace, request), request)


def limited(report: CheckReport, request: CheckRequest) -> CheckReport:
    """Return a report that fails at warnings if the request is `strict`, without infos if the request omits them."""
    fail_on = Severity.WARNING if request.strict else report.fail_on
    # Without any entry, include infos, so that the user sees that nothing was checked.
    with_info = request.with_info or not report.checked
    infos = tuple(one for one in report.findings if one.severity is Severity.INFO and not with_info)
    found = tuple(one for one in report.findings if one.severity is not Severity.INFO or with_info)
    return replace(report, findings=found, hidden=infos, fail_on=fail_on, shows_old=request.shows_old)


def check_all(workspace: Workspace, request: CheckRequest) -> CheckReport:
    """Check the whole tree, and return the findings of every severity.

    Raises UsageError (invalid option), SettingsError (invalid settings) and UnknownRevisionError (missing base).
    """
    compared = compare(workspace, request.base, pushed=request.pushed, with_uncommitted=request.with_uncommitted)
    if compared.faults and workspace.snapshot.merge_into is not None:
        # The merge cannot be computed, so check the branch that would be merged.
        workspace = workspace.at(Snapshot(revision=workspace.snapshot.revision or "HEAD"))
    codes = chosen_codes(workspace.settings, request.select, request.ignore)
    base = compared.base or compared.last_commit
    if base is not None and not request.select and _LOOSENED not in (*request.ignore, *base.settings.ignore):
        # Run this check even if the change itself switches the check off.
        codes = tuple(code for code in get_checks() if code == _LOOSENED or code in codes)
    if request.progress is not None:
        request.progress(0, len(workspace.tree.files()))
    catalog = workspace.whole_catalog
    require_known_wings(workspace.settings, catalog.wings)
    found = _find(workspace, compared, codes, request)
    # Unreadable files are listed whatever checks were selected.
    unread = (*catalog.findings, *catalog.closed, *compared.faults, *found)
    incomplete = sorted({finding.place.path for finding in unread if is_incomplete(finding)})
    found = visible_findings(catalog, found) if catalog.access.is_narrow else found
    known: list[Finding] = []
    if not request.no_baseline:
        found, known = without_known(workspace, found, codes, request.baseline)
    if workspace.snapshot.revision is not None or workspace.snapshot.merge_into is not None:
        # Remove the fixes, since a commit cannot be changed.
        found = [replace(finding, fix=None) for finding in found]
    return CheckReport(
        tree=catalog.tree.name,
        checked=len(catalog.files),
        findings=tuple(_in_paths(workspace, found, request.paths)),
        known=tuple(_in_paths(workspace, known, request.paths)),
        incomplete=tuple(incomplete),
        base=compared.base.name if compared.base else next((one.tree.name for one in compared.elsewhere), None),
        fail_on=workspace.settings.fail_on,
        old_fails=workspace.settings.old == "fail",
    )


def _find(workspace: Workspace, compared: ComparedTrees, codes: Sequence[str], request: CheckRequest) -> list[Finding]:
    """Return every finding in the tree; a finding that the compared trees do not have is marked as new."""
    case = Case(
        catalog=workspace.whole_catalog,
        settings=workspace.settings,
        today=workspace.today,
        facts=facts_of(workspace),
        base=compared.base,
        merge=compared.merge,
        merged=(*compared.other_parents, *compared.merged),
        faults=compared.faults,
        in_ci=request.in_ci,
    )
    cache = FileCache(workspace.cache_folder)

    def found_in(one: Case, run: Sequence[str]) -> list[Finding]:
        one, by_wing = cache.with_facts(one, request.progress), not request.select
        return run_checks(one, run, by_wing=by_wing, without=request.ignore, is_debugging=request.is_debugging)

    # For a file with a merge conflict, report only the conflict, which causes all other findings.
    found = [one for one in found_in(case, codes) if one.code == _CONFLICT or one.place.path not in case.unmerged]
    about_changes = [code for code in codes if get_check(code).needs_base]
    if compared.last_commit is not None:
        compared_with_head = [code for code in codes if code in (*about_changes, _LOOSENED)]
        uncommitted = found_in(replace(case, base=compared.last_commit), compared_with_head)
        in_conflict = {one.place.path for one in case.catalog.findings if one.code == "merge-marker"}
        found += [one for one in uncommitted if one.place.path in compared.uncommitted - in_conflict]
        found.sort(key=lambda finding: finding.sort_key)
    for parent in compared.other_parents:
        # A merge commit changes only what differs from all its parents.
        differing = {(one.code, one.place.path) for one in found_in(replace(case, base=parent), about_changes)}
        found = [one for one in found if one.code not in about_changes or (one.code, one.place.path) in differing]
    if compared.base is None and not compared.elsewhere:
        return found
    found = [replace(one, new=True) for one in found]
    moves = _moves(case)
    # Compare with the base first, since reading the other trees takes longer.
    trees = chain(filter(None, [compared.base]), map(_as_base, compared.elsewhere))
    codes = [code for code in get_checks() if code not in about_changes]
    # Run only checks that have new findings, and stop if there are none, since finding and reading a tree takes time.
    while codes := [code for code in codes if any(one.new and one.code == code for one in found)]:
        before = next(trees, None)
        if before is None:
            break
        rewritten = _rewritten_unread(case, before, moves)
        # With itself as the base, no check asks git for files of HEAD.
        was = Case(before.catalog, before.settings, case.today, case.facts, base=before, is_base=True)
        known = [one for one in found_in(was, codes) if one.place.path not in rewritten]
        if _severities(before.settings) != _severities(case.settings):
            # Count old findings as errors, so that a higher severity in the settings makes no finding new.
            known = [replace(one, severity=Severity.ERROR) for one in known]
        marked = mark_new(found, known, moves=moves)
        found = [one if again.new or not one.new else again for one, again in zip(found, marked, strict=True)]
    return found


def _severities(settings: Settings) -> tuple[object, ...]:
    """Return the settings that determine the severity of findings."""
    return settings.severity, settings.ended, {name: wing.severity for name, wing in settings.wings.items()}


def _moves(case: Case) -> dict[str, str]:
    """Return the new place of each moved file by its old place. A file moved if a new file has the same bytes."""
    if case.base is None:
        return {}
    before, after = case.base.catalog, case.catalog
    had = {file.path for file in before.files}
    gone = had - {file.path for file in after.files}
    if not gone:
        return {}
    fresh = {digest: path for path, digest in after.file_digests.items() if path not in had}
    same = {path: fresh.get(before.file_digests.get(path, ""), "") for path in gone}
    files = {old.removesuffix(".md"): new.removesuffix(".md") for old, new in same.items() if new}
    return files | {one.before.address: one.after.address for one in case.changes.changed}


def _rewritten_unread(case: Case, before: Base, moves: Mapping[str, str]) -> frozenset[str]:
    """Return the earlier paths of changed files that cannot be parsed now, so that no check could read their text."""
    now, was = case.catalog.file_digests, before.catalog.file_digests
    back = {new: old for old, new in moves.items()}
    addresses = {path: path.removesuffix(".md") for path in case.catalog.broken}
    paths = {path: f"{back.get(address, address)}.md" for path, address in addresses.items()}
    return frozenset(old for path, old in paths.items() if now.get(path) != was.get(old))


def update_baseline(workspace: Workspace, request: CheckRequest) -> BaselineResult:
    """Write a baseline of the findings in the whole tree that it may excuse. Raises the errors of `write_baseline`."""
    codes = chosen_codes(workspace.settings, request.select, request.ignore)
    found = _find(workspace, compare(workspace, request.base), codes, request)
    return write_baseline(workspace, found, codes, request.baseline)


def facts_of(workspace: Workspace) -> GitFacts | None:
    """Return the git facts about the checked files, or None outside git."""
    location, tree = workspace.location, workspace.tree
    if location.repository is None:
        return None
    elsewhere = workspace.whole_catalog.fetched_wings
    # Files in git's index are never ignored, so git need not be asked about them.
    listed = () if workspace.snapshot.staged else tree.files()
    on_disk = tuple(one.path for one in listed if one.path.partition("/")[0] not in elsewhere)
    git, under = with_hook_index(location.repository, workspace.environment, workspace.cwd), location.under
    return GitFacts(git, under, on_disk, workspace.commits, workspace.access, tree.hidden())


def _in_paths(workspace: Workspace, findings: Sequence[Finding], paths: Sequence[str]) -> list[Finding]:
    """Return the findings in or below some paths, or all without paths; raises UsageError for a missing path."""
    root, wanted = workspace.location.root, list[str]()
    for name in paths:
        # An agent gives paths from the repository's top, and does not know the working directory of the server.
        tried = (Path(os.path.normpath(one / name)) for one in (workspace.cwd, root, workspace.location.base))
        # Do not resolve the last part, so that a symbolic link itself is checked and not its target.
        real = [path.parent.resolve() / path.name for path in tried]
        inside = [path.relative_to(root).as_posix() for path in real if path.is_relative_to(root)]
        listed = {*(file.path for file in workspace.tree.files()), *(finding.place.path for finding in findings)}
        on_disk = [path for path in inside if workspace.access.sees(path) and (root / path).exists()]
        found = (path for path in inside if path in on_disk or any(_is_below(one, path) for one in listed))
        if (meant := next(found, None)) is None:
            raise UsageError(
                f"{name} is not in the memory {root}; give one of its files, wings (`wing/`) or rooms (`wing/room/`)"
            )
        wanted.append(meant)
    return [one for one in findings if not wanted or any(_is_below(one.place.path, path) for path in wanted)]


def _is_below(path: str, wanted: str) -> bool:
    return wanted in (".", path, path.removesuffix(".md")) or path.startswith(f"{wanted.rstrip('/')}/")
