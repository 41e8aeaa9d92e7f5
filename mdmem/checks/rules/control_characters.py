"""The file holds control characters.

NUL, ESC and their kind come from a terminal's colours or a broken copy. No page and no diff shows them, terminals
obey them, and YAML refuses them, so that an entry with one in its front matter cannot be read. In a body they are a
warning. A file with one in its name is no entry: the name would begin a line of its own in answers.

Fails:

    title: \\x1b[31mNever\\x1b[0m retry a payment

Fix: remove them, for instance `sed -i 's/\\x1b\\[[0-9;]*m//g' FILE` for a terminal's colours.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.characters import CONTROL, described, in_body, in_name, invisible_in_names, invisible_in_values
from mdmem.markdown.parse import Document
from mdmem.model.finding import Finding, Severity

CODE = "control-characters"
SEVERITY = Severity.ERROR
_C0 = bytes(code in (*range(32), 127) and code not in b"\t\n\r" for code in range(256))
# What the characters from U+0080 to U+009F begin with in UTF-8.
_C1 = b"\xc2"


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each front matter, value, body and name that holds some, at the first."""
    yield from case.loaded(CODE)
    for path, character in invisible_in_names(case):
        if unicodedata.category(character) == "Cc":
            yield in_name(CODE, path, character)
    for address, document in case.documents:
        # `"\e"` in quotes is a control character that the file itself does not hold.
        if b"\\" in document.data:
            yield from _in_values(address, document)
        if document.text and _may_hold(document.data):
            matches = list(CONTROL.finditer(document.body))
            if matches:
                yield in_body(case, CODE, address, matches)


def _may_hold(data: bytes) -> bool:
    # To map bytes is ten times as fast as a regular expression over them.
    return 1 in data.translate(_C0) or _C1 in data


def _in_values(address: str, document: Document) -> Iterator[Finding]:
    for name, text in invisible_in_values(document):
        if found := CONTROL.search(text):
            message = f"`{name}` holds {described(found.group())}, written as an escape"
            yield Finding(CODE, message, document.place(name), "remove the escape", address)
