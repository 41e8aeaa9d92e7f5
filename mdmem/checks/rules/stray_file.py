"""A file in the memory is no entry.

Nothing reads it, and who put it there may think otherwise. Expected are the settings, and a `README.md` at the root,
in a wing and in a room; what git ignores is left alone.

Fails:

    app/rules/diagram.png
    app/rules/use-utc.md.orig

Fix: move it out of the memory, delete it, or tell git to ignore it.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.paths import at_path, has_odd_extension, is_expected
from mdmem.model.finding import Finding, Severity
from mdmem.store.catalog import is_misplaced
from mdmem.store.tree import FileKind

CODE = "stray-file"
SEVERITY = Severity.WARNING


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each file that is neither an entry, nor expected, nor an entry by its name."""
    for file in case.others:
        path = file.path
        if file.kind is not FileKind.FILE or is_expected(path) or is_misplaced(path) or has_odd_extension(path):
            continue
        if case.facts is None or path not in case.facts.ignored:
            yield at_path(CODE, path, "the file is no entry; nothing reads it", "move it out of the memory")
