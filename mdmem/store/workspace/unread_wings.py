"""Which wings may be others than they seem, since a folder or a manifest cannot be read in full."""

from __future__ import annotations

from mdmem.store.catalog import Catalog
from mdmem.store.catalog.addresses import MANIFEST


def is_doubtful(catalog: Catalog, wing: str) -> bool:
    """Say whether a wing's manifest cannot be read in full, so that the wing may be a shared one."""
    return wing in doubtful_wings(catalog) or not {wing, f"{wing}/{MANIFEST}"}.isdisjoint(_unread_paths(catalog))


def _unread_paths(catalog: Catalog) -> frozenset[str]:
    """Return the paths of what stands in the place of a wing, a room or a file of theirs and was not read."""
    faults = (*catalog.closed, *(finding for finding in catalog.findings if finding.code == "unreadable"))
    return frozenset(finding.place.path for finding in faults)


def hidden_wings(catalog: Catalog) -> tuple[str, ...]:
    """Return what may be a wing of any `project_id`: folders and manifests that cannot be read, sorted."""
    unread = {finding.place.path for finding in catalog.findings if finding.code == "unreadable"}
    unclear = {f"{name}/{MANIFEST}" for name in doubtful_wings(catalog) if _may_have_any_id(catalog, name)}
    return tuple(sorted(unclear | {path for path in unread if path.partition("/")[2] in ("", MANIFEST)}))


def _may_have_any_id(catalog: Catalog, name: str) -> bool:
    wing = catalog.wings.get(name)
    return wing is None or (wing.project_id is None and not wing.is_shared)


def doubtful_wings(catalog: Catalog) -> frozenset[str]:
    """Return the wings whose manifests hold a fault."""
    faults = (finding for finding in catalog.findings if finding.code == "manifest-invalid")
    return frozenset(finding.place.path.split("/")[0] for finding in faults)
