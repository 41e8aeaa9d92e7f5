"""The file begins with a byte order mark.

The mark has no meaning in UTF-8, yet readers that do not expect it see no front matter and lose every field. mdmem
reads the file all the same; the next tool may not.

Fails:

    \\ufeff---
    type: decision

Fix: save the file as UTF-8 without a byte order mark.
`mdmem check --fix` does it.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.fixes.base import only, with_fix
from mdmem.model.finding import Edit, Finding, Place, Severity

CODE = "utf8-bom"
SEVERITY = Severity.WARNING
_MARK = b"\xef\xbb\xbf"


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each file in an entry's place that begins with the mark."""
    for address, document in case.documents:
        if document.data.startswith(_MARK):
            message = "the file begins with a byte order mark"
            found = Finding(CODE, message, Place(document.path), "save it as UTF-8 without the mark", address)
            edit = Edit(document.path, 0, len(_MARK), b"")
            yield with_fix(found, "Remove the byte order mark", only, edit)
