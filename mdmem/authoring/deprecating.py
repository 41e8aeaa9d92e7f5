"""Ending an entry that nothing replaces."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from mdmem.authoring.citing import cited_by, listed
from mdmem.authoring.intent import Intent
from mdmem.authoring.message import Deed, Verb
from mdmem.authoring.patching import patched
from mdmem.authoring.plan import Plan
from mdmem.authoring.replacing import drafts_for
from mdmem.catalog import Catalog
from mdmem.entry.model import Entry, Status
from mdmem.errors import UsageError


def deprecate(catalog: Catalog, address: str, *, reason: str, today: date) -> Intent:
    """Return what ends an entry with a reason; raises UsageError for one that ended already and for no reason."""
    entry = catalog.entries[address]
    if not reason.strip():
        raise UsageError("say why the entry ends: --reason TEXT")
    if entry.status is Status.DEPRECATED:
        raise UsageError(f"{address} has ended already; `mdmem why {address}` says how")
    if heads := [head for head in catalog.lineage.heads(address) if head != address]:
        raise UsageError(f"{address} is superseded by {listed(heads)}; `mdmem check --fix` writes what is missing")
    values = {
        "status": Status.DEPRECATED.value,
        "deprecated_at": today.isoformat(),
        "deprecated_reason": reason.strip(),
    }
    plan = Plan((patched(catalog, entry.path, values),))
    remarks = tuple(_remarks(catalog, entry))
    return Intent(plan=plan, deeds=(Deed(Verb.DEPRECATE, address),), reason=reason.strip(), remarks=remarks)


def _remarks(catalog: Catalog, entry: Entry) -> Iterator[str]:
    if entry.status is Status.DRAFT and entry.supersedes:
        yield f"{listed(entry.supersedes)} stays as it is"
    if before := catalog.lineage.predecessors.get(entry.address):
        yield f"nothing holds in the place of {listed(before)} any more"
    if drafts := drafts_for(catalog, entry.address):
        yield f"{listed(drafts)} would have superseded it, and can still be approved"
    if citing := cited_by(catalog, entry.address):
        yield f"{entry.address} is still cited by {listed(citing)}"
