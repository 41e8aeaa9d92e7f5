"""The cross-references of bodies, each with the entry or the file that it means."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from mdmem.catalog import full_address
from mdmem.document.links import BodyLink, body_links


@dataclass(frozen=True, slots=True)
class Reference:
    """One cross-reference in the body of the entry at `address`.

    `target` is the address it means, None where it means no entry; `path` is its file counted from the root, for a
    Markdown link.
    """

    address: str
    link: BodyLink
    target: str | None
    path: str | None = None


def references_in(prose: Mapping[str, str], addresses: Collection[str]) -> Iterator[Reference]:
    """Yield the references of every body, by address and offset."""
    for address, text in prose.items():
        for link in body_links(text):
            if link.is_path:
                path = _from_root(address, link.target)
                target = path.removesuffix(".md") if path.endswith(".md") else ""
                yield Reference(address, link, target if target in addresses else None, path)
            else:
                yield Reference(address, link, full_address(link.target, address, addresses))


def _from_root(address: str, target: str) -> str:
    """Return a link's file counted from the root; a leading slash means the repository's top and stays."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(address), target))
