"""A symbolic link leads out of the memory.

Followed, it would bring any file of the machine into the context of a model, and a reviewer of the memory would never
see it. It is not followed, and it is broken on every other machine.

Fails:

    app/rules/keys.md -> /home/someone/.ssh/id_ed25519

Fix: remove the link; what belongs to the memory is copied into it.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.paths import at_path, leaves_root, symlinks
from mdmem.model.entry import visible
from mdmem.model.finding import Finding, Severity

CODE = "path-escapes-root"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each link that is absolute or climbs above the root."""
    for file in symlinks(case.catalog):
        if leaves_root(file):
            message = f"a symbolic link leaves the memory for `{visible(file.target)}`"
            yield at_path(CODE, file.path, message, "remove the link, or replace it by the file itself")
