"""Reviews a change: which two trees it lies between, what they hold, what merging would do, what each side answers."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from mdmem.errors import GitError, MdmemError, UsageError
from mdmem.gitrepo import Repository, UnknownRevisionError, list_revision, list_tracked, resolve, staged_index
from mdmem.gitrepo.merging import merge_base
from mdmem.review.comparison import Side
from mdmem.review.model import Answer, Answered, Merging, Review, Unread, Which
from mdmem.review.review import review
from mdmem.tree import SETTINGS_NAME
from mdmem.workspace.moment import Moment

if TYPE_CHECKING:
    from mdmem.workspace.opened import Opened

# So many entries of an answer are compared.
_ANSWERED = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewAsked:
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


@dataclass(frozen=True, slots=True)
class _Reading:
    """One side as it is read, what people call it, and what is to be said of it."""

    workspace: Opened
    name: str
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Span:
    """The two moments of a change; `before` is None without a commit, `into` what the second would be merged into."""

    before: Moment | None
    after: Moment
    before_name: str
    into: str | None = None


def review_change(workspace: Opened, asked: ReviewAsked) -> Review:
    """Return what a change does to what is believed.

    Raises UsageError for a span that is none, GitError without git, and UnknownRevisionError.
    """
    span = _span(workspace, asked)
    before, after = _read(workspace, span.before, span.before_name), _read(workspace, span.after, "")
    sides = _side(before), _side(after)
    reviewed = review(*sides, today=workspace.today, files=lambda: _tracked(after.workspace))
    unread = [*_faults(Which.BEFORE, before), *_faults(Which.AFTER, after), *reviewed.unread]
    return replace(
        reviewed,
        remarks=tuple(dict.fromkeys((*before.remarks, *after.remarks))),
        unread=tuple(unread),
        merging=_merging(span, after) if asked.with_check else None,
        answers=tuple(_answer(question, before, after, asked.wings) for question in asked.queries),
    )


def _span(workspace: Opened, asked: ReviewAsked) -> _Span:
    if asked.base is not None:
        if asked.span is not None:
            raise UsageError(f"--base names where a change began, and so does `{asked.span}`; give one")
        return _since(workspace, asked.base, "HEAD", Moment(staged=asked.staged))
    first, dots, second = _parted(asked.span or "")
    if not dots:
        return _against_files(workspace, first or "HEAD", asked)
    if asked.staged:
        raise UsageError(f"--staged reads git's index, `{asked.span}` names two commits; give one")
    first, second = first or "HEAD", second or "HEAD"
    if dots == "...":
        return _since(workspace, first, second, Moment(second))
    return _Span(Moment(first), Moment(second), "", into=first)


def _parted(span: str) -> tuple[str, str, str]:
    for dots in ("...", ".."):
        first, found, second = span.partition(dots)
        if found:
            return first, dots, second
    return span, "", ""


def _since(workspace: Opened, base: str, tip: str, after: Moment) -> _Span:
    """Return the change since a revision left another one."""
    commit = merge_base(_repository(workspace), base, tip)
    is_commit = not after.is_working_tree and not after.staged
    return _Span(Moment(commit), after, f"{base}, where it was left ({commit[:10]})", into=base if is_commit else None)


def _against_files(workspace: Opened, revision: str, asked: ReviewAsked) -> _Span:
    after = Moment(staged=asked.staged)
    try:
        resolve(_repository(workspace), revision)
    except UnknownRevisionError:
        if asked.span is not None:
            raise
        return _Span(None, after, "nothing: there is no commit yet")
    return _Span(Moment(revision), after, "")


def _read(workspace: Opened, moment: Moment | None, name: str) -> _Reading:
    """Return a side, found again where the memory's folder was moved meanwhile."""
    if moment is None:
        return _Reading(_nothing(workspace), name)
    at = workspace.at(moment)
    if moment.is_working_tree or any(file.path == SETTINGS_NAME for file in at.tree.files()):
        return _Reading(at, name or at.tree.name)
    return _elsewhere(at, name or at.tree.name)


def _elsewhere(at: Opened, name: str) -> _Reading:
    roots = _roots(at)
    here = at.location.under or "the repository's top"
    if len(roots) == 1:
        moved = replace(at.location, root=at.location.base / roots[0])
        remark = f"the memory stands in {roots[0] or 'the top'} in {name}, and in {here} in the working tree"
        return _Reading(replace(at, location=moved), name, (remark,))
    if not roots:
        return _Reading(at, name, (f"{name} holds no {SETTINGS_NAME}",))
    listed = ", ".join(root or "the top" for root in roots)
    return _Reading(at, name, (f"{here} holds no memory in {name}, where there are several: {listed}",))


