"""Review a change: find its two trees, compare them, check the merged result, and ask each side the same questions."""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct
from msgspec.structs import replace

from mdmem import SETTINGS_NAME
from mdmem.ask.answer import Question
from mdmem.ask.retrieve import reading_of, retrieve_in
from mdmem.change.review_model import AnswerPair, MergeCheck, ReviewReport, SideAnswer, Unread
from mdmem.change.review_parts import TreeSide, compare_trees
from mdmem.checks.run import CheckRequest, check
from mdmem.errors import MdmemError, UsageError
from mdmem.model.finding import Finding
from mdmem.store.git.history import merge_base
from mdmem.store.git.process import (
    NoCommonAncestorError,
    ShallowHistoryError,
    UnknownRevisionError,
    resolve,
    with_hook_index,
)
from mdmem.store.git.status import list_revision, list_tracked
from mdmem.store.tree import MemoryTree
from mdmem.store.workspace.location import Snapshot
from mdmem.store.workspace.scope import Filters, resolve_scope
from mdmem.store.workspace.workspace import Workspace

# The number of entries at the top of each answer that are compared.
_ANSWERED = 50


class ReviewRequest(Struct, frozen=True, kw_only=True):
    """The change to review, and the questions to ask before and after it.

    `span` is `A..B`, `A...B`, or one revision to compare with the working tree (default: HEAD). With `base`, the change
    is everything since the commit at which it branched off from that branch.
    """

    span: str | None = None
    base: str | None = None
    staged: bool = False
    queries: tuple[str, ...] = ()
    wings: tuple[str, ...] = ()
    with_check: bool = True


class _Span(Struct, frozen=True):
    """The snapshots of a change (`before` is None without a commit), and the revision that it will be merged into."""

    before: Snapshot | None
    after: Snapshot
    before_name: str
    into: str | None = None
    remarks: tuple[str, ...] = ()


class _Side(Struct, frozen=True):
    """One side of a review, with remarks on how it was found and the faults in its settings."""

    workspace: Workspace
    tree: TreeSide
    remarks: tuple[str, ...]
    faults: tuple[Finding, ...]


def review_change(workspace: Workspace, request: ReviewRequest) -> ReviewReport:
    """Return the effects of a change. Raises UsageError for a malformed span or an unknown commit, and GitError."""
    span = _parse_span(workspace, request)
    before, after = _load_side(workspace, span.before, span.before_name), _load_side(workspace, span.after, "")
    at = after.workspace

    def tracked() -> Collection[str]:
        repository = at.location.get_repository()
        if at.snapshot.revision is not None:
            return [blob.path for blob in list_revision(repository, resolve(repository, at.snapshot.revision), "")]
        return list_tracked(with_hook_index(repository, at.environment, at.cwd))

    merging = None
    if request.with_check:
        if span.into is not None:
            what = f"merging {span.after.revision} into {span.into}"
            merged = at.at(Snapshot(span.after.revision, merge_into=span.into))
            found = check(merged, CheckRequest(with_info=False))
        else:
            # If the files are not a commit, check the files themselves.
            base = span.before.revision if span.before is not None else None
            what = f"{at.tree.name} against {span.before_name or base}"
            found = check(at, CheckRequest(base=base, with_info=False))
        new = sorted((one for one in found.findings if one.new), key=lambda one: (one.level.rank, one.sort_key))
        older = len(found.findings) - len(new)
        merging = MergeCheck(what, span.into is not None, tuple(new), older, found.incomplete)
    report = compare_trees(before.tree, after.tree, today=workspace.today, files=tracked)
    unread = [Unread("before", one.place.path, one.code, one.message) for one in before.faults]
    unread += [Unread("after", one.place.path, one.code, one.message) for one in after.faults]
    return replace(
        report,
        page_url=before.tree.settings.diff_url,
        remarks=tuple(dict.fromkeys((*span.remarks, *before.remarks, *after.remarks))),
        unread=(*unread, *report.unread),
        merging=merging,
        answers=tuple(
            AnswerPair(one, _answer(before, one, request.wings), _answer(after, one, request.wings))
            for one in request.queries
        ),
    )


def _parse_span(workspace: Workspace, request: ReviewRequest) -> _Span:
    span = request.span or ""
    if request.base is not None:
        if span:
            raise UsageError(f"--base and `{span}` both give the start of the change; leave out one of the two")
        return _since(workspace, request.base, "HEAD", Snapshot(staged=request.staged))
    dots = "..." if "..." in span else ".."
    first, found, second = span.partition(dots)
    first = first or "HEAD"
    if not found:
        after, behind = Snapshot(staged=request.staged), f"--base {first} compares from where HEAD left"
        try:
            resolve(workspace.location.get_repository(), first)
        except UnknownRevisionError:
            if request.span is not None:
                raise
            return _Span(None, after, "nothing: there is no commit yet")
        return _Span(Snapshot(first), after, "", remarks=_remark_if_behind(workspace, first, "HEAD", behind))
    if request.staged:
        raise UsageError(f"--staged compares git's index with one commit, but `{span}` has two; give one commit")
    second = second or "HEAD"
    if dots == "...":
        return _since(workspace, first, second, Snapshot(second))
    remarks = _remark_if_behind(workspace, first, second, f"{first}...{second} compares from where {second} left")
    return _Span(Snapshot(first), Snapshot(second), "", into=first, remarks=remarks)


def _remark_if_behind(workspace: Workspace, first: str, second: str, instead: str) -> tuple[str, ...]:
    """Return a remark if `first` has commits that `second` lacks, because the review then shows them as undone."""
    repository = workspace.location.get_repository()
    try:
        is_behind = merge_base(repository, first, second) not in (resolve(repository, name) for name in (first, second))
    except (NoCommonAncestorError, ShallowHistoryError):
        return ()
    return (f"{first} has newer commits, which look like removals here; {instead}",) if is_behind else ()


def _since(workspace: Workspace, base: str, tip: str, after: Snapshot) -> _Span:
    """Return the change of a branch since the commit where it left `base`."""
    commit = merge_base(workspace.location.get_repository(), base, tip)
    name = f"{base} at the merge base ({commit[:10]})"
    return _Span(Snapshot(commit), after, name, into=base if after.revision is not None else None)


def _load_side(workspace: Workspace, snapshot: Snapshot | None, name: str) -> _Side:
    remarks: tuple[str, ...] = ()
    if snapshot is None:
        at = workspace.over(MemoryTree("nothing"))
    else:
        at = workspace.at(snapshot)
        name = name or at.tree.name
        if not snapshot.is_working_tree and all(file.path != SETTINGS_NAME for file in at.tree.files()):
            here = at.location.under or "the top of the repository"
            remarks = (f"{name} has no {SETTINGS_NAME} in {here}, so it counts as empty here",)
    reading = reading_of(at)
    return _Side(at, TreeSide(name, at.catalog, reading.settings), remarks, reading.faults)


def _answer(side: _Side, question: str, wings: tuple[str, ...]) -> SideAnswer:
    """Return the answer of one side as if the change was merged: proposals on that side count as accepted."""
    tree, asked = side.tree, Question(words=question, filters=Filters(wings=wings))
    try:
        found = retrieve_in(side.workspace, resolve_scope(tree.catalog, tree.settings, asked.filters), asked)
    except MdmemError as error:
        return SideAnswer(error=str(error))
    # Every answer includes the invariants of the scope, so only the other matches are compared.
    matching = [tree.ref(item.entry.address) for item in found.items if item.matches or item.score > 0]
    return SideAnswer(tuple(matching[:_ANSWERED]), found.basis.covered, len(found.basis.problems))
