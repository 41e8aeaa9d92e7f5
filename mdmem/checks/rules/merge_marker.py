"""The file holds an unresolved merge.

Both sides of a conflict stand in the file at once, and a reader takes them for one rule. All three marks are asked
for, at the start of their lines, so that a heading underlined with `=` is no finding. What a merge that has not
happened would leave so has its own findings.

Fails:

    <<<<<<< HEAD
    We store times in UTC.
    =======
    We store local times.
    >>>>>>> feature

Fix: keep what holds, remove the three marks, and `git add` the file.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.paths import at_path, is_expected
from mdmem.model.finding import Finding, Severity
from mdmem.store.tree import FileKind

CODE = "merge-marker"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each file with a conflict, and for each manifest that the index holds unmerged."""
    yield from (finding for finding in case.loaded(CODE) if finding.place.path not in case.unmerged)
    for file in case.catalog.others:
        if file.kind is FileKind.UNMERGED and is_expected(file.path):
            yield at_path(
                CODE, file.path, "the index holds the file unmerged", "`mdmem resolve` shows how to decide it"
            )
