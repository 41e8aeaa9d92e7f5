"""The last line of the file does not end.

The next line that anybody adds changes this one too, so that a diff and `git blame` name the wrong person, and a
merge conflicts where nothing collides.

Fails:

    We store times in UTC.⏏    (no newline)

Fix: end the last line with a newline.
`mdmem check --fix` does it.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.fixes.base import line_end, with_fix
from mdmem.markdown.layout import replace_span
from mdmem.model.finding import Finding, Severity

CODE = "no-final-newline"
SEVERITY = Severity.WARNING


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each file whose last character is no newline, at its end."""
    for address, document in case.documents:
        text = document.text
        if text.strip() and not text.endswith(("\n", "\r")):
            place = document.text_place(len(text))
            found = Finding(CODE, "the last line has no newline", place, "end the file with a newline", address)
            at = len(text), len(text), line_end(document)
            yield with_fix(found, "End the last line", replace_span, document, *at)
