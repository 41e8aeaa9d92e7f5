"""Changing an entry in an editor: the notes above its text, and the change that the text comes to."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from datetime import date

from mdmem.authoring.intent import Intent
from mdmem.authoring.message import Deed, Verb
from mdmem.authoring.plan import Change, Plan
from mdmem.catalog import interpret
from mdmem.document.edits import apply_edits
from mdmem.document.parse import parse_document
from mdmem.document.patch import set_fields
from mdmem.finding import Finding

_MARK = "# mdmem: "


def edit(path: str, before: bytes, after: bytes, *, editorial_on: date | None = None) -> Intent:
    """Return what gives a file the text of an editor; `editorial_on` marks the change as one that keeps the rule.

    Raises UnpatchableError where the mark cannot be written.
    """
    if editorial_on is not None and after != before:
        document = parse_document(path, after)
        after = apply_edits(after, set_fields(document, {"editorial_at": editorial_on.isoformat()}))
    return Intent(plan=Plan((Change(path, path, before, after),)), deeds=(Deed(Verb.EDIT, path.removesuffix(".md")),))


def is_readable(path: str, content: bytes) -> bool:
    """Say whether a file of these bytes holds an entry."""
    return interpret(parse_document(path, content)).entry is not None


def notes_on(findings: Sequence[Finding], content: bytes) -> tuple[bytes, ...]:
    """Return the lines that tell an editor's user what is wrong, with the line numbers of the text below them."""
    count = len(findings) + 2
    lines = [
        f"{len(findings)} error{'s' if len(findings) > 1 else ''}; mend them, or close this unchanged to give up",
        *(f"line {one.place.line + count}: {one.message}; {one.help}" for one in findings),
        "these lines are taken out again",
    ]
    ending = b"\r\n" if b"\r\n" in content else b"\n"
    return tuple(f"{_MARK}{' '.join(line.split())}".encode("utf-8", "backslashreplace") + ending for line in lines)


def with_notes(content: bytes, notes: Sequence[bytes]) -> bytes:
    """Return a text with notes above it; a byte order mark stays the first."""
    mark, text = _split(content)
    return b"".join((mark, *notes, text))


def without_notes(content: bytes, notes: Sequence[bytes]) -> bytes:
    """Return a text without the notes above it.

    Only whole lines equal to a note are taken out, and only from the top: where an entry begins with `---`, none of
    them can be the user's own. Line ends may have become others.
    """
    mark, text = _split(content)
    known = {note.rstrip(b"\r\n") for note in notes}
    while text:
        line, newline, rest = text.partition(b"\n")
        if line.rstrip(b"\r") not in known:
            break
        text = rest if newline else b""
    return mark + text


def _split(content: bytes) -> tuple[bytes, bytes]:
    mark = codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b""
    return mark, content[len(mark) :]
