"""The files and folders that a set of paths names."""

from __future__ import annotations

from collections.abc import Iterable


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
