"""A symbolic link stands in the memory.

An entry has one address. Through a link the same rule stands at two, a change of the target changes both unseen, and
a checkout on Windows holds the target's path as text. Links are not followed.

Fails:

    app/rules/use-utc.md -> ../../shared/rules/use-utc.md

Fix: replace the link by the file itself, or remove it and name the other entry in `see`.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.paths import at_path, leaves_root, symlinks
from mdmem.model.entry import visible
from mdmem.model.finding import Finding, Severity

CODE = "symlink"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each link that stays within the root."""
    for file in symlinks(case.catalog):
        if not leaves_root(file):
            message = f"a symbolic link to `{visible(file.target)}`; links are not followed"
            yield at_path(CODE, file.path, message, "replace it by the file itself")
