"""No entry was found, so nothing was checked.

A wrong `--root`, a moved folder or a checkout without the memory looks like a clean run otherwise. In CI this is an
error. Where a wing has its manifest and nothing else lies beside it, the memory is only new: that is said, no more.

Fails:

    memory/mdmem.toml     (and no file at memory/<wing>/<room>/<entry-id>.md)

Fix: give the right root with `--root`, or write a first entry with `mdmem new`.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.model.finding import Finding, Place, Severity
from mdmem.store.catalog.addresses import MANIFEST
from mdmem.store.tree import SETTINGS_NAME

CODE = "nothing-checked"
SEVERITY = Severity.WARNING


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding where no file is in an entry's place; one that cannot be read, or is in no wing, is there."""
    if case.catalog.files or case.orphans:
        return
    manifests = {f"{name}/{MANIFEST}" for name, wing in case.catalog.wings.items() if wing.has_manifest}
    strays = sum(file.path.endswith(".md") and file.path not in manifests for file in case.catalog.others)
    if manifests and not strays:
        help_ = "write a first entry with `mdmem new`"
        yield Finding(CODE, "empty so far", Place(SETTINGS_NAME), help_, severity=Severity.INFO)
        return
    found = f", though {strays} Markdown file{'s lie' if strays > 1 else ' lies'} elsewhere" if strays else ""
    message = f"no file stands at `wing/room/entry-id.md`{found}"
    help_ = "give the right folder with `--root`, or write an entry with `mdmem new`"
    severity = Severity.ERROR if case.in_ci else None
    yield Finding(CODE, message, Place(SETTINGS_NAME), help_, severity=severity)
