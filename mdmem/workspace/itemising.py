"""What a bundle tells of one entry: its reasons, what else it says, and what is doubtful about it."""

from __future__ import annotations

from mdmem.budget import content_of
from mdmem.catalog import Catalog
from mdmem.document.parse import without_code
from mdmem.document.rationale import rationale_span
from mdmem.entry.labels import label_of
from mdmem.entry.model import Entry, Status
from mdmem.retrieval.bundle import BundleItem
from mdmem.retrieval.model import Retrieved


def bundle_item(catalog: Catalog, item: Retrieved, overridden_by: tuple[str, ...]) -> BundleItem:
    """Return an item with what its file says; raises GoneError where the file went away meanwhile."""
    entry = item.entry
    rationale, content = _texts(entry, catalog.body(entry.address))
    return BundleItem(
        id=entry.address,
        label=label_of(entry),
        title=entry.title,
        rationale=rationale,
        tier=item.tier,
        created_at=entry.created_at.isoformat() if entry.created_at else None,
        type=entry.type,
        status=item.status,
        content=content,
        reason=item.reason,
        uncertainty=_uncertainty(catalog, item),
        overrides=item.overrides,
        overridden_by=overridden_by,
        via=item.via,
        stance=item.stance,
        current=item.current,
    )


def _texts(entry: Entry, body: str) -> tuple[str, str]:
    """Return the reasons of an entry, and all else that it says: its body is in one of the two, not in both."""
    start, end = rationale_span(without_code(body))
    # The line that marks the reasons is neither.
    before = body[: body.rfind("\n", 0, start) + 1].strip()
    parts = (before, body[end:].strip())
    return body[start:end].strip(), content_of(entry, "\n\n".join(part for part in parts if part))


def _uncertainty(catalog: Catalog, item: Retrieved) -> str | None:
    entry = item.entry
    if entry.address in catalog.lineage.contradictory:
        return "contradictory: it supersedes what supersedes it"
    if item.status is not Status.UNDER_REVIEW:
        return None
    doubt = "under review" if entry.status is Status.UNDER_REVIEW else f"expired on {entry.expires_at}"
    return f"{doubt}: confirm before relying on it"
