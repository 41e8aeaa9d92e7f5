"""An entry overrides a shared rule and does not say why.

The next reader cannot tell a considered exception from a rule nobody knew, and when the shared rule changes nobody
knows whether the exception still holds. `reason` counts, and so does a body that gives one, for instance after
`Rationale:`.

Fails:

    overrides: ros2/architecture/single-threaded-executor-default

    The navigation node uses a MultiThreadedExecutor.

Fix: add `reason:` with what is different here.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.model.finding import Finding, Severity

CODE = "override-without-reason"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each entry that overrides and gives no reason."""
    for entry in case.catalog.entries.values():
        if entry.overrides and not case.gives_reason(entry):
            message = f"nothing says why it overrides `{entry.overrides[0]}`"
            yield case.on_entry(CODE, entry, message, "add `reason:` with what is different here", field="overrides")
