"""The title is longer than 100 characters.

A title is read in lists, in search results and in one line of a review, where the rest is cut off. What does not fit
is usually the rule itself, which belongs in the first sentence of the body.

Fails:

    title: Services that talk to billing have to store all times in UTC and convert them to a zone for display only

Fix: name the subject and the choice, as in `title: Dates are stored in UTC`.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.model.finding import Finding, Place, Severity

CODE = "title-too-long"
SEVERITY = Severity.WARNING
_LIMIT = 100


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each title over 100 characters, where it stands."""
    for entry, _ in case.entries:
        if len(entry.title) <= _LIMIT:
            continue
        message = f"the title has {len(entry.title)} characters, over {_LIMIT}"
        help_ = "name the subject and the choice; the rule itself goes into the body"
        yield Finding(CODE, message, _place(case, entry.path, entry.title), help_, entry.address)


def _place(case: Case, path: str, title: str) -> Place:
    document = case.catalog.document(path)
    if document.fields and document.fields.get("title"):
        return document.place("title")
    offset = document.body.find(title)
    return document.body_place(offset, len(title)) if offset >= 0 else Place(path)
