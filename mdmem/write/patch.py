"""Planning a change of fields: the patched bytes of one entry's file, proved to say what was meant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mdmem.errors import LostRaceError
from mdmem.markdown.layout import apply_edits
from mdmem.markdown.patch import set_fields
from mdmem.store.catalog import Catalog
from mdmem.write.change_set import Change

Value = str | Sequence[str] | None


def patched(catalog: Catalog, path: str, values: Mapping[str, Value]) -> Change:
    """Return the change of a file that sets some of its fields; None removes one.

    Raises UnpatchableError, which says what to do by hand, where the change cannot be made byte by byte, and
    LostRaceError where the file is another one than the catalog's entry was read from.
    """
    document = catalog.document(path)
    # An entry may come from the cache, and its file is read only now: what was decided by the one is not for the other.
    if catalog.digests.get(path.removesuffix(".md")) not in (None, catalog.tree.identity(path, document.data)):
        raise LostRaceError(f"`{path}` changed while it was looked at; nothing was written, try again")
    return Change(path, path, document.data, apply_edits(document.data, set_fields(document, values)))


def added(catalog: Catalog, address: str, field: str, link: str) -> tuple[str, ...]:
    """Return the links of a field with one more, as `patched` takes them."""
    links = catalog.entries[address].links(field)
    return links if link in links else (*links, link)
