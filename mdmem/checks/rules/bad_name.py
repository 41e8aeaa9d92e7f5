"""A name is not written as names are.

Names are typed into addresses by people and models, and one way to write them saves the guess: wings are
lowercase_with_underscores, rooms lowercase-with-hyphens, entry-ids lower case too. Letters of every language will do.

Fails:

    MyApp/Business Rules/Use UTC.md

Fix: rename it with `mdmem mv`, here to `my_app/business-rules/use-utc`, which rewrites the links to it, too.
`mdmem check --unsafe-fixes` does it where one answer is likely.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.fixes.links import with_name
from mdmem.checks.paths import at_path, files_and_folders, renaming
from mdmem.model.finding import Finding, Severity
from mdmem.store.catalog.names import is_well_formed, well_formed, why_not_on_windows

CODE = "bad-name"
SEVERITY = Severity.WARNING
_HYPHENS = "lowercase-with-hyphens"
_KINDS = (("wing", "lowercase_with_underscores"), ("room", _HYPHENS), ("entry", _HYPHENS))


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each wing, room and entry, the folders' at the first file below them."""
    for place, path in files_and_folders(case.unusual_paths).items():
        kind, written = _KINDS[place.count("/")]
        name = place.rsplit("/", 1)[-1]
        name = name.removesuffix(".md") if kind == "entry" else name
        # A character that does not show, or that Windows refuses, is a graver finding of its own.
        if is_well_formed(kind, name) or not name.isprintable() or why_not_on_windows(name):
            continue
        better = well_formed(kind, name)
        shown = at_path(CODE, path, f"the {kind} `{name}` is not {written}", renaming(place, path, better))
        yield with_name(shown, case, place, better) if better else shown