def _roots(at: Opened) -> list[str]:
    """Return the folders, from the top, that hold settings in the commit or the index of a side."""
    repository = _repository(at)
    if at.moment.revision is None:
        paths: Collection[str] = list_tracked(repository, index=staged_index(repository, at.environment, at.cwd))
    else:
        paths = [blob.path for blob in list_revision(repository, resolve(repository, at.moment.revision), "")]
    return sorted(path.rpartition("/")[0] for path in paths if path.rpartition("/")[2] == SETTINGS_NAME)


@dataclass(frozen=True, slots=True)
class _NoFiles:
    """A tree before the first commit."""

    name: str = "nothing"
    listed: tuple[()] = field(default=())

    def files(self) -> tuple[()]:
        return self.listed

    def read(self, paths: Collection[str]) -> Iterator[tuple[str, bytes]]:  # noqa: ARG002  # the port's names
        yield from ()

    def digests(self, files: Collection[object]) -> dict[str, str]:  # noqa: ARG002  # the port's names
        return {}

    def identity(self, path: str, content: bytes) -> str:  # noqa: ARG002  # the port's names
        return ""


def _nothing(workspace: Opened) -> Opened:
    return workspace.over(_NoFiles())


def _side(reading: _Reading) -> Side:
    from mdmem.workspace.asking import forgiving_settings

    settings, _ = forgiving_settings(reading.workspace)
    return Side(reading.name, reading.workspace.catalog, settings)


def _faults(which: Which, reading: _Reading) -> Iterator[Unread]:
    from mdmem.workspace.asking import forgiving_settings

    for fault in forgiving_settings(reading.workspace)[1]:
        yield Unread(which, fault.place.path, fault.code, fault.message)


def _tracked(after: Opened) -> Collection[str]:
    """Return the files of the repository beside the second tree, from one question to git."""
    repository = _repository(after)
    if after.moment.revision is not None:
        return [blob.path for blob in list_revision(repository, resolve(repository, after.moment.revision), "")]
    return list_tracked(repository, index=staged_index(repository, after.environment, after.cwd))


def _merging(span: _Span, after: _Reading) -> Merging:
    """Return what the checks find new in the result of the merge; of files that are no commit, in themselves."""
    from mdmem.workspace.checking import Asked, check

    at = after.workspace
    if span.into is not None:
        moment = Moment(span.after.revision, merge_into=span.into)
        what = f"merging {span.after.revision} into {span.into}"
        report = check(at.at(moment), Asked())
    else:
        base = span.before.revision if span.before is not None else None
        what = f"{at.tree.name} against {span.before_name or base}"
        report = check(at, Asked(base=base))
    new = tuple(one for one in report.findings if one.new)
    told = tuple(sorted(new, key=lambda one: (one.severity.rank if one.severity else 0, one.sort_key)))
    return Merging(what, span.into is not None, told, len(report.findings) - len(new), report.incomplete)


def _answer(question: str, before: _Reading, after: _Reading, wings: tuple[str, ...]) -> Answer:
    return Answer(question, _answered(before, question, wings), _answered(after, question, wings))


def _answered(reading: _Reading, question: str, wings: tuple[str, ...]) -> Answered:
    """Return what a side answers if it is what binds: here a proposal counts as what it proposes to be."""
    from mdmem.retrieval.model import Question
    from mdmem.retrieval.retrieve import retrieve
    from mdmem.scope import AmbiguousWingError, Filters, resolve_scope
    from mdmem.workspace.asking import asker

    workspace, side = reading.workspace, _side(reading)
    asked = Question(words=question, filters=Filters(wings=wings))
    try:
        scope = resolve_scope(side.catalog, side.settings, asked.filters)
        found = retrieve(side.catalog, scope, asked, ask=asker(workspace, asked), today=workspace.today)
    except AmbiguousWingError:
        return _searched(reading, question)
    except MdmemError as error:
        return Answered(error=str(error))
    # An invariant of the scope is part of every answer; what the question itself brings tells the difference.
    matching = [side.ref_of(item.entry) for item in found.items if item.matches or item.score > 0]
    return Answered(tuple(matching[:_ANSWERED]), found.covered, len(found.problems))


def _searched(reading: _Reading, question: str) -> Answered:
    """Return the best hits in all wings, where nothing says which wing is the active one."""
    from mdmem.retrieval.model import Question
    from mdmem.retrieval.search import search
    from mdmem.scope import reading_scope
    from mdmem.workspace.asking import asker

    workspace, side, asked = reading.workspace, _side(reading), Question(words=question)
    scope = reading_scope(side.catalog, side.settings, asked.filters)
    found = search(side.catalog, scope, asked, ask=asker(workspace, asked), today=workspace.today)
    refs = tuple(side.ref_of(hit.entry) for hit in found.hits[:_ANSWERED])
    return Answered(refs, bool(refs), len(found.problems))


def _repository(workspace: Opened) -> Repository:
    repository = workspace.location.repository
    if repository is None:
        raise GitError(workspace.location.git_fault or f"{workspace.location.root} is in no git repository")
    return repository
