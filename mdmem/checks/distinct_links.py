"""The links of front matters that neither lead to their own entry nor repeat an earlier one of their field."""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case, Link


def distinct_links(case: Case) -> Iterator[Link]:
    """Yield each link once; what is left out has its own finding, `self-link` or `duplicate-link`."""
    seen: set[tuple[str, str, str]] = set()
    for link in case.links:
        key = (link.entry.address, link.field, link.target or link.written)
        if link.target != link.entry.address and key not in seen:
            seen.add(key)
            yield link


def is_path_like(written: str) -> bool:
    """Say whether an address is written as the path of a file."""
    return written.endswith(".md") or written.startswith((".", "/"))
