"""A glob of `applies_to` matches no file that git tracks.

The code moved or was never there, so the rule is not shown to whoever edits that code. Globs count from the top of the
repository: `*` stays in a folder, `**` crosses, a plain path covers what is below it. Ended entries are left alone.

Fails:

    applies_to: ["src/nav/**"]     (the folder is `src/navigation`)

Fix: write a glob that matches; `git ls-files ':(top,glob)src/nav/**'` lists what one covers. Where the glob was counted
from a folder above the memory, or one folder or file of it is one letter away from the only such name there is,
`mdmem check --unsafe-fixes` writes that.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.fixes.base import is_slip, with_choice
from mdmem.checks.paths import MAGIC, TrackedPaths
from mdmem.markdown.patch import replace_item
from mdmem.model.entry import Entry, Status
from mdmem.model.finding import Finding, Severity

CODE = "applies-to-nothing"
SEVERITY = Severity.WARNING


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each glob of an entry that is not deprecated which covers no tracked file."""
    stated = [one for one in case.catalog.entries.values() if one.applies_to and one.status is not Status.DEPRECATED]
    if not stated or case.facts is None or not case.facts.tracked_in_repository:
        return
    tracked = TrackedPaths(case.facts)
    known: dict[str, bool] = {}
    for entry in stated:
        for item, glob in enumerate(entry.applies_to):
            if glob not in known:
                known[glob] = tracked.has_match(glob)
            if not known[glob]:
                yield _finding(case, entry, item, tracked)


def _finding(case: Case, entry: Entry, item: int, tracked: TrackedPaths) -> Finding:
    glob = entry.applies_to[item]
    meant = _from_top(glob, tracked) or _nearest(glob, tracked)
    message = f"`{glob}` matches no tracked file"
    wanted = f"write `{meant}`" if meant else f"write a glob that `git ls-files ':(top,glob){glob}'` lists files for"
    help_ = f"{wanted}; globs count from the repository's top"
    shown = case.on_entry(CODE, entry, message, help_, field="applies_to", item=item)
    document = case.catalog.document(entry.path)
    if meant is None:
        return shown
    return with_choice(shown, f"Write `{meant}`", replace_item, document, "applies_to", item, meant)


def _from_top(glob: str, tracked: TrackedPaths) -> str | None:
    """Return a glob that was counted from a folder above the memory as it is counted from the top."""
    folders = tracked.prefix.rstrip("/").split("/")
    tried = ("/".join([*folders[:depth], glob]) for depth in range(len(folders) - 1, 0, -1))
    return next((one for one in tried if tracked.has_match(one)), None)


def _nearest(glob: str, tracked: TrackedPaths) -> str | None:
    """Return the glob with the first name in it that is not there corrected, where one name alone is a letter away."""
    parts = glob.split("/")
    for depth, part in enumerate(parts):
        names = tracked.names_in("/".join(parts[:depth]))
        if part in names:
            continue
        close = [name for name in names if len(part) > 2 and not MAGIC.search(part) and is_slip(part, name)]
        found = "/".join([*parts[:depth], *close, *parts[depth + 1 :]])
        return found if len(close) == 1 and tracked.has_match(found) else None
    return None
