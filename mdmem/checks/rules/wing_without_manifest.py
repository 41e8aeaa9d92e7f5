"""A folder at the repository's top holds what is meant as an entry, and no manifest makes it a wing.

Where the memory is the top of the repository, most folders hold code, so only one with a `README.md` whose front matter
has `kind` is a wing. What lies in another is read by nothing: no retrieval, no link and no check finds it. A file at
`x/y/z.md` with `type` and `status` is meant to be read.

Fails:

    ops/rules/no-root.md      (an invariant, and there is no ops/README.md)

Fix: write `ops/README.md` with `kind: project` and `owners` between two lines of `---`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.paths import at_path
from mdmem.model.finding import Finding, Place, Severity

CODE = "wing-without-manifest"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each manifest that the change took away, and for each entry of other folders."""
    lost = Counter(path.split("/", 1)[0] for path in case.orphans)
    had = {name for name, wing in case.base.catalog.wings.items() if wing.has_manifest} if case.base else set()
    for wing in sorted(lost.keys() & had):
        entries = "1 entry counts" if lost[wing] == 1 else f"{lost[wing]} entries count"
        message = f"the manifest of the wing `{wing}` is gone or has no `kind`, so its {entries} as no memory"
        yield Finding(CODE, message, Place(f"{wing}/README.md"), f"bring `{wing}/README.md` back as it was")
    for path in case.orphans:
        wing = path.split("/", 1)[0]
        if wing not in had:
            message = f"`{wing}` has no manifest, so nothing reads this entry"
            help_ = f"write `{wing}/README.md` with `kind: project` between two lines of `---`"
            yield at_path(CODE, path, message, help_)
