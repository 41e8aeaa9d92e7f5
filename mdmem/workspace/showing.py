"""Entries with what their files state and how they stand, of the files or of what answers in their place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mdmem.catalog import Catalog
from mdmem.entry.model import Entry
from mdmem.workspace.model import Shown
from mdmem.workspace.opened import Opened
from mdmem.workspace.proposals import view_of


def catalog_of(workspace: Opened, entry: Entry) -> Catalog:
    """Return the catalog that an entry was listed from: the files', else that of the default branch's versions."""
    files, answers = view_of(workspace).files.catalog, view_of(workspace).answers.catalog
    return files if files.entries.get(entry.address) is entry else answers


def shown_of(workspace: Opened, entries: Sequence[Entry]) -> tuple[Shown, ...]:
    """Return entries of two catalogs in the order asked, each read with the others of its own."""
    by_catalog: dict[int, tuple[Catalog, list[Entry]]] = {}
    for entry in entries:
        catalog = catalog_of(workspace, entry)
        by_catalog.setdefault(id(catalog), (catalog, []))[1].append(entry)
    found = {one.entry.address: one for catalog, some in by_catalog.values() for one in shown_in(catalog, some)}
    return tuple(found[entry.address] for entry in entries)


def shown_in(catalog: Catalog, entries: Sequence[Entry]) -> tuple[Shown, ...]:
    """Return entries of one catalog, in the order asked."""
    return tuple(_shown(catalog, entries))


def _shown(catalog: Catalog, entries: Sequence[Entry]) -> Iterator[Shown]:
    for address, document in catalog.documents([entry.address for entry in entries]):
        yield Shown(
            entry=catalog.entries[address],
            front_matter=catalog.shown_fields(document),
            body=catalog.shown_body(document),
            current=catalog.lineage.is_current(address),
            heads=catalog.lineage.heads(address),
            stance=catalog.stance(address),
        )
