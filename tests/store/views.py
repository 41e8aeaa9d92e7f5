"""Everything that a caller can see of a root, as one text."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec.structs import replace

from mdmem.ask.question import Question
from mdmem.ask.retrieve import retrieve
from mdmem.ask.search import search, snippets
from mdmem.ask.show import in_full, list_entries, show
from mdmem.change.history import why
from mdmem.change.hygiene import hygiene_fields, run
from mdmem.change.status import report_status
from mdmem.checks.run import CheckRequest, check
from mdmem.errors import MdmemError
from mdmem.model.access import Access
from mdmem.render import json as json_form
from mdmem.render.findings import get_format
from mdmem.render.findings.report import CheckedRoot, ReportStyle
from mdmem.store.index.fulltext import FullTextIndex
from mdmem.store.workspace.scope import Filters
from mdmem.store.workspace.workspace import Workspace

EVERYTHING = Filters(include_deprecated=True, include_drafts=True, all_wings=True)


def seen_by(workspace: Workspace, access: Access) -> Workspace:
    """Return the workspace as a caller gets it; its full text is read anew and never kept."""
    return replace(workspace.reread(), access=access).with_index(FullTextIndex(None))


def everything_seen(workspace: Workspace, *words: str) -> str:
    """Return all that the verbs answer, errors for wrong names included; words are what is asked for."""
    return "\n".join(_answers(workspace, words))


def _answers(workspace: Workspace, words: tuple[str, ...]) -> Iterator[str]:
    for word in words:
        asked = (Question(words=word, filters=filters) for filters in (Filters(), EVERYTHING))
        for question in asked:
            yield _said(lambda question=question: _searched(workspace, question))
            yield _said(lambda question=question: _packed(workspace, question, budget=100))
            yield _said(lambda question=question: _packed(workspace, question))
        yield _said(lambda word=word: str(list_entries(workspace, Filters(wings=(word,)))))
        yield _said(lambda word=word: str(list_entries(workspace, Filters(rooms=(word,)))))
        yield _said(lambda word=word: str(show(workspace, [word])))
        yield _said(lambda word=word: str(check(workspace, CheckRequest(paths=(word,)))))
        yield _said(lambda word=word: json_form.dump(hygiene_fields(run(workspace, word))))
    yield str(list_entries(workspace, EVERYTHING))
    addresses = tuple(workspace.catalog.entries)
    yield json_form.dump(json_form.entries_json(in_full(workspace, list(workspace.catalog.entries.values()))))
    yield from (json_form.dump(json_form.why_json(why(workspace, address))) for address in addresses)
    yield from _checked(workspace)
    yield json_form.dump(hygiene_fields(run(workspace)))
    yield _said(lambda: json_form.dump(json_form.status_json(report_status(workspace))))


def _packed(workspace: Workspace, question: Question, *, budget: int | None = None) -> str:
    return json_form.dump(json_form.answer_json(retrieve(workspace, question, budget=budget).all[0]))


def _searched(workspace: Workspace, question: Question) -> str:
    result = search(workspace, question)
    return json_form.dump(json_form.search_json(result, limit=50, snippet_of=snippets(workspace, result)))


def _checked(workspace: Workspace) -> Iterator[str]:
    try:
        report = check(workspace, CheckRequest())
    except MdmemError as error:
        yield str(error)
        return
    checked = CheckedRoot(report, "", workspace.line_of, lambda path: path)
    yield get_format("json")([checked], ReportStyle())
    yield get_format("text")([checked], ReportStyle())


def _said(ask: Callable[[], str]) -> str:
    try:
        return ask()
    except MdmemError as error:
        return f"{type(error).__name__}: {error}"
