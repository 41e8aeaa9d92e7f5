"""What the reading tools answer of all repositories of a hub, by the verbs that its commands call."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

from mdmem.errors import UsageError
from mdmem.mcp.session import Given
from mdmem.mcp.texts import hits_text
from mdmem.mcp.tools.core import question_of
from mdmem.mcp.tools.hub import told_of
from mdmem.mcp.tools.shape import REPOSITORY, Facts, Told

if TYPE_CHECKING:
    from mdmem.hub.across import AcrossAnswer
    from mdmem.hub.reader import Reader
    from mdmem.retrieval.pack import Pack


def _search(
    reader: Reader,
    today: date,
    *,
    query: str,
    limit: int,
    include_deprecated: bool,
    include_drafts: bool,
    all_wings: bool,  # noqa: ARG001  # every wing is read
    **filters: Any,
) -> Told:
    from mdmem.hub.across import AcrossRequest, search_across
    from mdmem.render.hub_answers import across_search_json
    from mdmem.retrieval.search import snippets

    shown = {"include_deprecated": include_deprecated, "include_drafts": include_drafts}
    answer = search_across(reader, AcrossRequest(question_of(query, filters, **shown), limit=limit), today=today)
    result, snippet_of = answer.result, snippets(answer.workspace, answer.result)
    status = {"retrieval_status": "succeeded" if result.hits else "empty"}
    addresses = [hit.entry.address for hit in result.hits[:limit]]
    return Told(
        text=lambda: _placed(hits_text(result, limit=limit, snippet_of=snippet_of), [(answer, addresses)]),
        facts=lambda: status | json.loads(across_search_json(answer, limit=limit, snippet_of=snippet_of, now=_now())),
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
    **filters: Any,
) -> Told:
    from mdmem.hub.across import AcrossRequest, retrieve_across
    from mdmem.render.answers import answers_markdown
    from mdmem.render.hub_answers import across_pack_json
    from mdmem.render.retrieval import markdown_size
    from mdmem.retrieval.answers import Answer, Answers

    if paths:
        raise UsageError(f"`paths` are files of one repository; name it in `{REPOSITORY.name}`")
    words = [one for one in dict.fromkeys((query, *(queries or ()))) if one]
    if not words:
        raise UsageError("say in `query` what all repositories are asked for")
    asked = [AcrossRequest(question_of(one, filters)) for one in words]
    found = [retrieve_across(reader, one, today=today, budget=budget, printed=markdown_size) for one in asked]
    packs = [one.result for one in found]
    main, short = (packs[0], ()) if query or len(packs) == 1 else (None, ())
    rest = zip(asked, packs, strict=True) if main is None else zip(asked[1:], packs[1:], strict=True)
    answers = Answers(main, (*short, *(Answer(one.question, pack) for one, pack in rest)))

    def facts() -> Facts:
        told = [json.loads(across_pack_json(one, now=_now())) for one in found]
        named = [{"query": one, **more} for one, more in zip(words, told, strict=True)]
        status = {"retrieval_status": "succeeded" if any(one.items for one in packs) else "empty"}
        return status | (told[0] if len(told) == 1 else {"answers": named})

    return Told(
        text=lambda: _placed(answers_markdown(answers), [(one, _addresses(one.result)) for one in found]), facts=facts
    )


def _list(
    reader: Reader,
    today: date,
    *,
    limit: int,
    include_deprecated: bool,
    include_drafts: bool,
    all_wings: bool,  # noqa: ARG001  # every wing is read
    **filters: Any,
) -> Told:
    from mdmem.hub.across import AcrossRequest, list_across
    from mdmem.render.hub_answers import across_entries_json, across_list_text, list_remarks
    from mdmem.render.ink import Ink

    shown = {"include_deprecated": include_deprecated, "include_drafts": include_drafts}
    answer = list_across(reader, AcrossRequest(question_of(None, filters, **shown), limit=limit), today=today)
    nothing = [] if answer.result else ["No entry passes these filters."]
    listed = across_list_text(answer, ink=Ink(), now=_now(), columns=None)
    remarks = list_remarks(answer, more="raise `limit`")
    return Told(
        text=lambda: "\n\n".join(filter(None, [listed, *nothing, *remarks])),
        facts=lambda: dict(json.loads(across_entries_json(answer, now=_now()))),
    )


def _who(reader: Reader, today: date, *, query: str, repositories: Sequence[str] = ()) -> Told:
    from mdmem.hub.owners import who

    return told_of(who(reader, query, repositories=repositories, today=today))


def _context(reader: Reader, today: date, **stated: Any) -> Told:  # noqa: ARG001  # one signature
    raise UsageError(f"an overview is of one repository; name it in `{REPOSITORY.name}`, or call `retrieve` for all")


def _addresses(pack: Pack) -> list[str]:
    return [one.item.entry.address for one in pack.items]


def _placed(text: str, answers: Sequence[tuple[AcrossAnswer[Any], Sequence[str]]]) -> str:
    """Return a text with the repositories' names as they are, how far it reaches and how old the copies are."""
    from mdmem.render.hub_answers import across_text, reach_remarks
    from mdmem.render.ink import Ink

    remarks = dict.fromkeys(said for answer, _ in answers for said in reach_remarks(answer))
    placed = "\n\n".join([text, *remarks])
    for answer, addresses in answers:
        placed = across_text(placed, answer, addresses, ink=Ink(), now=_now())
    return placed


def _now() -> datetime:
    return datetime.now(UTC)


ACROSS: Mapping[str, Callable[..., Told]] = {
    "search": _search,
    "retrieve": _retrieve,
    "list": _list,
    "who": _who,
    "context": _context,
}
"""What answers, by the name of the tool, from what reads a hub, on a day, with the tool's own arguments."""
