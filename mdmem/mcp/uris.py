"""The addresses of the resources: what a client writes, taken apart, and the templates that they are made from."""

from __future__ import annotations

from urllib.parse import quote, unquote

SCHEME = "mdmem://"


def uri_of(kind: str, *parts: str) -> str:
    """Return the address of a resource; whatever a part holds, it stays one part."""
    return SCHEME + "/".join([kind, *(quote(part, safe="") for part in parts)])


def uri_of_entry(address: str, kind: str = "entry") -> str:
    """Return the address of a resource about an entry."""
    return uri_of(kind, *address.split("/"))


def parts_of(uri: str) -> tuple[str, tuple[str, ...]] | None:
    """Return the kind and the parts of a resource's address, None for one that is not ours."""
    if not uri.casefold().startswith(SCHEME):
        return None
    kind, *parts = uri[len(SCHEME) :].rstrip("/").split("/")
    return kind.casefold(), tuple(unquote(part) for part in parts)
