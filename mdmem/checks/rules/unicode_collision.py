"""Two names look the same and are written with other characters.

An «é» can be one character or an «e» with an accent after it. macOS takes both names for one file, so a checkout
keeps one of them; elsewhere a link that looks right leads to the other.

Fails:

    app/rules/cafe\\u0301.md
    app/rules/caf\\u00e9.md

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

CODE = "unicode-collision"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each pair, at the second."""
    for pair in name_collisions(case, composed):
        message = f"`{ascii(pair.second)[1:-1]}` and `{ascii(pair.first)[1:-1]}` look the same"
        help_ = renaming(pair.second, pair.second_path)
        shown = at_path(CODE, pair.second_path, message, help_, other=Place(pair.first_path))
        yield apart(shown, case, pair.second)
