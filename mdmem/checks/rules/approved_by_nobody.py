"""A rule became binding, and none of the wing's owners stands behind it.

Owners answer for what binds in their wing. Whoever `approved_by` names, else `owner`, has to be one of them: the same
text, or the name or the email of git's form, case ignored. A wing without owners has its own finding.

Fails:

    app/README.md             owners: [Till Team <till@example.org>]
    app/rules/use-utc.md      status: active     (and neither `approved_by` nor `owner` names that team)

Fix: let an owner of the wing run `mdmem approve`, or add who approved it to `owners` in the wing's README.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.approvals import activated_by_agents, names_the_same
from mdmem.checks.case import Case
from mdmem.model.entry import Entry, EntryType
from mdmem.model.finding import Finding, Severity

CODE = "approved-by-nobody"
SEVERITY = Severity.WARNING
# What binds others waits for an owner.
APPROVED_TYPES = frozenset({EntryType.INVARIANT, EntryType.DECISION})
_FIELDS = frozenset({"approved_by", "owner"})


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each invariant or decision that became active without an owner of its wing."""
    faulty = {finding.place.path for finding in case.loaded("manifest-invalid")}
    agents = {entry.address for entry, _ in activated_by_agents(case)}
    for _, entry in case.changes.activated():
        owners = case.catalog.wings[entry.wing].owners
        # A manifest that cannot be read may name more of them.
        if not owners or f"{entry.wing}/README.md" in faulty or entry.address in agents:
            continue
        if entry.type in APPROVED_TYPES and not _FIELDS.intersection(entry.unread) and not _is_owned(entry, owners):
            yield _finding(case, entry, owners)


def _is_owned(entry: Entry, owners: tuple[str, ...]) -> bool:
    person = entry.approved_by or entry.owner
    return person is not None and any(names_the_same(person, owner) for owner in owners)


def _finding(case: Case, entry: Entry, owners: tuple[str, ...]) -> Finding:
    named = "approved_by" if entry.approved_by else "owner"
    person = entry.approved_by or entry.owner
    found = f"`{named}` is `{person}`, no owner of `{entry.wing}`" if person else "neither `approved_by` nor `owner`"
    listed = " or ".join(f"`{owner}`" for owner in owners)
    help_ = f"let {listed} run `mdmem approve {entry.address}`"
    message = f"became {entry.status}, and {found}" if person else f"became {entry.status} with {found}"
    return case.on_entry(CODE, entry, message, help_, field=named if person else "status")
