"""What git tracks in the whole repository, asked by file, by folder and by glob."""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from mdmem.checks.case import Facts
from mdmem.entry.globs import matches

_MAGIC = re.compile(r"[*?\[\\]")
# An empty part, `.` or `..`: such a glob names no folder in the form that git lists.
_ODD = re.compile(r"(?:\A|/)\.{0,2}(?:/|\Z)")


@dataclass(frozen=True)
class Tracked:
    """The tracked paths of a repository, sorted, so that what lies below a folder is one stretch."""

    facts: Facts

    @cached_property
    def paths(self) -> list[str]:
        """Return every tracked path, counted from the repository's top."""
        return sorted(self.facts.tracked_in_repository)

    @cached_property
    def prefix(self) -> str:
        """Return the root's folder with its slash, told from one set of paths being the other below that folder."""
        below = sorted(self.facts.tracked)
        if not below:
            return ""
        everything = self.facts.tracked_in_repository
        ends = (path.removesuffix(below[0]) for path in everything if path.endswith(f"/{below[0]}"))
        fitting = (start for start in ends if all(start + path in everything for path in below))
        return max(fitting, key=len, default="")

    def holds(self, path: str) -> bool:
        """Say whether a file or folder is tracked; the path counts from the root, or from the top after a slash."""
        top = path.lstrip("/") if path.startswith("/") else posixpath.normpath(self.prefix + path)
        top = top.rstrip("/")
        return top in self.facts.tracked_in_repository or next(self._below(f"{top}/"), None) is not None

    def has_match(self, glob: str) -> bool:
        """Say whether a glob covers any tracked path; only the folder that its fixed part names is searched."""
        magic = _MAGIC.search(glob)
        if _ODD.search(glob.removesuffix("/")):
            return any(matches(glob, path) for path in self.paths)
        if magic is None and not glob.endswith("/"):
            return glob in self.facts.tracked_in_repository or next(self._below(f"{glob}/"), None) is not None
        folder = glob if magic is None else glob[: glob.rfind("/", 0, magic.start()) + 1]
        # Compiling a glob takes as long as a thousand comparisons, and most are of this form.
        if glob in (folder, f"{folder}**"):
            return next(self._below(folder), None) is not None
        return any(matches(glob, path) for path in self._below(folder))

    def _below(self, start: str) -> Iterator[str]:
        for index in range(bisect_left(self.paths, start), len(self.paths)):
            if not self.paths[index].startswith(start):
                return
            yield self.paths[index]
