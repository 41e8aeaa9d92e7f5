"""What the reading tools answer of all repositories of a hub, by the verbs that its commands call."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from typing import Any

from mdmem.ask.question import VIA_NAMED
from mdmem.ask.search import snippets
from mdmem.errors import UsageError
from mdmem.hub.across import AcrossAnswer, AcrossRequest, answer_each_across, list_across, search_across
from mdmem.hub.owners import who
from mdmem.hub.reader import Reader
from mdmem.mcp.tools.core import hits_text, question_of, sizes_of
from mdmem.mcp.tools.hub import told_of
from mdmem.mcp.tools.shape import REPOSITORY, Given, Told
from mdmem.render.answers import answers_markdown
from mdmem.render.hub_answers import (
    across_answers_json,
    across_entries_json,
    across_list_text,
    across_search_json,
    across_text,
    answers_with_ages,
    list_remarks,
    narrated,
    reach_remarks,
)
from mdmem.render.ink import Ink


def _search(
    reader: Reader,
    today: date,
    *,
    query: str,
    limit: int,
    all_wings: bool,  # noqa: ARG001  # every wing is read
    **filters: Any,
) -> Told:
    answer = search_across(reader, AcrossRequest(question_of(query, filters), limit=limit), today=today)
    result, snippet_of = answer.result, snippets(answer.workspace, answer.result)
    status = {"retrieval_status": "succeeded" if result.hits else "empty"}
    addresses = [hit.entry.address for hit in result.hits[:limit]]

    def said() -> str:
        return "\n\n".join([hits_text(result, limit=limit, snippet_of=snippet_of), *_reaches([answer])])

    return Told(
        text=lambda: across_text(said(), answer, addresses, ink=Ink(), now=None),
        facts=lambda: (
            status
            | json.loads(across_search_json(answer, limit=limit, snippet_of=snippet_of, now=None, named=VIA_NAMED))
        ),
    )


def _retrieve(
    reader: Reader,
    today: date,
    *,
    query: str | None,
    queries: Sequence[str] | None,
    paths: Sequence[str] | None,
    budget: int | None,
    given: Given,  # noqa: ARG001  # what was given before was of this memory
    form: str | None,
    **filters: Any,
) -> Told:
    if paths:
        raise UsageError(f"`paths` are files of one repository; name it in `{REPOSITORY}`")
    asked = [question_of(one, filters) for one in dict.fromkeys(queries or ()) if one]
    main = question_of(query, filters) if query else None
    if main is None and not asked:
        raise UsageError("say in `query` what all repositories are asked for")
    printed, short = sizes_of(form)
    several = answer_each_across(reader, main, asked, today=today, budget=budget, printed=printed, printed_short=short)
    status = {"retrieval_status": "succeeded" if any(one.items for one in several.answers.packs) else "empty"}

    def text() -> str:
        said = "\n\n".join([answers_markdown(narrated(several.answers)), *_reaches(several.found)])
        return answers_with_ages(several, said, ink=Ink(), now=None)

    return Told(text=text, facts=lambda: status | json.loads(across_answers_json(several, now=None)))


def _list(
    reader: Reader,
    today: date,
    *,
    limit: int,
    all_wings: bool,  # noqa: ARG001  # every wing is read
    **filters: Any,
) -> Told:
    answer = list_across(reader, AcrossRequest(question_of(None, filters), limit=limit), today=today)
    nothing = [] if answer.result else ["No entry passes these filters."]
    listed = across_list_text(answer, ink=Ink(), now=None, columns=None)
    remarks = list_remarks(answer, most="`limit`", within="`repository`")
    return Told(
        text=lambda: "\n\n".join(filter(None, [listed, *nothing, *remarks])),
        facts=lambda: dict(json.loads(across_entries_json(answer, now=None))),
    )


def _who(reader: Reader, today: date, *, query: str, repositories: Sequence[str] = ()) -> Told:
    return told_of(who(reader, query, repositories=repositories, today=today))


def _context(reader: Reader, today: date, **stated: Any) -> Told:  # noqa: ARG001  # one signature
    raise UsageError(f"an overview is of one repository; name it in `{REPOSITORY}`, or call `retrieve` for all")


def _reaches(answers: Sequence[AcrossAnswer[Any]]) -> Iterable[str]:
    return dict.fromkeys(said for answer in answers for said in reach_remarks(answer))


ACROSS: Mapping[str, Callable[..., Told]] = {
    "search": _search,
    "retrieve": _retrieve,
    "list": _list,
    "who": _who,
    "context": _context,
}
"""What answers, by the name of the tool, from what reads a hub, on a day, with the tool's own arguments."""
