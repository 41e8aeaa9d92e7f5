"""Doubting an entry that holds, and ending the doubt."""

from __future__ import annotations

from datetime import date

from mdmem.authoring.intent import Intent
from mdmem.authoring.message import Deed, Verb
from mdmem.authoring.patching import Value, patched
from mdmem.authoring.plan import Plan
from mdmem.authoring.verifying import REVIEW_REASON, confirm, refuse_not_in_force
from mdmem.catalog import Catalog
from mdmem.checks.fixing import fields_of
from mdmem.entry.model import Status
from mdmem.errors import UsageError

_UNTIL = "until `mdmem review {0} --done` confirms it, or `mdmem supersede` or `mdmem deprecate` ends it"


def review(catalog: Catalog, address: str, *, reason: str) -> Intent:
    """Return what puts an entry under review, with the doubt beside it; it binds until the review has ended.

    The doubt is kept under a key of its own: `reason` says why the entry supersedes another, and stays. Raises
    UsageError for an entry that does not hold, for no reason, and for one that is doubted for another reason.
    """
    entry, why = catalog.entries[address], " ".join(reason.split())
    if not why:
        raise UsageError("say what is in doubt: --reason TEXT")
    refuse_not_in_force(catalog, address)
    doubt = fields_of(catalog.document(entry.path)).get(REVIEW_REASON)
    if entry.status is Status.UNDER_REVIEW and doubt not in (None, why):
        how = f"`mdmem review {address} --done` ends that"
        raise UsageError(f"{address} is under review already: {doubt}; {how}")
    values: dict[str, Value] = {"status": Status.UNDER_REVIEW.value, REVIEW_REASON: why}
    return Intent(
        plan=Plan((patched(catalog, entry.path, values),)),
        deeds=(Deed(Verb.REVIEW, address),),
        reason=why,
        remarks=(f"{address} binds on, shown as uncertain, {_UNTIL.format(address)}",),
    )


def end_review(catalog: Catalog, address: str, *, today: date) -> Intent:
    """Return what confirms an entry that is under review; raises UsageError for one that is not."""
    if catalog.entries[address].status is not Status.UNDER_REVIEW:
        raise UsageError(f"{address} is not under review: it is {catalog.entries[address].status}")
    return confirm(catalog, [address], at=today)
