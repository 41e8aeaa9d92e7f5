"""What an entry says about a question beyond what was given of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mdmem.ask.given import marks_of
from mdmem.markdown.headings import sections_of
from mdmem.markdown.passages import Find
from mdmem.markdown.windows import Windows

if TYPE_CHECKING:
    from mdmem.markdown.windows import Windows

# Characters: to weigh the windows of more takes seconds.
_READ = 131_072


def windows_beyond(body: str, find: Find, before: frozenset[str], weights: Mapping[str, float]) -> Windows:
    """Return the windows of a body of which not every sentence has a mark among those that were given."""
    read = body[:_READ]
    is_known = (lambda text: marks_of((text,)) <= before) if before else None
    return Windows(read, sections_of(read), find, weights, has_asides=True, is_known=is_known)


def rest_of(body: str, find: Find, before: frozenset[str], weights: Mapping[str, float], *, room: int) -> str:
    """Return the best of them as passages, empty where what is left is far less about the question."""
    return "\n\n".join(f"… {text}" for text in windows_beyond(body, find, before, weights).texts(room))
