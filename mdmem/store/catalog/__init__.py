"""Every entry of a tree, and what was wrong while loading."""

from mdmem.store.catalog.addresses import full_address, is_entry_place, is_misplaced, is_prose
from mdmem.store.catalog.load import load, settings_bytes
from mdmem.store.catalog.model import Catalog
from mdmem.store.catalog.snapshot import EntryCache, LoadedFile, interpret

__all__ = [
    "Catalog",
    "EntryCache",
    "LoadedFile",
    "full_address",
    "interpret",
    "is_entry_place",
    "is_misplaced",
    "is_prose",
    "load",
    "settings_bytes",
]
