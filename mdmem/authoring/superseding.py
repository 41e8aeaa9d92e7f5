"""Putting one entry in the place of another: both ends at once, or the newer end alone while that one is a draft."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date

from mdmem.authoring.citing import listed
from mdmem.authoring.intent import Intent
from mdmem.authoring.message import Deed, Verb
from mdmem.authoring.patching import Value, patched
from mdmem.authoring.plan import Change, Plan
from mdmem.authoring.replacing import ended, refuse_unfit, remarks_on_end
from mdmem.catalog import Catalog, full_address
from mdmem.checks.case import written_links
from mdmem.checks.fixing import fields_of
from mdmem.document.parse import Document
from mdmem.entry.model import Entry, Status
from mdmem.errors import UsageError


def supersede(catalog: Catalog, address: str, *, by: str, reason: str, today: date) -> Intent:
    """Return what puts one entry in the place of another.

    A draft takes the place only when it is approved. Raises LostRaceError where a third entry supersedes the older
    one already, and UsageError where the newer one cannot.
    """
    old, new, why = catalog.entries[address], catalog.entries[by], stated(reason)
    instead = f"nothing was written: `mdmem supersede {{head}} --by {by} --reason TEXT` replaces that one"
    refuse_unfit(catalog, old, new, instead=instead)
    document = catalog.document(new.path)
    values: dict[str, Value] = {"supersedes": links_with(catalog, document, address)}
    if not fields_of(document).get("reason"):
        values["reason"] = why
    intent = superseding(catalog, [old], new, change=patched(catalog, new.path, values), reason=why, today=today)
    return replace(intent, remarks=(*_remarks(catalog, old, new, why), *intent.remarks))


def _remarks(catalog: Catalog, old: Entry, new: Entry, reason: str) -> Iterator[str]:
    """Yield what is left of the newer entry's front matter that people may not expect."""
    given = fields_of(catalog.document(new.path)).get("reason")
    if given and given != reason:
        yield f"{new.address} keeps the reason that it gives: {new.reason or 'one that cannot be read'}"
    kept = links_with(catalog, catalog.document(new.path), old.address)
    if passed := [link for link in written_links(catalog.document(new.path), "supersedes") if link not in kept]:
        yield f"{new.address} no longer names {listed(passed)}, which {old.address} replaced"


def superseding(
    catalog: Catalog, olds: Sequence[Entry], new: Entry, *, change: Change, reason: str, today: date
) -> Intent:
    """Return a whole supersession, given the change of the newer entry's file; a draft ends nothing."""
    if new.status is Status.DRAFT:
        deed = Deed(Verb.ADD if change.before is None else Verb.UPDATE, new.address)
        until = (f"{old.address} stays as it is until `mdmem approve {new.address}`" for old in olds)
        return Intent(plan=Plan((change,)), deeds=(deed,), reason=reason, remarks=tuple(until))
    # The newer file comes first: where writing ends between the two, the claim is there and `check --fix` follows it.
    return Intent(
        plan=Plan((change, *(ended(catalog, old, new.address, today=today) for old in olds))),
        deeds=tuple(Deed(Verb.SUPERSEDE, old.address, new.address) for old in olds),
        supersedes=tuple(old.address for old in olds),
        reason=reason,
        remarks=tuple(remark for old in olds for remark in remarks_on_end(catalog, old, new)),
    )


def stated(reason: str) -> str:
    """Return a reason on one line; raises UsageError for none."""
    if not reason.strip():
        raise UsageError("say why it is superseded: --reason TEXT")
    return " ".join(reason.split())


def links_with(catalog: Catalog, document: Document, old: str) -> list[str]:
    """Return what a newer entry supersedes with one more, as its file writes them.

    What the older one has superseded in turn is left out, unless the newer one took its place, too: a draft that
    another entry forestalled gets in line behind that.
    """
    near = document.path.removesuffix(".md")
    passed = {one for one in catalog.lineage.ancestors(old) if near not in catalog.entries[one].superseded_by}
    meant = {link: full_address(link, near, catalog.addresses) for link in written_links(document, "supersedes")}
    kept = [link for link, address in meant.items() if address not in passed]
    return kept if old in meant.values() else [*kept, old]
