"""A catalog as it is after some entries' files were edited: what they mean is told anew, all else stays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mdmem.catalog.addresses import is_entry_place, with_full_links
from mdmem.catalog.entries import entries_like
from mdmem.catalog.interpret import interpret
from mdmem.catalog.model import Catalog
from mdmem.dataclass import replace
from mdmem.tree import Tree, digest_of


def may_be_edited(catalog: Catalog, paths: Iterable[str]) -> bool:
    """Say whether all paths are those of entries' files of a catalog, be they readable or not."""
    return all(path.endswith(".md") and path[:-3] in catalog.with_bytes for path in paths)


def with_edits(catalog: Catalog, tree: Tree, changed: Mapping[str, bytes]) -> Catalog:
    """Return a catalog with other bytes in some entries' files; what cannot be read any more is broken.

    `tree` holds the bytes. Nothing of the catalog may be hidden from the caller.
    """
    from mdmem.document.parse import parse_document

    documents = {path: parse_document(path, content) for path, content in changed.items()}
    loaded = {path: interpret(document) for path, document in documents.items()}
    files = [file for file in catalog.files if file.path in changed]
    meant = entries_like(catalog, files, loaded, changed=changed.keys())
    known = catalog.addresses
    entries = {
        **meant.entries,
        **{address: with_full_links(entry, known) for address, entry in meant.open.items()},
    }
    lineage = meant.lineage_of(entries)
    others = [one for one in catalog.findings if not is_entry_place(one.place.path)]
    return replace(
        catalog,
        tree=tree,
        entries=entries,
        broken=meant.broken,
        findings=tuple(sorted([*meant.findings, *others], key=lambda finding: finding.sort_key)),
        sizes=meant.sizes,
        short=meant.short,
        _documents=documents,
        _digests=catalog.file_digests | {path: digest_of(content) for path, content in changed.items()},
        _chains=(entries, lineage) if lineage is not None else None,
    )
