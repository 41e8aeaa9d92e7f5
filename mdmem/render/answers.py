"""Several answers of one call as text, as Markdown and as JSON values: what they share is said once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from mdmem.ask.question import AnswerBasis, Coverage
from mdmem.ask.ranks import is_fitting
from mdmem.render.basis import contradictions_text, ended_text, problems_text
from mdmem.render.characters import one_line
from mdmem.render.ink import Ink
from mdmem.render.retrieval import (
    NO_INK,
    PrintedText,
    blocks_of,
    came_from,
    elsewhere_text,
    entries_of,
    item_markdown,
    item_text,
    pack_markdown,
    pack_text,
    unread_text,
)
from mdmem.render.words import count, unheld

if TYPE_CHECKING:
    from mdmem.ask.answers import Answers
    from mdmem.ask.pack import Pack, Printed
    from mdmem.render.retrieval import Rendered

# So much of a question tells which one an answer is to.
_ASKED = 48
# Wings that are named as not read.
_WINGS = 4


def answers_text(answers: Answers, *, ink: Ink) -> str:
    """Return the answer to the work at hand as it stands alone, then a short block for each question."""
    first = [pack_text(answers.main, ink=ink)] if answers.main is not None else []
    asked = (
        f"{ink.bold(_head(number, one.question.words))}{_short_text(one.pack, ink)}"
        for number, one in enumerate(answers.short, 1)
    )
    return "\n\n".join([*_problems(answers), *first, *asked, *_elsewhere(answers), *_rest(answers, ink)])


def answers_markdown(answers: Answers) -> str:
    """Return the answers as Markdown, each question a section."""
    first = [pack_markdown(answers.main)] if answers.main is not None else []
    asked = (
        f"## {_head(number, one.question.words)}{_short_markdown(one.pack)}"
        for number, one in enumerate(answers.short, 1)
    )
    return "\n\n".join([*_problems(answers), *first, *asked, *_elsewhere(answers), *_rest(answers, NO_INK)])


def answers_json(answers: Answers, shown: Callable[[Pack], dict[str, Any]]) -> dict[str, Any]:
    """Return the answer to the work at hand as it is `shown`, if there was any, and beside it a list of the others."""
    first = shown(answers.main) if answers.main is not None else {}
    if not answers.short:
        return first
    return {**first, "answers": [{"query": one.question.words, **shown(one.pack)} for one in answers.short]}


def _problems(answers: Answers) -> Iterator[str]:
    if answers.main is None and not answers.known:
        # Else they stand in its answer: all of them are asked in one scope.
        yield from problems_text(AnswerBasis(problems=answers.problems))


def _head(number: int, question: str) -> str:
    line = one_line(question)
    short = line if len(line) <= _ASKED else f"{line[:_ASKED].rpartition(' ')[0] or line[:_ASKED]} …"
    return f"{number}. {short}"


def _elsewhere(answers: Answers) -> list[str]:
    # Of the work at hand it stands below its own answer.
    return list(dict.fromkeys(line for one in answers.short for line in elsewhere_text(one.pack)))


def _rest(answers: Answers, ink: Ink) -> Iterator[str]:
    """Yield the one line of counts of all short answers, and where they come from."""
    bases = [one.pack.basis for one in answers.short]
    most = max((len(one.omitted) + sum(some.count for some in one.omitted_counts) for one in bases), default=0)
    sources = dict.fromkeys(map(came_from, bases))
    if bases:
        left = f"Each leaves out up to {count(most, 'weaker match', 'weaker matches')}; read" if most else "Read"
        named = ", ".join(answers.unread[:_WINGS])
        unread = f"; not read: {named} (--wing, --all-wings)" if named else ""
        at_hand = "" if answers.main is not None or not answers.paths else f"; {_told_before(len(answers.paths))}"
        yield ink.dim(f"{left} from {' and '.join(sources)}{unread}{at_hand}")


def _told_before(files: int) -> str:
    """Return that the files of a session had their own answer: whether it told all that binds, it said itself."""
    which, its = ("file", "its") if files == 1 else (f"{files} files", "their")
    return f"the {which} at hand had {its} own answer before"


def _short_text(pack: Pack, ink: Ink, rendered: Rendered | None = None) -> str:
    """Return what stands below a question: what is lacking, entries with no blank line between, contradictions."""
    items = blocks_of((*pack.items, *pack.proposed), rendered or partial(item_text, ink=ink))
    told = (ink.warn(block) for block in contradictions_text(pack.basis, entries_of(pack)))
    return "".join(f"\n{one}" for one in (*_lacks(pack), *items, *told))


def _short_markdown(pack: Pack, rendered: Rendered = item_markdown) -> str:
    items = blocks_of((*pack.items, *pack.proposed), rendered)
    return "".join(f"\n\n{one}" for one in (*_lacks(pack), *items, *contradictions_text(pack.basis, entries_of(pack))))


def _lacks(pack: Pack) -> Iterator[str]:
    """Yield what an agent has to know before it believes the answer; of a whole one nothing."""
    basis = pack.basis
    if basis.degraded:
        yield f"Degraded: {basis.why_degraded}."
    if not pack.scope.wings:
        yield "There is no memory to ask here."
    elif basis.coverage is Coverage.NONE:
        near = "; below is what comes near" if any(item.item.score > 0 for item in pack.items) else ""
        nothing = "No invariant or decision" if any(is_fitting(item.item) for item in pack.items) else "Nothing binding"
        yield f"{'Nothing that could be read' if basis.problems else nothing} covers this{near}."
    yield from unread_text(pack)
    if basis.unmatched_terms:
        yield unheld(basis.unmatched_terms, pack.scope.wings)
    given = {packed.item.entry.address for packed in pack.items}
    # What took the place of one is named as such where it is given.
    for one in basis.ended:
        if given.isdisjoint(one.heads):
            yield from ended_text(replace(basis, ended=(one,)))


short_text_size: Printed = PrintedText(
    lambda pack, rendered: _short_text(pack, NO_INK, rendered), item_text, counts=False
)
short_markdown_size: Printed = PrintedText(_short_markdown, item_markdown, counts=False)
