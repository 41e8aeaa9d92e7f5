"""Changing an entry in an editor: the notes above its text, and the change that the text comes to."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from datetime import date

from mdmem.authoring.intent import Intent
from mdmem.authoring.message import Deed, Verb
from mdmem.authoring.plan import Change, Plan
from mdmem.document.edits import apply_edits
from mdmem.document.parse import parse_document
from mdmem.document.patch import set_fields
from mdmem.finding import Finding

_MARK = "# mdmem: "


def edit(path: str, before: bytes, after: bytes, *, editorial_on: date | None = None) -> Intent:
    """Return what gives a file the text of an editor; `editorial_on` marks the change as one that keeps the rule.

    Raises UnpatchableError where the mark cannot be written.
    """
    if editorial_on is not None:
        document = parse_document(path, after)
        after = apply_edits(after, set_fields(document, {"editorial_at": editorial_on.isoformat()}))
    return Intent(plan=Plan((Change(path, path, before, after),)), deeds=(Deed(Verb.EDIT, path.removesuffix(".md")),))


def notes_on(findings: Sequence[Finding], content: bytes) -> tuple[bytes, ...]:
    """Return the lines that tell an editor's user what is wrong, with the line numbers of the text below them."""
    count = len(findings) + 2
    head = f"{len(findings)} error{'s' if len(findings) > 1 else ''}; mend {'them' if len(findings) > 1 else 'it'}, or"
    told = (f"line {one.place.line + count}: {one.message}; {one.help}" for one in findings)
    return _notes([f"{head} close this unchanged to give up", *told, _GOING], content)


def notes_on_refusal(sentence: str, content: bytes) -> tuple[bytes, ...]:
    """Return the lines that tell an editor's user why a text was refused."""
    head = "nothing is written yet; mend it, or close this unchanged to give up"
    return _notes([head, sentence, f"{_GOING}, and no line number counts them"], content)


_GOING = "these lines are taken out again"


def _notes(lines: Sequence[str], content: bytes) -> tuple[bytes, ...]:
    ending = b"\r\n" if b"\r\n" in content else b"\n"
    return tuple(f"{_MARK}{' '.join(line.split())}".encode("utf-8", "backslashreplace") + ending for line in lines)


def with_notes(content: bytes, notes: Sequence[bytes]) -> bytes:
    """Return a text with notes above it; a byte order mark stays the first."""
    mark, text = _split(content)
    return b"".join((mark, *notes, text))


def without_notes(content: bytes, notes: Sequence[bytes]) -> bytes:
    """Return a text without the notes above it.

    Only from the top, and no more lines than there were notes, are lines taken out that are marked as ours: an entry
    begins with `---`. The user may have changed their words and their line ends.
    """
    mark, text = _split(content)
    for _ in notes:
        line, newline, rest = text.partition(b"\n")
        if not line.startswith(_MARK.encode()):
            break
        text = rest if newline else b""
    return mark + text


def _split(content: bytes) -> tuple[bytes, bytes]:
    mark = codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b""
    return mark, content[len(mark) :]
