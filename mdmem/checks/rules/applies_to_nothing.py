"""A glob of `applies_to` matches no file that git tracks.

The code moved or was never there, so the rule is not shown to whoever edits that code. Globs count from the top of the
repository: `*` stays in a folder, `**` crosses, a plain path covers what is below it. Ended entries are left alone.

Fails:

    applies_to: ["src/nav/**"]     (the folder is `src/navigation`)

Fix: write a glob that matches; `git ls-files ':(glob)src/nav/**'` lists what one covers.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.paths import TrackedPaths
from mdmem.entry.model import Status
from mdmem.finding import Finding, Severity

CODE = "applies-to-nothing"
SEVERITY = Severity.WARNING


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each glob of an entry that is not deprecated which covers no tracked file."""
    if case.facts is None or not case.facts.tracked_in_repository:
        return
    tracked = TrackedPaths(case.facts)
    known: dict[str, bool] = {}
    for entry in case.catalog.entries.values():
        if entry.status is Status.DEPRECATED:
            continue
        for item, glob in enumerate(entry.applies_to):
            if glob not in known:
                known[glob] = tracked.has_match(glob)
            if not known[glob]:
                message, help_ = (
                    f"`{glob}` matches no tracked file",
                    f"write a glob that `git ls-files ':(glob){glob}'` lists files for",
                )
                yield case.on_entry(CODE, entry, message, help_, field="applies_to", item=item)
