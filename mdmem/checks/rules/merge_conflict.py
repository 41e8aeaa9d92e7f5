"""git cannot merge a file of the memory.

The merge would stop, or leave both sides in one file. Who resolves it decides what binds; that belongs in the branch,
where it is reviewed, and not in a hurry at the merge. Two successors and two entries at one address have their own
findings.

Fails:

    ours:      Sessions end after 10 minutes.
    theirs:    Sessions end after 60 minutes.     (in the same line of app/rules/sessions.md)

Fix: merge the other branch into yours, resolve the file, and run the check again.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.paths import at_path
from mdmem.model.finding import Finding, Severity

CODE = "merge-conflict"
SEVERITY = Severity.ERROR
_STORIES = {
    "content": "both sides change the same lines",
    "contents": "both sides change the same lines",
    "add/add": "both sides add it with different content",
    "modify/delete": "one side changes it, the other deletes it",
    "rename/delete": "one side moves it, the other deletes it",
    "rename/rename": "the sides move it to different places",
    "rename/add": "one side moves a file here, the other adds one",
    "file/directory": "it is a file on one side and a folder on the other",
    "distinct types": "it is a file on one side and a link or submodule on the other",
}


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each path that git cannot merge and no finding of its own explains."""
    if case.merge is None:
        return
    explained = {f"{address}.md" for address in (*case.merge.forked(), *case.merge.collided())}
    kinds: dict[str, set[str]] = {}
    for conflict in case.merge.conflicts:
        kinds.setdefault(conflict.path, set()).add(conflict.kind)
    for path in sorted(kinds.keys() - explained):
        stories = " and ".join(sorted(_STORIES.get(kind, f"git reports `{kind}`") for kind in kinds[path]))
        message = f"cannot be merged into {case.merge.theirs.name}: {stories}"
        help_ = f"merge {case.merge.theirs.name} into {case.merge.ours.name}, resolve the file, then check again"
        yield at_path(CODE, path, message, help_)
