"""What every answer says of itself, as blocks of text: what cannot be read, contradictions, what lies outside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from mdmem.ask.answer import RELATIONS, AnswerBasis, Contradiction, Item
from mdmem.model.entry import Entry, day_of
from mdmem.model.finding import Finding
from mdmem.render.text import UNREPLACED, one_line

# The rest of a reason stands in the entry.
_LONGEST = 160
_TOLD = 4
NO_ENTRIES: Mapping[str, Entry] = {}
_CLAIMS = {"claimed_by": ", which alone says that it replaces this", "claims": ", which is in force"}


def problems_text(basis: AnswerBasis) -> Iterator[str]:
    """Yield the files that cannot be read in full, if there are any: one with its fault, several by their places."""
    if len(basis.problems) == 1:
        one = basis.problems[0]
        head = "1 file of this scope cannot be read in full, and may bind:"
        yield f"{head}\n  {_place(one)}: {_short(one.message)} ({one.code})"
    elif basis.problems:
        named = ", ".join(map(_place, basis.problems[:_TOLD]))
        more = f" and {len(basis.problems) - _TOLD} more" if len(basis.problems) > _TOLD else ""
        head = f"{len(basis.problems)} files of this scope cannot be read in full, and may bind:"
        yield f"{head} {named}{more} (`mdmem check`)"


def _place(problem: Finding) -> str:
    return f"{problem.place.path}:{problem.place.line}"


def contradictions_text(basis: AnswerBasis, entries: Mapping[str, Entry] = NO_ENTRIES) -> Iterator[str]:
    """Yield the contradictions, if there are any, and which side has more authority, or is newer, where both are known.

    Authority decides what to follow until a person resolves it; of two alike nothing does. An entry that stands above
    is named by its id.
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
        return f"; the {stronger} goes before the {weaker}"
    if a.created_at is None or b.created_at is None or day_of(a.created_at) == day_of(b.created_at):
        return ""
    newer, older = sorted((day_of(a.created_at), day_of(b.created_at)), reverse=True)
    which = "former" if day_of(a.created_at) == newer else "latter"
    return f"; neither goes before the other, the {which} is newer ({newer} and {older})"


def ended_text(basis: AnswerBasis) -> Iterator[str]:
    """Yield what became of the best match, where it does not hold any more."""
    for one in basis.ended:
        title, after = f" ({one_line(one.title)})", UNREPLACED
        if named := [*one.heads, *(f"{address}, which cannot be read" for address in one.unread)]:
            title, after = "", f"replaced by {', '.join(named)}"
        why = f": {_short(one.reason)}" if one.reason else ""
        yield f"The best match has ended: {one.address}{title}, {after}{why}"


def _short(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST].rsplit(' ', 1)[0]} …"


def relations_text(item: Item) -> Iterator[str]:
    """Yield a line for each relation of an entry to another."""
    for name, addresses in item.relations.items():
        then = _CLAIMS.get(name, "")
        yield from (f"{RELATIONS[name]} {one} ({one_line(item.titles[one])}){then}" for one in addresses)


def fallback_text(basis: AnswerBasis) -> Iterator[str]:
    """Yield the lines from outside the memory, if there are any."""
    if basis.fallback:
        lines = [f"  {one.path}:{one.line}: {one.text}" for one in basis.fallback]
        yield "\n".join(["Outside the memory, not binding:", *lines])
