"""Entries with what their files state and how they stand, of the files or of what answers in their place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mdmem.catalog import Catalog
from mdmem.entry.model import Entry
from mdmem.standing import Stance
from mdmem.workspace.proposals import view_of
from mdmem.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One entry as its file states it, and how it stands in its chain."""

    entry: Entry
    front_matter: Mapping[str, Any]
    body: str
    current: bool
    heads: tuple[str, ...]
    stance: Stance | None = None


def catalog_of(workspace: Workspace, entry: Entry) -> Catalog:
    """Return the catalog that an entry was listed from: the files', else that of the default branch's versions."""
    files, answers = view_of(workspace).files.catalog, view_of(workspace).answers.catalog
    return files if files.entries.get(entry.address) is entry else answers


def in_full(workspace: Workspace, entries: Sequence[Entry]) -> tuple[Shown, ...]:
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
