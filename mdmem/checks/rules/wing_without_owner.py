"""A wing names nobody who answers for it.

Owners approve what becomes binding in their wing. Without one, nobody answers for a rule, and an agent's draft has no
one to ask.

Fails:

    ---
    kind: shared
    ---

Fix: add `owners: [team or name <email>]` to the README.md of the wing.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.model.finding import Finding, Place, Severity

CODE = "wing-without-owner"
SEVERITY = Severity.WARNING


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each wing without owners, at its manifest, or at its first file where it has none."""
    faulty = {finding.place.path for finding in case.loaded("manifest-invalid")}
    for name, wing in case.catalog.wings.items():
        manifest = f"{name}/README.md"
        # A manifest that cannot be read may well name them.
        if wing.owners or manifest in faulty:
            continue
        if wing.has_manifest:
            yield Finding(
                CODE, f"the wing `{name}` has no owner", Place(manifest), "add `owners:` with a team or a person"
            )
        else:
            first = next(file.path for file in case.catalog.files if file.path.startswith(f"{name}/"))
            keys = "`kind: project` or `kind: shared`, and `owners: [NAME]`"
            help_ = f"put a README.md into the wing's folder, with {keys} between two lines of `---`"
            yield Finding(CODE, f"the wing `{name}` has no manifest, and so no owner", Place(first), help_)
