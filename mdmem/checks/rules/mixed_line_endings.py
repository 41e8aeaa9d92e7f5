"""Some lines of the file end in CRLF and others in LF.

An editor that sets all of them to one kind changes every line, and the diff hides what was meant. A CR alone is the
end of a line to some readers and nothing to others.

Fails:

    type: decision\\r\\n
    status: active\\n

Fix: save the file with one kind of line ending; the finding names the one that most lines have.
`mdmem check --fix` does it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.fixes.base import with_fix
from mdmem.markdown.parse import Document
from mdmem.model.finding import Edit, Finding, Severity

CODE = "mixed-line-endings"
SEVERITY = Severity.WARNING
_ENDS = {"CRLF": re.compile(r"\r\n"), "LF": re.compile(r"(?<!\r)\n"), "CR": re.compile(r"\r(?!\n)")}
_END = re.compile(rb"\r\n|\r|\n")


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each file with more than one kind, at the first line of a rarer kind."""
    for address, document in case.documents:
        if "\r" not in document.text:
            continue
        counts = _counts(document.text)
        usual = max(counts, key=lambda name: counts[name])
        if len(counts) < 2:
            continue
        offset = min(found.start() for name in counts if name != usual and (found := _ENDS[name].search(document.text)))
        listed = " and ".join(f"{count} in {name}" for name, count in counts.items())
        message = f"the lines end differently: {listed}"
        help_ = f"save the file with {usual} throughout"
        shown = Finding(CODE, message, document.text_place(offset), help_, address)
        yield with_fix(shown, f"End every line in {usual}", _edits, document, usual)


def _edits(document: Document, usual: str) -> Iterator[Edit]:
    """Yield an edit for each line end of a rarer kind; none where CR is usual, which is no line end to our reader."""
    wanted = {"CRLF": b"\r\n", "LF": b"\n"}.get(usual)
    for end in _END.finditer(document.data) if wanted else ():
        if end.group() != wanted:
            yield Edit(document.path, end.start(), end.end(), wanted or b"")


def _counts(text: str) -> dict[str, int]:
    """Return how many lines end in each kind that occurs."""
    both = text.count("\r\n")
    counts = {"CRLF": both, "LF": text.count("\n") - both, "CR": text.count("\r") - both}
    return {name: count for name, count in counts.items() if count}
