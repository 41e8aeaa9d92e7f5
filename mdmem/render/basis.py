"""What every answer says of itself, as blocks of text: what cannot be read, contradictions, what lies outside."""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.render.characters import one_line
from mdmem.render.words import count
from mdmem.retrieval.question import BEARINGS, AnswerBasis, AnsweredEntry

# The rest of a reason stands in the entry.
_LONGEST = 160
_CLAIMS = {"claimed_by": ", which alone says that it replaces this", "claims": ", which is in force"}


def problems_text(basis: AnswerBasis) -> Iterator[str]:
    """Yield the files that cannot be read in full, if there are any."""
    if basis.problems:
        lines = [f"  {one.place.path}:{one.place.line}: {one.message} ({one.code})" for one in basis.problems]
        head = f"{count(len(lines), 'file')} of this scope cannot be read in full, and may bind:"
        yield "\n".join([head, *lines])


def contradictions_text(basis: AnswerBasis) -> Iterator[str]:
    """Yield the contradictions, if there are any."""
    if basis.conflicts:
        lines = [f"  {one.a} against {one.b}: {one.why}" for one in basis.conflicts]
        yield "\n".join(["Contradictions, for a person to resolve:", *lines])


def ended_text(basis: AnswerBasis) -> Iterator[str]:
    """Yield what became of the best match, where it does not hold any more."""
    for one in basis.ended:
        title, after = f" ({one_line(one.title)})", "nothing replaced it"
        if one.heads:
            title, after = "", f"replaced by {', '.join(one.heads)}"
        why = f": {_short(one.reason)}" if one.reason else ""
        yield f"The best match has ended: {one.address}{title}, {after}{why}"


def _short(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST].rsplit(' ', 1)[0]} …"


def bearings_text(answered: AnsweredEntry) -> Iterator[str]:
    """Yield a line for each entry that claims its place, that it claims to replace, and that amends or is amended."""
    for name, addresses in answered.bearings.items():
        then = _CLAIMS.get(name, "")
        yield from (f"{BEARINGS[name]} {one} ({one_line(answered.titles[one])}){then}" for one in addresses)


def fallback_text(basis: AnswerBasis) -> Iterator[str]:
    """Yield the lines from outside the memory, if there are any."""
    if basis.fallback:
        lines = [f"  {one.path}:{one.line}: {one.text}" for one in basis.fallback]
        yield "\n".join(["Outside the memory, not binding:", *lines])
