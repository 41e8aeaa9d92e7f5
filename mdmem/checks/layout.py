"""What has its place below a root and is no entry, and what looks like one in the wrong place."""

from __future__ import annotations

import shlex

from mdmem.catalog import is_entry_place
from mdmem.finding import Finding, Place
from mdmem.tree import SETTINGS_NAME

_ODD_EXTENSIONS = (".md", ".markdown", ".mdown", ".mkdn", ".mkd", ".mdwn")


def at_path(code: str, path: str, message: str, help_: str, *, other: Place | None = None) -> Finding:
    """Return a finding about a path, with its address where it is an entry's place."""
    address = path.removesuffix(".md") if is_entry_place(path) else None
    return Finding(code, message, Place(path), help_, address, other)


def renaming(place: str, path: str, name: str | None = None) -> str:
    """Return how to give a file or folder another name; `path` is that of the first file at or below it.

    What is no entry, room or wing has no address, and is moved with git.
    """
    folder = place.rpartition("/")[0]
    is_entry = is_entry_place(place)
    is_folder = place != path and place.count("/") < 2
    if not place.isprintable() or not (is_entry or is_folder):
        return f"rename it{f' to `{name}`' if name else ''} with `git mv`"
    old = place.removesuffix(".md") if is_entry else f"{place}/"
    new = f"{folder}/{name or 'NEW-NAME'}".lstrip("/") + ("" if is_entry else "/")
    return f"run `mdmem mv {shlex.quote(old)} {shlex.quote(new)}`, which rewrites the links, too"


def is_expected(path: str) -> bool:
    """Say whether a path is the settings, a manifest, or the README of the root or a room."""
    return path == SETTINGS_NAME or (path.rsplit("/", 1)[-1] == "README.md" and path.count("/") <= 2)


def has_odd_extension(path: str) -> bool:
    """Say whether a file is Markdown by a name that is not read: `.MD`, `.markdown`."""
    return path.lower().endswith(_ODD_EXTENSIONS) and not path.endswith(".md")
