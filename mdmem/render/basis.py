"""Render the notes around an answer: unreadable files, contradictions, replaced entries, lines outside the memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from mdmem.ask.answer import RELATIONS, AnswerBasis, Contradiction, Item
from mdmem.model.entry import Entry, day_of
from mdmem.model.finding import Finding
from mdmem.render.text import UNREPLACED, first_of, one_line

# The most characters of a reason; a longer one is cut.
_LONGEST = 160
_MOST_FILES = 4
NO_ENTRIES: Mapping[str, Entry] = {}
_AFTER = {"claimed_by": ", in a one-sided supersession", "claims": ", which is current"}


def problems_text(basis: AnswerBasis) -> Iterator[str]:
    """Yield a block about the files that cannot be read in full: the error of a single file, or several paths."""
    places = [f"{one.place.path}:{one.place.line}" for one in basis.problems]
    if len(places) == 1:
        one: Finding = basis.problems[0]
        head = "1 file of this scope cannot be read in full, and may apply:"
        yield f"{head}\n  {places[0]}: {_short(one.message)} ({one.code})"
    elif places:
        head = f"{len(places)} files of this scope cannot be read in full, and may apply:"
        yield f"{head} {first_of(places, _MOST_FILES)} (`mdmem check`)"


def contradictions_text(basis: AnswerBasis, entries: Mapping[str, Entry] = NO_ENTRIES) -> Iterator[str]:
    """Yield a block about the contradictions of an answer.

    If both entries are in `entries`, it says which one outranks the other or is newer. Entries of the answer are
    printed by their ids.
    """
    if basis.conflicts:
        ids = Counter(address.rpartition("/")[2] for address in entries)

        def named(address: str) -> str:
            short = address.rpartition("/")[2]
            return short if address in entries and ids[short] == 1 else address

        lines = [
            f"  {named(one.a)} against {named(one.b)}: {one.why}{_weighed(one, entries)}" for one in basis.conflicts
        ]
        yield "\n".join(["Contradictions, for a person to resolve:", *lines])


def _weighed(one: Contradiction, entries: Mapping[str, Entry]) -> str:
    a, b = entries.get(one.a), entries.get(one.b)
    if a is None or b is None:
        return ""
    if a.type is not b.type:
        stronger, weaker = sorted((a.type, b.type), key=lambda kind: kind.rank)
        return f"; the {stronger} outranks the {weaker}"
    if a.created_at is None or b.created_at is None or day_of(a.created_at) == day_of(b.created_at):
        return ""
    newer, older = sorted((day_of(a.created_at), day_of(b.created_at)), reverse=True)
    which = "former" if day_of(a.created_at) == newer else "latter"
    return f"; neither outranks the other, the {which} is newer ({newer} and {older})"


def ended_text(basis: AnswerBasis) -> Iterator[str]:
    """Yield a line about the best match if it is not current, with its successors and the reason."""
    for one in basis.ended:
        title, after = f" ({one_line(one.title)})", UNREPLACED
        if named := [*one.heads, *(f"{address}, which cannot be read" for address in one.unread)]:
            title, after = "", f"replaced by {', '.join(named)}"
        why = f": {_short(one.reason)}" if one.reason else ""
        yield f"The best match is not current: {one.address}{title}, {after}{why}"


def _short(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST].rsplit(' ', 1)[0]} …"


def relations_text(item: Item) -> Iterator[str]:
    """Yield a line for each amendment and one-sided supersession of an entry."""
    for name, addresses in item.relations.items():
        after = _AFTER.get(name, "")
        yield from (f"{RELATIONS[name]} {one} ({one_line(item.titles[one])}){after}" for one in addresses)


def fallback_text(basis: AnswerBasis) -> Iterator[str]:
    """Yield a block of the lines from outside the memory, if there are any."""
    if basis.fallback:
        lines = [f"  {one.path}:{one.line}: {one.text}" for one in basis.fallback]
        yield "\n".join(["Outside the memory, not binding:", *lines])
