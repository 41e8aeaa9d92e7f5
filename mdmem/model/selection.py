"""Entries that have a value in a field, or are of a type or status."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mdmem.model.entry import Entry, EntryType, Status


def having(entries: Mapping[str, Entry], name: str) -> Sequence[Entry]:
    """Return the entries with something in a field, in their order."""
    return [entry for entry in entries.values() if getattr(entry, name) not in (None, ())]


def of_kind(entries: Mapping[str, Entry], kind: EntryType | Status) -> Iterator[str]:
    """Yield the addresses of the entries of a type or a status, in their order."""
    name = "type" if isinstance(kind, EntryType) else "status"
    return (address for address, entry in entries.items() if getattr(entry, name) is kind)
