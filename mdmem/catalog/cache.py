"""Parsed entries by content, as JSON: what was parsed once is not parsed again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mdmem.catalog.reading import Loaded
from mdmem.entry.fields import VERSION
from mdmem.entry.model import Wing, from_json, to_json, wing_from_json
from mdmem.finding import Finding, Place

# The number is raised whenever what is stored of a file changes; the table of fields has a version of its own.
CACHE_VERSION = f"6.{VERSION}"
_FOREIGN = (AttributeError, KeyError, TypeError, ValueError)


def to_cache(loaded: Loaded) -> dict[str, Any]:
    """Return what a file holds and what was wrong with it, without its path."""
    findings = [[f.code, f.message, f.help, f.place.line, f.place.column, f.place.width] for f in loaded.findings]
    if loaded.entry is None:
        return {"findings": findings}
    stated = to_json(loaded.entry)
    if not loaded.is_titled:
        # The same content at another address has another title.
        stated["title"] = ""
    return {"entry": stated, "size": loaded.size} | ({"findings": findings} if findings else {})


def from_cache(path: str, stored: Any) -> Loaded | None:
    """Return what `to_cache` gave, for a file of the same content at a path; None for what it did not give."""
    try:
        loaded = _from_cache(path, stored)
    except _FOREIGN:
        return None
    return loaded if loaded.entry is not None or loaded.findings else None


def wing_from_cache(name: str, stored: Any) -> Wing | None:
    """Return the wing that `wing_to_json` gave, under a name; None for what it did not give."""
    try:
        return wing_from_json(name, stored)
    except _FOREIGN:
        return None


def _from_cache(path: str, stored: Mapping[str, Any]) -> Loaded:
    address = path.removesuffix(".md")
    entry = from_json(address, stored["entry"]) if "entry" in stored else None
    findings = tuple(
        Finding(code, message, Place(path, line, column, width), help_, address)
        for code, message, help_, line, column, width in stored.get("findings", ())
    )
    return Loaded(path, entry, findings, stored.get("size", 0))


def bounded(known: Mapping[str, Any], used: set[str]) -> dict[str, Any]:
    """Forget what other branches left once it outweighs what this tree uses."""
    if len(known) <= 4 * len(used) + 4000:
        return dict(known)
    return {key: stored for key, stored in known.items() if key.removeprefix("wing ") in used}
