"""Everything that a caller can see of a root, as one text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from mdmem.access import Access
from mdmem.checks.run import CheckRequest
from mdmem.errors import MdmemError
from mdmem.hygiene.run import HygieneRequest
from mdmem.index.fulltext import WhooshIndex
from mdmem.render import hygiene
from mdmem.render import json as json_form
from mdmem.render.findings import json
from mdmem.render.findings import text as findings_text
from mdmem.render.findings.report import CheckedRoot, Look
from mdmem.retrieval.question import Question
from mdmem.verbs import Verbs
from mdmem.workspace.scope import Filters

EVERYTHING = Filters(include_deprecated=True, include_drafts=True, all_wings=True)


def seen_by(workspace: Verbs, access: Access) -> Verbs:
    """Return the workspace as a caller gets it; its full text is read anew and never kept."""
    seen = replace(workspace, access=access)
    vars(seen)["index"] = WhooshIndex(None)
    return seen


def everything_seen(workspace: Verbs, *words: str) -> str:
    """Return all that the verbs answer, errors for wrong names included; words are what is asked for."""
    return "\n".join(_answers(workspace, words))


def _answers(workspace: Verbs, words: tuple[str, ...]) -> Iterator[str]:
    for word in words:
        asked = (Question(words=word, filters=filters) for filters in (Filters(), EVERYTHING))
        for question in asked:
            yield _said(lambda question=question: _searched(workspace, question))
            yield _said(lambda question=question: json_form.pack_json(workspace.retrieve(question, budget=100)))
            yield _said(lambda question=question: json_form.pack_json(workspace.retrieve(question)))
        yield _said(lambda word=word: str(workspace.entries(Filters(wings=(word,)))))
        yield _said(lambda word=word: str(workspace.entries(Filters(rooms=(word,)))))
        yield _said(lambda word=word: str(workspace.show([word])))
        yield _said(lambda word=word: str(workspace.check(CheckRequest(paths=(word,)))))
        yield _said(lambda word=word: hygiene.hygiene_json(workspace.hygiene(HygieneRequest(wing=word))))
    yield str(workspace.entries(EVERYTHING))
    addresses = tuple(workspace.catalog.entries)
    yield json_form.entries_json(workspace.shown(addresses))
    yield from (json_form.why_json(workspace.why(address)) for address in addresses)
    yield from _checked(workspace)
    yield hygiene.hygiene_json(workspace.hygiene(HygieneRequest()))
    yield _said(lambda: json_form.status_json(workspace.status()))


def _searched(workspace: Verbs, question: Question) -> str:
    result = workspace.search(question)
    return json_form.search_json(result, limit=50, snippet_of=workspace.snippets(result))


def _checked(workspace: Verbs) -> Iterator[str]:
    try:
        report = workspace.check(CheckRequest())
    except MdmemError as error:
        yield str(error)
        return
    checked = CheckedRoot(report, "", workspace.line_of, workspace.bytes_of, lambda path: path)
    yield json.document([checked], Look())
    yield findings_text.text([checked], Look())


def _said(ask: Callable[[], str]) -> str:
    try:
        return ask()
    except MdmemError as error:
        return f"{type(error).__name__}: {error}"
