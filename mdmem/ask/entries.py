"""Entries with what their files state and how they stand, of the files or of what answers in their place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from mdmem.ask.problems import problems_in
from mdmem.ask.search import is_shown, passes
from mdmem.model.entry import Entry, Status
from mdmem.model.finding import Finding
from mdmem.model.lineage import Stance
from mdmem.store.catalog import Catalog
from mdmem.store.workspace.addresses import resolve_name, resolve_names
from mdmem.store.workspace.proposals import view_of
from mdmem.store.workspace.scope import Filters, reading_scope
from mdmem.store.workspace.workspace import Workspace


class ShownEntry(Struct, frozen=True, kw_only=True):
    """One entry as its file states it, and how it stands in its chain."""

    entry: Entry
    front_matter: Mapping[str, Any]
    body: str
    current: bool
    heads: tuple[str, ...]
    stance: Stance | None = None
    claimed_by: tuple[str, ...] = ()
    amended_by: tuple[str, ...] = ()


def catalog_of(workspace: Workspace, entry: Entry) -> Catalog:
    """Return the catalog that an entry was listed from: the files', else that of the default branch's versions."""
    files, answers = view_of(workspace).checkout.catalog, view_of(workspace).effective.catalog
    return files if files.entries.get(entry.address) is entry else answers


def in_full(workspace: Workspace, entries: Sequence[Entry]) -> tuple[ShownEntry, ...]:
    """Return entries of two catalogs in the order asked, each read with the others of its own."""
    by_catalog: dict[int, tuple[Catalog, list[Entry]]] = {}
    for entry in entries:
        catalog = catalog_of(workspace, entry)
        by_catalog.setdefault(id(catalog), (catalog, []))[1].append(entry)
    found = {one.entry.address: one for catalog, some in by_catalog.values() for one in shown_in(catalog, some)}
    return tuple(found[entry.address] for entry in entries)


def shown_in(catalog: Catalog, entries: Sequence[Entry]) -> tuple[ShownEntry, ...]:
    """Return entries of one catalog, in the order asked."""
    return tuple(_shown(catalog, entries))


def _shown(catalog: Catalog, entries: Sequence[Entry]) -> Iterator[ShownEntry]:
    for address, document in catalog.documents([entry.address for entry in entries]):
        yield ShownEntry(
            entry=catalog.entries[address],
            front_matter=catalog.shown_fields(document),
            body=catalog.shown_body(document),
            current=catalog.lineage.is_current(address),
            heads=catalog.lineage.heads(address),
            stance=catalog.stance(address),
            claimed_by=catalog.lineage.claimed_by(address),
            amended_by=catalog.amendments.of(address),
        )


def list_entries(workspace: Workspace, filters: Filters) -> tuple[Entry, ...]:
    """Return the entries that pass the filters, by address: as the files state them, else the default branch."""
    view = view_of(workspace)
    shown = {entry.address: entry for entry in _listed(view.effective, filters)}
    if view.checkout is not view.effective:
        hidden = (view.checkout.catalog.entries.keys() - view.effective.catalog.entries.keys()) | view.overridden
        read = {entry.address: entry for entry in _listed(view.checkout, filters)}
        shown |= {
            address: one for address, one in read.items() if address in view.alternatives or address not in hidden
        }
    return tuple(shown[address] for address in sorted(shown))


def _listed(workspace: Workspace, filters: Filters) -> Iterator[Entry]:
    catalog = workspace.catalog
    scope = reading_scope(catalog, workspace.settings, filters)
    for entry in catalog.entries.values():
        if (
            scope.holds(entry.address)
            and passes(entry, filters, workspace.today)
            and (
                is_shown(catalog.lineage, entry.address, filters, is_draft=entry.status is Status.DRAFT)
                or catalog.is_merged(entry.address)
            )
        ):
            yield entry


def list_problems(workspace: Workspace, filters: Filters) -> tuple[Finding, ...]:
    """Return one finding for each file in the wings and rooms of the filters that cannot be read in full."""
    return problems_in(workspace.catalog, reading_scope(workspace.catalog, workspace.settings, filters))


def count_hidden(workspace: Workspace, filters: Filters, listed: Sequence[Entry]) -> Mapping[str, int]:
    """Return how many drafts and ended entries pass the filters and are not among those listed under them.

    One that would take the place of what is listed under its address is another entry.
    """
    shown = {entry.address: entry for entry in listed}
    everything = list_entries(workspace, replace(filters, include_drafts=True, include_deprecated=True))
    hidden = [entry for entry in everything if shown.get(entry.address) is not entry]
    drafts = sum(entry.status is Status.DRAFT for entry in hidden)
    return {"draft": drafts, "ended": len(hidden) - drafts}


def show(workspace: Workspace, names: Sequence[str]) -> tuple[ShownEntry, ...]:
    """Return the entries that names mean; raises NotFoundError and UsageError."""
    return shown(workspace, resolve_names(workspace, names))


def show_one(workspace: Workspace, name: str) -> ShownEntry:
    """Return the one entry that a name means; raises NotFoundError, and UsageError where it means several."""
    return shown(workspace, [resolve_name(workspace, name)])[0]


def shown(workspace: Workspace, addresses: Sequence[str]) -> tuple[ShownEntry, ...]:
    """Return entries with what their files state."""
    catalog = view_of(workspace).checkout.catalog
    return shown_in(catalog, [catalog.entries[address] for address in addresses])


def digests_of(workspace: Workspace, shown: Sequence[ShownEntry]) -> dict[str, str]:
    """Return what to know entries by that were shown whole, by address."""
    digests = view_of(workspace).checkout.catalog.digests
    return {one.entry.address: digests[one.entry.address] for one in shown}


def stance_of(workspace: Workspace, entry: Entry) -> Stance | None:
    """Return how an entry that was listed stands to the default branch, None where that is not known."""
    return catalog_of(workspace, entry).stance(entry.address)
