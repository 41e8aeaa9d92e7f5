"""Wings of other repositories, as far as they were fetched; nobody writes them here."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from mdmem.catalog.remote_wings import NotHere
from mdmem.errors import GitError
from mdmem.git.fetch import borrowed
from mdmem.settings import WingSettings
from mdmem.settings.parse import is_path
from mdmem.state.pins import find_pin, store_of
from mdmem.tree import GitTree, Tree


def find_wing(cache: Path, root: Path, name: str, stated: WingSettings) -> Tree | NotHere:
    """Return the files of a wing at the commit that it is pinned to, or why they are not at hand."""
    if stated.commit is None:
        return NotHere("is pinned to no commit yet", "`mdmem sync --wings` fetches it and writes the commit")
    url = place_of(stated, root)
    pin = find_pin(cache, url, stated.commit)
    if pin is None:
        return NotHere(f"is not fetched: its commit {stated.commit[:10]} is not here")
    folder = folder_of(name, stated, pin.roots)
    if folder is None:
        listed = ", ".join(f"`{one or '.'}`" for one in pin.roots)
        return NotHere(f"is one of several memories there: {listed}", "name the one that is meant with `path`")
    tree = GitTree(borrowed(store_of(cache, url)), folder, stated.commit, f"{name} ({stated.commit[:10]})")
    try:
        is_there = bool(tree.files())
    except (GitError, OSError):
        return NotHere("was fetched and cannot be read any more")
    if not is_there:
        at = f"is not there at the commit {stated.commit[:10]}: no file lies in `{folder}`"
        return NotHere(at, "name the memory that holds it with `path`, or another `ref`")
    return tree


def folder_of(name: str, stated: WingSettings, roots: tuple[str, ...]) -> str | None:
    """Return the folder of a wing from the top of its repository, or None where several memories may hold it."""
    if stated.path is None and len(roots) > 1:
        return None
    root = stated.path if stated.path is not None else "".join(roots)
    return f"{root}/{name}".removeprefix("/")


def place_of(stated: WingSettings, root: Path) -> str:
    """Return where the repository of a wing is; a path counts from the root."""
    url = stated.git or ""
    return os.path.normpath(root / url) if is_path(url) else url


@dataclass(frozen=True, slots=True)
class Borrowed:
    """A wing that is read from another repository: from where, at which commit, and when it was last asked for."""

    name: str
    git: str
    commit: str
    asked: date
