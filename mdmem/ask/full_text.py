"""Asks the full text for a question; words that are no query are the user's mistake, whoever asks first."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache

from msgspec.structs import replace

from mdmem.ask.question import Question
from mdmem.errors import UsageError
from mdmem.model.entry import Entry, EntryType
from mdmem.store.index.analysis import ask
from mdmem.store.index.protocol import Match, QuerySyntaxError, TextAnswer
from mdmem.store.workspace.workspace import Workspace

# An entry of the very title stands among the best, if not first.
_LOOKED_INTO = 50
_AHEAD = 1.001


def find_text(
    workspace: Workspace,
    question: Question,
    addresses: Collection[str],
    *,
    filters: Mapping[str, Collection[str]] | None = None,
    best: float | None = None,
) -> TextAnswer:
    """Return what the full text, or the files where it is down, says of a question about the entries at some addresses.

    `filters` are values of fields that all matches have one of. The `best` score is that of an answer from other files,
    beside which this one stands. Raises UsageError for a query that cannot be read as one.
    """
    try:
        answer = workspace.find_text(question.words, addresses, filters=filters, syntax=question.syntax)
    except QuerySyntaxError as error:
        raise UsageError(str(error)) from error
    return answer if question.syntax else titled_first(answer, workspace.catalog.entries, best=best)


def titled_first(answer: TextAnswer, entries: Mapping[str, Entry], *, best: float | None = None) -> TextAnswer:
    """Return an answer that entries lead whose title has the words of the question and no other: they are meant.

    A title that several notes share means none of them: they would take the room of what binds. Where `best` is that
    of other matches, they reach it and no more: what binds comes before what is proposed.
    """
    wanted, matches = frozenset(answer.terms), answer.matches
    meant = list(_named(matches[:_LOOKED_INTO], wanted, entries))
    notes = [one for one in meant if entries[one.key].type is EntryType.NOTE]
    if len(notes) > 1:
        meant = [one for one in meant if one not in notes]
    if not meant or (best is None and meant == list(matches[: len(meant)])):
        return answer
    score = _AHEAD * matches[0].score if best is None else max(best, matches[0].score)
    keys = {one.key for one in meant}
    ahead = sorted(one._replace(score=score) for one in meant)
    return replace(answer, matches=[*ahead, *(one for one in matches if one.key not in keys)])


def _named(matches: Iterable[Match], wanted: frozenset[str], entries: Mapping[str, Entry]) -> Iterator[Match]:
    for one in matches:
        if one.terms == wanted and one.key in entries and _terms_of(entries[one.key].title) == wanted:
            yield one


@lru_cache(maxsize=4096)
def _terms_of(title: str) -> frozenset[str]:
    return frozenset(ask(title).terms)
