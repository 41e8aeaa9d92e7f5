"""A manifest names a project's wing among its shared wings.

Only shared wings are read by other projects; what a project decides for itself binds nobody else. The name is not read,
and the rules that were expected from it are missing.

Fails:

    shop/README.md       shared_wings: [billing]
    billing/README.md    kind: project

Fix: remove the name, or write `kind: shared` in the other wing's README.md if its rules are meant for all.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.model.finding import Finding, Severity

CODE = "shared-wing-is-project"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each name in `shared_wings` that is a project's wing, at its item."""
    wings = case.catalog.wings
    for wing in wings.values():
        for item, name in enumerate(wing.shared_wings or ()):
            if name not in wings or wings[name].is_shared:
                continue
            message = (
                "a wing does not share itself"
                if name == wing.name
                else f"`{name}` is a project's wing, not a shared one"
            )
            help_ = (
                f"remove `{name}`"
                if name == wing.name
                else f"remove it, or write `kind: shared` in the README.md of `{name}`"
            )
            yield Finding(
                CODE, message, case.catalog.document(f"{wing.name}/README.md").place("shared_wings", item), help_
            )
