"""The sections of a body: a thin stand-in until the real one is merged."""

from __future__ import annotations

import re
from dataclasses import dataclass

_HEADING = re.compile(r"^#{1,6}[ \t]+(.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Section:
    """One heading with the text below it."""

    title: str
    text: str


def sections_of(body: str) -> tuple[Section, ...]:
    """Return the sections of a body, the text before the first heading among them."""
    found = [(0, 0, ""), *((one.start(), one.end(), one[1]) for one in _HEADING.finditer(body))]
    ends = [start for start, _, _ in found[1:]] + [len(body)]
    return tuple(Section(title, body[after:end]) for (_, after, title), end in zip(found, ends, strict=True))
