"""The file is too large for one rule.

Memory is read into a model's context window, and a file of 64 KiB fills a good part of it alone: over that a warning,
over 1 MiB an error, and the file is not read at all. What a long entry weighs is said by `entry-too-long`.

Fails:

    app/architecture/everything-we-know.md    (1.4 MiB)

Fix: split it into entries of one rule each, and keep logs and transcripts outside the memory.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.markdown.parse import SIZE_LIMIT
from mdmem.model.finding import Finding, Place, Severity

CODE = "file-too-large"
SEVERITY = Severity.ERROR
_WARNED = 64 * 1024


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each file over 1 MiB, and a warning for each over 64 KiB that is no entry."""
    yield from case.loaded(CODE)
    for address, document in case.documents:
        size = len(document.data)
        if _WARNED < size <= SIZE_LIMIT and address not in case.catalog.entries:
            message = f"the file is {size // 1024} KiB, over 64 KiB"
            help_ = "split it; one entry is one rule"
            yield Finding(CODE, message, Place(document.path), help_, address, severity=Severity.WARNING)
