"""Reviews a change: which two trees it lies between, what they hold, what merging would do, what each side answers."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from mdmem.ask.question import Question
from mdmem.ask.retrieve import forgiving_settings, retrieve_in
from mdmem.ask.search import search_in
from mdmem.change.comparison import TreeSide
from mdmem.change.review_model import Answered, AnswerPair, Merging, Unread, Which
from mdmem.change.review_report import ReviewReport, report_on
from mdmem.checks.run import CheckRequest, check
from mdmem.errors import MdmemError, UsageError
from mdmem.store.git import (
    NoCommonAncestorError,
    ShallowHistoryError,
    UnknownRevisionError,
    list_revision,
    list_tracked,
    resolve,
    staged_index,
)
from mdmem.store.git.merge import merge_base
from mdmem.store.tree import SETTINGS_NAME
from mdmem.store.workspace.location import Snapshot
from mdmem.store.workspace.remarks import remark_on_uncommitted
from mdmem.store.workspace.scope import AmbiguousWingError, Filters, reading_scope, resolve_scope

if TYPE_CHECKING:
    from mdmem.store.workspace.workspace import Workspace

# So many entries of an answer are compared.
_ANSWERED = 50


class ReviewRequest(Struct, frozen=True, kw_only=True):
    """Which change is reviewed, and what is asked besides.

    `span` is `A..B`, `A...B` or one revision, which is compared with the working tree; without it HEAD is. With `base`
    the tree is compared with the commit at which it left that branch. `queries` are put to both sides.
    """

    span: str | None = None
    base: str | None = None
    staged: bool = False
    queries: tuple[str, ...] = ()
    wings: tuple[str, ...] = ()
    with_check: bool = True


class _ReviewedTrees(Struct, frozen=True):
    """One side as it is read, what people call it, and what is to be said of it."""

    workspace: Workspace
    name: str
    remarks: tuple[str, ...] = ()


class _Span(Struct, frozen=True):
    """The two snapshots of a change; `before` is None without a commit, `into` what the second would be merged into."""

    before: Snapshot | None
    after: Snapshot
    before_name: str
    into: str | None = None
    remarks: tuple[str, ...] = ()


def review_change(workspace: Workspace, request: ReviewRequest) -> ReviewReport:
    """Return what a change does to what is believed.

    Raises UsageError for a span that is none, GitError without git, and UnknownRevisionError.
    """
    span = _span(workspace, request)
    before, after = _read(workspace, span.before, span.before_name), _read(workspace, span.after, "")
    sides = _side(before), _side(after)
    report = report_on(*sides, today=workspace.today, files=lambda: _tracked(after.workspace))
    unread = [*_faults(Which.BEFORE, before), *_faults(Which.AFTER, after), *report.unread]
    tip = span.after.revision
    beside = remark_on_uncommitted(workspace, tip) if tip is not None else ()
    return replace(
        report,
        remarks=tuple(dict.fromkeys((*span.remarks, *before.remarks, *after.remarks, *beside))),
        unread=tuple(unread),
        merging=_merging(span, after) if request.with_check else None,
        answers=tuple(
            AnswerPair(one, _answered(before, one, request.wings), _answered(after, one, request.wings))
            for one in request.queries
        ),
    )


def page_url(workspace: Workspace, request: ReviewRequest) -> str | None:
    """Return where the page of a change is, as the tree before says: who proposes it does not choose where that leads.

    Raises what `review_change` raises.
    """
    span = _span(workspace, request)
    return forgiving_settings(_read(workspace, span.before, span.before_name).workspace)[0].diff_url


def _span(workspace: Workspace, request: ReviewRequest) -> _Span:
    if request.base is not None:
        if request.span is not None:
            raise UsageError(f"--base names where a change began, and so does `{request.span}`; give one")
        return _since(workspace, request.base, "HEAD", Snapshot(staged=request.staged))
    first, dots, second = _parted(request.span or "")
    if not dots:
        return _against_files(workspace, first or "HEAD", request)
    if request.staged:
        raise UsageError(f"--staged reads git's index, `{request.span}` names two commits; give one")
    first, second = first or "HEAD", second or "HEAD"
    if dots == "...":
        return _since(workspace, first, second, Snapshot(second))
    remarks = _moved_on(workspace, first, second, f"{first}...{second} compares from where {second} left")
    return _Span(Snapshot(first), Snapshot(second), "", into=first, remarks=remarks)


def _moved_on(workspace: Workspace, first: str, second: str, instead: str) -> tuple[str, ...]:
    """Say where a revision did something that the other one has not: it shows as undone."""
    repository = workspace.location.get_repository()
    try:
        is_behind = merge_base(repository, first, second) not in (resolve(repository, name) for name in (first, second))
    except (NoCommonAncestorError, ShallowHistoryError):
        return ()
    return (f"{first} has moved on, and what it did there shows here as undone; {instead}",) if is_behind else ()


def _parted(span: str) -> tuple[str, str, str]:
    for dots in ("...", ".."):
        first, found, second = span.partition(dots)
        if found:
            return first, dots, second
    return span, "", ""


def _since(workspace: Workspace, base: str, tip: str, after: Snapshot) -> _Span:
    """Return the change since a revision left another one."""
    commit = merge_base(workspace.location.get_repository(), base, tip)
    is_commit = not after.is_working_tree and not after.staged
    return _Span(
        Snapshot(commit), after, f"{base}, where it was left ({commit[:10]})", into=base if is_commit else None
    )


def _against_files(workspace: Workspace, revision: str, request: ReviewRequest) -> _Span:
    after = Snapshot(staged=request.staged)
    try:
        resolve(workspace.location.get_repository(), revision)
    except UnknownRevisionError:
        if request.span is not None:
            raise
        return _Span(None, after, "nothing: there is no commit yet")
    instead = f"--base {revision} compares from where HEAD left"
    return _Span(Snapshot(revision), after, "", remarks=_moved_on(workspace, revision, "HEAD", instead))


def _read(workspace: Workspace, snapshot: Snapshot | None, name: str) -> _ReviewedTrees:
    """Return a side, found again where the memory's folder was moved meanwhile."""
    if snapshot is None:
        return _ReviewedTrees(_nothing(workspace), name)
    at = workspace.at(snapshot)
    if snapshot.is_working_tree or any(file.path == SETTINGS_NAME for file in at.tree.files()):
        return _ReviewedTrees(at, name or at.tree.name)
    return _elsewhere(at, name or at.tree.name)


