"""How much of each chosen entry is given: whole, or its first paragraph where the pack would grow too long."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mdmem.budget import Form, content_of, summary_of, tokens_of
from mdmem.context.gathering import Candidate
from mdmem.entry.model import EntryType
from mdmem.index.snippet import snippet

_PASSAGE = 320
# Whose first pages do not hold the words is a long text about something else.
_PAGES = 8000


@dataclass(frozen=True, slots=True)
class Content:
    """What is given of one entry."""

    text: str
    form: Form

    @property
    def tokens(self) -> int:
        """Return what it costs."""
        return tokens_of(len(self.text.encode()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """How long contents may be: `tokens` for all together, `longest` for each; `terms` are the question's.

    What is shortened keeps the passage that holds most of the terms, unless there are none.
    """

    tokens: int
    longest: int
    terms: frozenset[str] = frozenset()


def contents_of(chosen: Sequence[Candidate], bodies: Mapping[tuple[bool, str], str], room: Room) -> list[Content]:
    """Return what is given of each candidate, within the room as far as shortening goes.

    Invariants stay whole. Notes are shortened first, then patterns, then decisions, of each the worst fitting first.
    """
    given = [Content(content_of(one.item.entry, bodies[one.key]), Form.FULL) for one in chosen]
    total = sum(content.tokens for content in given)
    for number in _in_order_of_shortening(chosen):
        content = given[number]
        if total > room.tokens or content.tokens > room.longest:
            short = Content(_shortened(chosen[number], bodies[chosen[number].key], room), Form.SUMMARY)
            if short.tokens < content.tokens:
                given[number] = short
                total += short.tokens - content.tokens
    return given


def _shortened(one: Candidate, body: str, room: Room) -> str:
    summary = summary_of(one.item.entry, body)
    passage = snippet(body[:_PAGES], room.terms, width=_PASSAGE) if room.terms else ""
    is_new = passage.strip("…") not in " ".join(summary.split())
    return "\n\n".join(part for part in (summary, passage) if part and (part is summary or is_new))


def _in_order_of_shortening(chosen: Sequence[Candidate]) -> list[int]:
    lasting = [number for number, one in enumerate(chosen) if one.item.entry.type is not EntryType.INVARIANT]
    by_fit = sorted(lasting, key=lambda number: chosen[number].fitness, reverse=True)
    return sorted(by_fit, key=lambda number: -chosen[number].item.entry.type.rank)
