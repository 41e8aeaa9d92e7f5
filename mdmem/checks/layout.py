"""What has its place below a root and is no entry, and what looks like one in the wrong place."""

from __future__ import annotations

from mdmem.catalog import is_entry_place
from mdmem.finding import Finding, Place
from mdmem.tree import SETTINGS_NAME

# How to rename an entry, as the end of a sentence.
MOVING = "with `git mv`, and write the new address in the entries that link to it"
_ODD_EXTENSIONS = (".md", ".markdown", ".mdown", ".mkdn", ".mkd", ".mdwn")


def at_path(code: str, path: str, message: str, help_: str, *, other: Place | None = None) -> Finding:
    """Return a finding about a path, with its address where it is an entry's place."""
    address = path.removesuffix(".md") if is_entry_place(path) else None
    return Finding(code, message, Place(path), help_, address, other)


def is_expected(path: str) -> bool:
    """Say whether a path is the settings, a manifest, or the README of the root or a room."""
    return path == SETTINGS_NAME or (path.rsplit("/", 1)[-1] == "README.md" and path.count("/") <= 2)


def has_odd_extension(path: str) -> bool:
    """Say whether a file is Markdown by a name that is not read: `.MD`, `.markdown`."""
    return path.lower().endswith(_ODD_EXTENSIONS) and not path.endswith(".md")
