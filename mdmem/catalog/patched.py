"""The catalog of a tree that differs from another one in a few entries, without loading the rest again."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace

from mdmem.catalog.links import with_full_links
from mdmem.catalog.model import Catalog
from mdmem.catalog.reading import interpret
from mdmem.tree import Tree, TreeFile, digest_of


def with_other_entries(catalog: Catalog, tree: Tree, changed: Mapping[str, bytes], *, gone: Set[str]) -> Catalog:
    """Return a catalog with other bytes in some entries' files, by path, and without some files; `tree` holds both.

    What was wrong with the files that are changed stays told beside what is wrong with their new bytes. Wings stay as
    they are, so that no manifest may be among the changed, and no entry may be hidden from the caller.
    """
    # Importing it takes longer than loading a small memory through the cache.
    from mdmem.document.parse import parse_document

    documents = {path: parse_document(path, content) for path, content in changed.items()}
    loaded = {path: interpret(document) for path, document in documents.items()}
    left = {address: one for address, one in catalog.entries.items() if one.path not in gone}
    new = {one.entry.address: one.entry for one in loaded.values() if one.entry is not None}
    known = (catalog.addresses - {path.removesuffix(".md") for path in gone}) | new.keys()
    entries = left | {address: with_full_links(entry, known) for address, entry in new.items()}
    listed = {file.path for file in catalog.files}
    files = [file for file in catalog.files if file.path not in gone]
    files += [TreeFile(path) for path in changed if path not in listed]
    findings = [one for one in catalog.findings if one.place.path not in gone]
    findings += [finding for one in loaded.values() for finding in one.findings]
    digests = catalog.file_digests | {path: digest_of(content) for path, content in changed.items()}
    sizes = {address: size for address, size in catalog.sizes.items() if address in left}
    sizes |= {one.entry.address: one.size for one in loaded.values() if one.entry is not None}
    return replace(
        catalog,
        tree=tree,
        entries={address: entries[address] for address in sorted(entries, key="{}.md".format)},
        findings=tuple(sorted(findings, key=lambda finding: finding.sort_key)),
        files=tuple(sorted(files, key=lambda file: file.path)),
        sizes=sizes,
        _documents=dict(documents),
        _digests=digests,
    )
