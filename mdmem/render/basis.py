"""What every answer says of itself, as blocks of text: what cannot be read, contradictions, what lies outside."""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.render.words import count
from mdmem.retrieval.question import AnswerBasis


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


def fallback_text(basis: AnswerBasis) -> Iterator[str]:
    """Yield the lines from outside the memory, if there are any."""
    if basis.fallback:
        lines = [f"  {one.path}:{one.line}: {one.text}" for one in basis.fallback]
        yield "\n".join(["Outside the memory, not binding:", *lines])
