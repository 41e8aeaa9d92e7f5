"""Every entry of a tree, and what was wrong while loading."""

from mdmem.catalog.addresses import full_address, is_entry_place, is_misplaced, is_prose
from mdmem.catalog.interpret import LoadedFile, interpret
from mdmem.catalog.load import load, load_cached, part_of, settings_bytes
from mdmem.catalog.model import Catalog
from mdmem.catalog.snapshot import EntryCache

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
    "load_cached",
    "part_of",
    "settings_bytes",
]
