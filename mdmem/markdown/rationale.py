"""The reasons in a body: where they are written, and how they are read back."""

from __future__ import annotations

import re

# No blanks after the colon: they may be code that was blanked out.
_LINE = re.compile(r"^Rationale:", re.MULTILINE)
_HEADING = re.compile(r"^#{1,6}[ \t]+Rationale[ \t]*#*[ \t]*$", re.MULTILINE)
_NEXT = re.compile(r"^#{1,6}[ \t]", re.MULTILINE)


def rationale_of(prose: str) -> str:
    """Return what stands after a line `Rationale:` or a heading of that name, up to the next heading; else everything.

    `prose` is a body with its code blanked out, so that an example of an entry is no rationale.
    """
    start, end = rationale_span(prose)
    return prose[start:end].strip()


def rationale_span(prose: str) -> tuple[int, int]:
    """Return where the reasons begin and end, for who wants them with the code that was blanked out."""
    starts = [found.end() for mark in (_LINE, _HEADING) if (found := mark.search(prose))]
    if not starts:
        return 0, len(prose)
    start = min(starts)
    end = _NEXT.search(prose, start)
    return start, end.start() if end else len(prose)


def with_rationale(text: str, rationale: str) -> str:
    """Return a body that states a text, then its rationale; `rationale_of` reads it back."""
    parts = (text.strip(), f"Rationale: {rationale.strip()}" if rationale.strip() else "")
    return "\n\n".join(part for part in parts if part) + "\n"
