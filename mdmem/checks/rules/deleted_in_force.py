"""An entry that was in force is gone.

Who relied on the rule finds neither the rule nor why it ended. A rule ends by its status, and its file stays as
history. An entry of which half of the body stands at a new address in the same change has moved, as git knows a renamed
file; its other words are judged as an edit, and a draft or an ended entry may go.

Fails:

    git rm app/rules/use-utc.md     (status: active in the base)

Fix: bring the file back, and end the entry with `mdmem deprecate` or `mdmem supersede`.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.model.finding import Finding, Place, Severity

CODE = "deleted-in-force"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each entry that bound in the base and is neither here nor moved, at the path it had."""
    if case.base is None:
        return
    # Where a manifest was taken away, the entries are there and count as none.
    orphans = frozenset(case.orphans)
    for entry in case.changes.gone:
        if entry.path not in orphans and case.base.catalog.lineage.is_current(entry.address):
            message = f"the {entry.type} `{entry.address}` was {entry.status} in {case.base.name}, and its file is gone"
            ways = (
                f"`mdmem deprecate {entry.address} --reason TEXT` or "
                f"`mdmem supersede {entry.address} --title TEXT --reason TEXT`"
            )
            help_ = f"bring the file back, then end it with {ways}"
            yield Finding(CODE, message, Place(entry.path), help_, entry.address)
