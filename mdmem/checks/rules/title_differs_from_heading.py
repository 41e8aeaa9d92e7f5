"""The title in the front matter and the heading of the body name different things.

Lists and search show the title, a reader of the file sees the heading; when one of them was changed and the other
forgotten, people and agents speak of two rules. Markup, case, punctuation, blanks, a number such as `ADR-0012:` and
headings that only name a section do not count.

Fails:

    title: Use PostgreSQL for orders
    ---

    # Use MySQL for orders

Fix: correct the one that is wrong, or remove the heading: the title is shown anyway.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.markdown.parse import without_code
from mdmem.model.finding import Finding, Severity

CODE = "title-differs-from-heading"
SEVERITY = Severity.WARNING
_HEADING = re.compile(r"^#[ \t]+(.+?)[ \t]*#*[ \t]*\r?$", re.MULTILINE)
_TARGET = re.compile(r"\]\([^)]*\)")
_LABEL = re.compile(
    r"^(?:[a-z]+[- ]?)?\d+\s*[:.)\u2013\u2014-]\s+|^(?:adr|decision|invariant|pattern|note|rule|session)\s*:\s*", re.I
)
_SECTION = re.compile(
    r"(?:abstract|background|consequences|context|contextandproblemstatement|decision|description|details|fact|introduction"
    r"|motivation|notes|overview|problem|problemstatement|rationale|rule|status|steps|summary)\Z"
)


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each entry whose first level-1 heading is another than its title."""
    for entry, document in case.entries:
        heading = _heading(document.body)
        if heading is None or not document.fields or not document.fields.get("title") or "title" in entry.unread:
            continue
        if (
            heading[1] == entry.title
            or _folded(heading[1]) == _folded(entry.title)
            or _SECTION.match(_folded(heading[1]))
        ):
            continue
        message = f"the heading `{heading[1]}` differs from the title `{entry.title}`"
        other = document.body_place(heading.start(1), len(heading[1]))
        help_ = "correct the one that is wrong, or remove the heading"
        yield Finding(CODE, message, document.place("title"), help_, entry.address, other)


def _heading(body: str) -> re.Match[str] | None:
    found = _HEADING.search(body) if body.startswith("# ") or "\n# " in body else None
    if found is None or not any(fence in body[: found.start()] for fence in ("```", "~~~")):
        return found
    # The heading's own code spans must survive, so only its place is taken from the blanked text.
    outside = _HEADING.search(without_code(body))
    return _HEADING.match(body, outside.start()) if outside else None


def _folded(title: str) -> str:
    plain = _LABEL.sub("", _TARGET.sub("", unicodedata.normalize("NFKC", title)).strip())
    return "".join(character for character in plain.casefold() if character.isalnum())
