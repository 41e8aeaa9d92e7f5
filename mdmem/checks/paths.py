"""Names and places of files below a root."""

from __future__ import annotations

import shlex
import unicodedata
from collections.abc import Iterable

from mdmem.model.finding import Finding, Place
from mdmem.store.catalog import is_entry_place
from mdmem.store.tree import SETTINGS_NAME, FileKind, TreeFile

_ODD_EXTENSIONS = (".md", ".markdown", ".mdown", ".mkdn", ".mkd", ".mdwn")


def composed(name: str) -> str:
    """Return a name in Unicode's composed form, NFC."""
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def files_and_folders(paths: Iterable[str]) -> dict[str, str]:
    """Return every file and folder by its path, each with the first file at or below it, in order."""
    found: dict[str, str] = {}
    for path in sorted(paths):
        end = path.find("/")
        while end > 0:
            found.setdefault(path[:end], path)
            end = path.find("/", end + 1)
        found[path] = path
    return found


def at_path(path: str, message: str, help_: str, *, other: Place | None = None) -> Finding:
    """Return a finding about a path, with its address if it is in an entry's place."""
    address = path.removesuffix(".md") if is_entry_place(path) else None
    return Finding("", message, Place(path), help_, address, other)


def renaming(place: str, path: str, name: str | None = None) -> str:
    """Return how to rename a file or folder; `path` is the first file at or below it.

    Only an entry, a room or a wing has an address; all else is moved with git.
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
    """Say whether a file is Markdown with an extension that is not read: `.MD`, `.markdown`."""
    return path.lower().endswith(_ODD_EXTENSIONS) and not path.endswith(".md")


def may_link(file: TreeFile) -> bool:
    """Say whether a file that is no entry is a text that may have links."""
    return file.kind is FileKind.FILE and (file.path.endswith(".md") or has_odd_extension(file.path))
