"""An entry changed its type.

The type is the entry's authority: an invariant that becomes a note no longer binds, a note that becomes an invariant
was never approved as one, and the history of both reads as if they had always been so.

Fails:

    base:    type: invariant
    now:     type: note

Fix: write the old type again, and a new entry of the other type that supersedes this one, with `mdmem supersede`.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.model.finding import Finding, Severity

CODE = "type-changed"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each entry of another type than before, at its type."""
    for one in case.changes.changed:
        was, now = one.before.type, one.after.type
        if was is not now:
            put = f"`mdmem supersede {one.after.address} --type {now} --title TEXT --reason TEXT`"
            help_ = f"write `type: {was}` again; {put} replaces it by a new {now} if that is what it became"
            yield case.on_entry(CODE, one.after, f"the type was `{was}` and is `{now}`", help_, field="type")
