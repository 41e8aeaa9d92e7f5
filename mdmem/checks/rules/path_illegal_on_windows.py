"""No Windows checkout can hold this name.

One such file keeps everybody on Windows from checking out the repository at all: names of devices (`con`, `aux`,
`nul`), `:`, `?`, `*` and their like, a dot or a blank at the end, and names that are no UTF-8.

Fails:

    app/rules/aux.md
    app/rules/when: now.md

Fix: rename an entry, a room or a wing with `mdmem mv`, which rewrites the links to it, another file with `git mv`.
`mdmem check --unsafe-fixes` does it where one answer is likely.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.fixes.links import with_name
from mdmem.checks.paths import at_path, files_and_folders, renaming
from mdmem.model.entry import visible
from mdmem.model.finding import Finding, Severity
from mdmem.store.catalog import is_entry_place
from mdmem.store.catalog.names import well_formed, why_not_on_windows

CODE = "path-illegal-on-windows"
SEVERITY = Severity.ERROR
_KINDS = {0: "wing", 1: "room", 2: "entry"}


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each file and folder with such a name, at the first file below it."""
    # Below a folder with such a name no path is usual.
    for place, path in files_and_folders((*case.unusual_paths, *(file.path for file in case.others))).items():
        why = why_not_on_windows(place.rsplit("/", 1)[-1])
        if why:
            message = f"`{visible(place)}` {why}, which Windows does not allow"
            better = _better(place, path)
            shown = at_path(CODE, path, message, renaming(place, path, better))
            yield with_name(shown, case, place, better) if better else shown


def _better(place: str, path: str) -> str | None:
    """Return the name that entries, rooms and wings should have, where Windows allows that one."""
    kind = _KINDS.get(place.count("/"))
    if kind is None or not is_entry_place(path):
        return None
    better = well_formed(kind, place.rsplit("/", 1)[-1].removesuffix(".md"))
    return better if better and not why_not_on_windows(better) else None
