"""Who refers to an entry: what a reader follows to it while it holds, and to nothing after it ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mdmem.markdown.parse import without_code
from mdmem.model.entry import LINK_FIELDS
from mdmem.store.catalog import Catalog
from mdmem.store.catalog.links import references_in

_CITING = tuple(name for name in LINK_FIELDS if name not in ("supersedes", "superseded_by", "produced"))
_SHOWN = 5


def cited_by(catalog: Catalog, address: str, *, but: str = "") -> tuple[str, ...]:
    """Return the current entries that name an entry in a link or in their text, sorted; supersession is no citation."""
    left_out = {address, but}
    current = [one for one in catalog.entries if one not in left_out and catalog.lineage.is_current(one)]
    in_fields = {one for one in current if any(address in catalog.entries[one].links(name) for name in _CITING)}
    return tuple(
        sorted(in_fields.union(_in_bodies(catalog, address, [one for one in current if one not in in_fields])))
    )


def _in_bodies(catalog: Catalog, address: str, among: Sequence[str]) -> Iterator[str]:
    entry_id = address.rsplit("/", 1)[-1]
    for other, body in catalog.plain_bodies(among):
        # Looking for the name first leaves nearly every body unparsed.
        if entry_id in body:
            found = references_in({other: without_code(body)}, catalog.addresses)
            if any(reference.target == address for reference in found):
                yield other


def listed(addresses: Sequence[str]) -> str:
    """Return addresses as part of a sentence, the first five of many."""
    shown, more = addresses[:_SHOWN], len(addresses) - _SHOWN
    last = f"{more} more" if more > 0 else shown[-1]
    first = shown if more > 0 else shown[:-1]
    return f"{', '.join(first)} and {last}" if first else last
