"""Ending an entry that nothing replaces."""

from __future__ import annotations

from datetime import date

from mdmem.authoring.intent import Intent
from mdmem.authoring.message import Deed, Verb
from mdmem.authoring.patching import patched
from mdmem.authoring.plan import Plan
from mdmem.catalog import Catalog
from mdmem.entry.model import Status
from mdmem.errors import UsageError


def deprecate(catalog: Catalog, address: str, *, reason: str, today: date) -> Intent:
    """Return what ends an entry with a reason; raises UsageError for one that ended already and for no reason."""
    entry = catalog.entries[address]
    if not reason.strip():
        raise UsageError("say why the entry ends: --reason TEXT")
    if entry.status is Status.DEPRECATED:
        raise UsageError(f"{address} has ended already; `mdmem why {address}` says how")
    values = {
        "status": Status.DEPRECATED.value,
        "deprecated_at": today.isoformat(),
        "deprecated_reason": reason.strip(),
    }
    plan = Plan((patched(catalog, entry.path, values),))
    return Intent(plan=plan, deeds=(Deed(Verb.DEPRECATE, address),), reason=reason.strip())
