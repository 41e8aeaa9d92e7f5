"""A check failed, which is a fault of mdmem itself, so nobody looked for what it finds.

The other checks go on, the run counts as incomplete, and nothing switches this off: a crash must not look like a clean
file.

Fails:

    mdmem check     (the check `body-empty` failed: KeyError: 'app/rules/use-utc')

Fix: run `mdmem check --ignore CODE` to go on without the check, and report what `MDMEM_DEBUG=1 mdmem check` prints.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator

from mdmem.checks.case import Case, Link
from mdmem.markdown.parse import Document
from mdmem.model.entry import Entry, visible
from mdmem.model.finding import Finding, Place, Severity
from mdmem.store.tree import SETTINGS_NAME, TreeFile

CODE = "check-crashed"
SEVERITY = Severity.ERROR
_SHOWN = 200


def find(case: Case) -> Iterator[Finding]:
    """Yield what was added to the case; the engine reports a crash where it happens."""
    yield from case.loaded(CODE)


def crash_of(code: str, error: Exception, case: Case) -> Finding:
    """Return the finding for a check that raised, at the file it looked at where that can be told."""
    said = visible(" ".join(str(error).split())[:_SHOWN])
    message = f"the check `{code}` failed: {type(error).__name__}{': ' if said else ''}{said}"
    path = _looked_at(error, case)
    help_ = f"run it again with `--ignore {code}` to go on without it; `MDMEM_DEBUG=1` shows where it failed"
    return Finding(CODE, message, Place(path or SETTINGS_NAME), help_, _address(path, case), quotable=False)


def _looked_at(error: Exception, case: Case) -> str | None:
    """Return the file that the innermost function with one in hand was looking at."""
    paths = {file.path for file in (*case.catalog.files, *case.catalog.others)}
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    held = (value for frame in reversed(frames) for value in frame.f_locals.values())
    named = (path for value in held for path in (_path_of(value), f"{_path_of(value)}.md"))
    return next((path for path in named if path in paths), None)


def _path_of(value: object) -> str:
    if isinstance(value, Link):
        return value.entry.path
    if isinstance(value, (Entry, Document, TreeFile)):
        return value.path
    return value if isinstance(value, str) else ""


def _address(path: str | None, case: Case) -> str | None:
    address = (path or "").removesuffix(".md")
    return address if address in case.catalog.addresses else None
