"""A link leads to an entry that is on disk here and not in git.

Here it works; for everybody else it leads nowhere, since the file was never added or git ignores it. Links among files
of which none is in git yet are not reported: they come with one commit. What is not added yet is a warning, what git
ignores an error: `git add` passes it over.

Fails:

    see: [app/rules/new]     (app/rules/new.md is there, but `git status` lists it as untracked)

Fix: `git add` the file in the same commit.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.paths import TrackedPaths
from mdmem.model.finding import Finding, Place, Severity

CODE = "link-not-tracked"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each link from a file in git to one that is only on disk."""
    if case.facts is None or not case.untracked:
        return
    tracked = TrackedPaths(case.facts)
    for link in case.distinct_links:
        if link.target not in case.untracked or link.entry.address in case.untracked:
            continue
        path = f"{link.target}.md"
        ignored = path in case.facts.ignored
        message = f"`{link.field}` names `{link.target}`, which {'git ignores' if ignored else 'is not in git'}"
        add = shlex.quote(f"{tracked.prefix}{path}")
        help_ = f"run `git add {'--force ' if ignored else ''}{add}` at the repository's top"
        place = case.catalog.place(link.entry.address, link.field, link.item)
        weight = None if ignored or case.in_ci else Severity.WARNING
        yield Finding(CODE, message, place, help_, link.entry.address, other=Place(path), severity=weight)
