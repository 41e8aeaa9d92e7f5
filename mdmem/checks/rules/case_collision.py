"""Two names differ only in capital letters.

On Windows and macOS the two are one file: a checkout keeps one of them, and the next commit deletes the other.
Folders collide the same way, with everything in them.

Fails:

    app/rules/use-utc.md
    app/rules/Use-UTC.md

Fix: rename one of them with `mdmem mv`, which rewrites the links to it, or merge the two into one entry.
`mdmem check --unsafe-fixes` does it where one answer is likely.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.fixes.links import apart
from mdmem.checks.name_collisions import composed, name_collisions
from mdmem.checks.paths import at_path, renaming
from mdmem.model.finding import Finding, Place, Severity

CODE = "case-collision"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each pair, at the second, those of one Unicode form left to `unicode-collision`."""
    for pair in name_collisions(case, lambda name: composed(name).lower()):
        if composed(pair.first) != composed(pair.second):
            message = f"`{pair.second}` and `{pair.first}` differ only in case"
            help_ = renaming(pair.second, pair.second_path)
            shown = at_path(CODE, pair.second_path, message, help_, other=Place(pair.first_path))
            yield apart(shown, case, pair.second)