def _elsewhere(at: Workspace, name: str) -> _ReviewedTrees:
    roots = _roots(at)
    here = at.location.under or "the repository's top"
    if len(roots) == 1:
        moved = replace(at.location, root=at.location.base / roots[0])
        remark = f"the memory stands in {roots[0] or 'the top'} in {name}, and in {here} in the working tree"
        return _ReviewedTrees(replace(at, location=moved).at(at.snapshot), name, (remark,))
    if not roots:
        return _ReviewedTrees(at, name, (f"{name} holds no {SETTINGS_NAME}",))
    listed = ", ".join(root or "the top" for root in roots)
    return _ReviewedTrees(at, name, (f"{here} holds no memory in {name}, where there are several: {listed}",))


def _roots(at: Workspace) -> list[str]:
    """Return the folders, from the top, that hold settings in the commit or the index of a side."""
    repository = at.location.get_repository()
    if at.snapshot.revision is None:
        paths: Collection[str] = list_tracked(repository, index=staged_index(repository, at.environment, at.cwd))
    else:
        paths = [blob.path for blob in list_revision(repository, resolve(repository, at.snapshot.revision), "")]
    return sorted(path.rpartition("/")[0] for path in paths if path.rpartition("/")[2] == SETTINGS_NAME)


class _NoFiles(Struct, frozen=True):
    """A tree before the first commit."""

    name: str = "nothing"
    listed: tuple[()] = ()

    def files(self) -> tuple[()]:
        return self.listed

    def read(self, paths: Collection[str]) -> Iterator[tuple[str, bytes]]:  # noqa: ARG002  # the port's names
        yield from ()

    def digests(self, files: Collection[object]) -> dict[str, str]:  # noqa: ARG002  # the port's names
        return {}

    def identity(self, path: str, content: bytes) -> str:  # noqa: ARG002  # the port's names
        return ""


def _nothing(workspace: Workspace) -> Workspace:
    return workspace.over(_NoFiles())


def _side(reading: _ReviewedTrees) -> TreeSide:
    settings, _ = forgiving_settings(reading.workspace)
    return TreeSide(reading.name, reading.workspace.catalog, settings)


def _faults(which: Which, reading: _ReviewedTrees) -> Iterator[Unread]:
    for fault in forgiving_settings(reading.workspace)[1]:
        yield Unread(which, fault.place.path, fault.code, fault.message)


def _tracked(after: Workspace) -> Collection[str]:
    """Return the files of the repository beside the second tree, from one question to git."""
    repository = after.location.get_repository()
    if after.snapshot.revision is not None:
        return [blob.path for blob in list_revision(repository, resolve(repository, after.snapshot.revision), "")]
    return list_tracked(repository, index=staged_index(repository, after.environment, after.cwd))


def _merging(span: _Span, after: _ReviewedTrees) -> Merging:
    """Return what the checks find new in the result of the merge; of files that are no commit, in themselves."""
    at = after.workspace
    if span.into is not None:
        snapshot = Snapshot(span.after.revision, merge_into=span.into)
        what = f"merging {span.after.revision} into {span.into}"
        report = check(at.at(snapshot), CheckRequest(with_info=False))
    else:
        base = span.before.revision if span.before is not None else None
        what = f"{at.tree.name} against {span.before_name or base}"
        report = check(at, CheckRequest(base=base, with_info=False))
    new = tuple(one for one in report.findings if one.new)
    told = tuple(sorted(new, key=lambda one: (one.weight.rank, one.sort_key)))
    return Merging(what, span.into is not None, told, len(report.findings) - len(new), report.incomplete)


def _answered(reading: _ReviewedTrees, question: str, wings: tuple[str, ...]) -> Answered:
    """Return what a side answers if it is what binds: here a proposal counts as what it proposes to be."""
    workspace, side = reading.workspace, _side(reading)
    asked = Question(words=question, filters=Filters(wings=wings))
    try:
        scope = resolve_scope(side.catalog, side.settings, asked.filters)
        found = retrieve_in(workspace, scope, asked)
    except AmbiguousWingError:
        return _searched(reading, question)
    except MdmemError as error:
        return Answered(error=str(error))
    # An invariant of the scope is part of every answer; what the question itself brings tells the difference.
    matching = [side.ref_of(item.entry) for item in found.items if item.matches or item.score > 0]
    return Answered(tuple(matching[:_ANSWERED]), found.basis.covered, len(found.basis.problems))


def _searched(reading: _ReviewedTrees, question: str) -> Answered:
    """Return the best hits in all wings, where nothing says which wing is the active one."""
    workspace, side, asked = reading.workspace, _side(reading), Question(words=question)
    scope = reading_scope(side.catalog, side.settings, asked.filters)
    found = search_in(workspace, scope, asked)
    refs = tuple(side.ref_of(hit.entry) for hit in found.hits[:_ANSWERED])
    return Answered(refs, bool(refs), len(found.basis.problems))
