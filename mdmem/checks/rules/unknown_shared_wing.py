"""A manifest names a shared wing that does not exist.

A typo there drops the invariants of the wing that was meant, and nothing else would tell.

Fails:

    shared_wings: [raect]

Fix: write the name of the wing's folder; the nearest is named.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.model.finding import Finding, Severity

CODE = "unknown-shared-wing"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each name in `shared_wings` that no wing bears, at its item."""
    wings = case.catalog.wings
    known = {*wings, *case.catalog.missing_wings}
    for wing in wings.values():
        for item, name in enumerate(wing.shared_wings or ()):
            if name in known:
                continue
            place = case.catalog.document(f"{wing.name}/README.md").place("shared_wings", item)
            close = difflib.get_close_matches(name, sorted(known - {wing.name}), n=1)
            help_ = f"write `{close[0]}`" if close else "remove it, or write the name of the wing's folder"
            yield Finding(CODE, f"there is no wing `{name}`", place, help_)
