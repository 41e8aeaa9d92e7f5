"""A submodule, or another repository, stands in the memory.

Its files are in another history: a commit here does not hold them, a review here does not show them, and a fresh
clone has an empty folder. Nothing below it is read.

Fails:

    shared/    (a submodule: it holds a `.git`)

Fix: move it out of the memory, or take its entries in as files.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.paths import at_path
from mdmem.model.finding import Finding, Severity
from mdmem.store.tree import FileKind

CODE = "submodule"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each folder below the root that is a repository of its own."""
    for file in (*case.catalog.files, *case.catalog.others):
        if file.kind is FileKind.SUBMODULE:
            message = "a repository of its own stands here; nothing in it is read"
            yield at_path(CODE, file.path, message, "move it out of the memory")
