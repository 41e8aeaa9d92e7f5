"""Every entry of a tree, and what was wrong while loading."""

from mdmem.catalog.links import full_address, is_entry_place, is_misplaced, is_prose
from mdmem.catalog.loading import load, load_cached, settings_bytes
from mdmem.catalog.model import Catalog
from mdmem.catalog.parsed import Parsed
from mdmem.catalog.patched import with_other_entries
from mdmem.catalog.reading import Loaded, interpret

__all__ = [
    "Catalog",
    "Loaded",
    "Parsed",
    "full_address",
    "interpret",
    "is_entry_place",
    "is_misplaced",
    "is_prose",
    "load",
    "load_cached",
    "settings_bytes",
    "with_other_entries",
]
