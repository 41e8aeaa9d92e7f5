"""Paths below a root: what has its place there, where symbolic links lead, what git tracks."""

from __future__ import annotations

import posixpath
import re
import shlex
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import cached_property

from msgspec import Struct

from mdmem.checks.case import Facts
from mdmem.model.finding import Finding, Place
from mdmem.model.globs import matches
from mdmem.store.catalog import Catalog, is_entry_place
from mdmem.store.tree import SETTINGS_NAME, FileKind, TreeFile

_ODD_EXTENSIONS = (".md", ".markdown", ".mdown", ".mkdn", ".mkd", ".mdwn")
MAGIC = re.compile(r"[*?\[\\]")
# An empty part, `.` or `..`: such a glob names no folder in the form that git lists.
_ODD = re.compile(r"(?:\A|/)\.{0,2}(?:/|\Z)")


def files_and_folders(paths: Iterable[str]) -> dict[str, str]:
    """Return every file and folder by its path, each with the first file at or below it, in order."""
    found: dict[str, str] = {}
    for path in sorted(paths):
        folder = path.rpartition("/")[0]
        if folder not in found:
            end = path.find("/")
            while end > 0:
                found.setdefault(path[:end], path)
                end = path.find("/", end + 1)
        found[path] = path
    return found


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


def is_path_like(written: str) -> bool:
    """Say whether an address is written as the path of a file."""
    return written.endswith(".md") or written.startswith((".", "/"))


def has_odd_extension(path: str) -> bool:
    """Say whether a file is Markdown by a name that is not read: `.MD`, `.markdown`."""
    return path.lower().endswith(_ODD_EXTENSIONS) and not path.endswith(".md")


def may_link(file: TreeFile) -> bool:
    """Say whether a file that is no entry is a text that may hold links."""
    return file.kind is FileKind.FILE and (file.path.endswith(".md") or has_odd_extension(file.path))


def symlinks(catalog: Catalog) -> Iterator[TreeFile]:
    """Yield every symbolic link below the root."""
    for file in (*catalog.files, *catalog.others):
        if file.kind is FileKind.SYMLINK:
            yield file


def leaves_root(file: TreeFile) -> bool:
    """Say whether a link's own text leads out of the root; an absolute one does on every other machine."""
    if file.target.startswith("/") or file.target[1:2] == ":":
        return True
    reached = posixpath.normpath(posixpath.join(posixpath.dirname(file.path), file.target))
    return reached == ".." or reached.startswith("../")


class TrackedPaths(Struct, frozen=True, dict=True):
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
        magic = MAGIC.search(glob)
        if _ODD.search(glob.removesuffix("/")):
            return any(matches(glob, path) for path in self.paths)
        if magic is None and not glob.endswith("/"):
            return glob in self.facts.tracked_in_repository or next(self._below(f"{glob}/"), None) is not None
        folder = glob if magic is None else glob[: glob.rfind("/", 0, magic.start()) + 1]
        # Compiling a glob takes as long as a thousand comparisons, and most are of this form.
        if glob in (folder, f"{folder}**"):
            return next(self._below(folder), None) is not None
        return any(matches(glob, path) for path in self._below(folder))

    def names_in(self, folder: str) -> frozenset[str]:
        """Return the names of what lies in a folder, "" for the repository's top."""
        start = f"{folder}/" if folder else ""
        return frozenset(path.removeprefix(start).partition("/")[0] for path in self._below(start))

    def _below(self, start: str) -> Iterator[str]:
        for index in range(bisect_left(self.paths, start), len(self.paths)):
            if not self.paths[index].startswith(start):
                return
            yield self.paths[index]
