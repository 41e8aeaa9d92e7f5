"""Git ignores the file.

Here the rule is found and links to it hold; for everybody else it does not exist, and what cites it dangles.

Fails:

    app/rules/use-utc.md    (.gitignore: *-utc.md)

Fix: take the pattern out of `.gitignore`, or `git add -f` the file; `git check-ignore -v FILE` names the pattern.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.paths import at_path, is_expected
from mdmem.model.finding import Finding, Severity

CODE = "ignored-by-git"
SEVERITY = Severity.WARNING


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each ignored entry or manifest, and only one for a wing that is ignored whole."""
    if case.facts is None or not case.facts.ignored:
        return
    others = (file.path for file in case.catalog.others if is_expected(file.path))
    read = [*(file.path for file in case.catalog.files), *others]
    ignored = [path for path in read if path in case.facts.ignored and path not in case.facts.tracked]
    shared = {_folder(path) for path in set(read).difference(ignored)} | {""}
    told: set[str] = set()
    for path in ignored:
        wing = _folder(path)
        if wing in shared:
            yield at_path(CODE, path, "git ignores the file, so it exists only here", f"type `git add -f {path}`")
        elif wing not in told:
            told.add(wing)
            message = f"git ignores all of `{wing}`, so it exists only here"
            yield at_path(CODE, path, message, "take the pattern out of `.gitignore`")


def _folder(path: str) -> str:
    return path.split("/")[0] if "/" in path else ""
