"""Several questions to all repositories in one call: one answer each; what one gave is a line in those behind it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from mdmem.ask.answers import SHORT_BUDGET, Answer, Answers, without_repeats
from mdmem.ask.pack import PLAIN, Pack, PackedEntry, Printed
from mdmem.ask.question import Question
from mdmem.hub.across import AcrossAnswer, AcrossRequest, retrieve_across
from mdmem.hub.reader import Reader


class UnionAnswers(Struct, frozen=True):
    """What a call gives, and where each answer comes from, in the same order."""

    answers: Answers
    found: tuple[AcrossAnswer[Pack], ...]


def answer_each_across(
    reader: Reader,
    main: Question | None,
    questions: Sequence[Question],
    *,
    today: date,
    repositories: tuple[str, ...] = (),
    budget: int | None = None,
    printed: Printed = PLAIN,
    printed_short: Printed = PLAIN,
) -> UnionAnswers:
    """Return the answer to the work at hand, if it is asked for, and short ones to the questions."""
    found: list[AcrossAnswer[Pack]] = []
    given: dict[str, str] = {}
    for question in (*([main] if main is not None else []), *questions):
        is_short = question is not main
        answer = retrieve_across(
            reader,
            AcrossRequest(question, repositories),
            today=today,
            budget=SHORT_BUDGET if is_short and budget is None else budget,
            printed=printed_short if is_short else printed,
            given=given,
        )
        found.append(replace(answer, result=_apart(answer.result)))
        given |= answer.result.gave
    first = found[:1] if main is not None else []
    work = first[0].result if first else None
    others = found[len(first) :]
    packs = tuple(without_repeats(work, [one.result for one in others]))
    apart = (replace(one, result=pack) for one, pack in zip(others, packs, strict=True))
    return UnionAnswers(Answers(work, tuple(map(Answer, questions, packs))), (*first, *apart))


def _apart(pack: Pack) -> Pack:
    """Return an answer that lets go of all that was read for it: of many questions that is a gigabyte."""
    return replace(pack, items=tuple(map(_explained, pack.items)), proposed=tuple(map(_explained, pack.proposed)))


def _explained(one: PackedEntry) -> PackedEntry:
    return replace(one, item=replace(one.item, why=partial(str, one.item.reason)))
