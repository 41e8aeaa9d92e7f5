"""Joins a tree with the wings that its settings name in other repositories, as far as they were fetched."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from mdmem.errors import GitError, SettingsError
from mdmem.store.git.fetch import borrowed
from mdmem.store.settings import Settings, WingSettings, parse_settings
from mdmem.store.settings.parse import is_path
from mdmem.store.state.local_records import find_pin, store_of
from mdmem.store.tree import SETTINGS_NAME, GitTree, JoinedTree, MissingWing, Tree, Unreadable, has_file, read_one

FETCH_PINNED = "`mdmem sync --wings --pinned` fetches it"


class NotHere(Struct, frozen=True):
    """Why a wing that lives elsewhere cannot be read, as the end of a sentence about it, and what to type."""

    why: str
    help: str = FETCH_PINNED


# Gives what is at hand of one wing, by its name and its settings; it fetches nothing.
Finder = Callable[[str, WingSettings], Tree | NotHere]


def with_remote_wings(tree: Tree, find: Finder) -> Tree:
    """Return a tree with the wings that its own settings name in other repositories; itself where they name none.

    A folder of the tree goes before a wing of its name: what people see here is what counts, and the wing is missing.
    """
    settings = settings_of(tree, about=b"git")
    if not settings.remote_wings:
        return tree
    own = {file.path.partition("/")[0] for file in tree.files()}
    wings: dict[str, Tree] = {}
    missing = []
    for name, stated in settings.remote_wings.items():
        found = _SHADOWED if name in own else find(name, stated)
        if isinstance(found, NotHere):
            message = f"the wing `{name}` of {stated.git} {found.why}"
            missing.append(MissingWing(name, message, found.help, settings.line_of(f"wings.{name}.git")))
        else:
            wings[name] = found
    return JoinedTree(tree, wings, tuple(missing))


_SHADOWED = NotHere(
    "is not read, for a folder here has its name",
    "remove or rename the folder, or take `git` out of the wing's table",
)


def settings_of(tree: Tree, *, about: bytes) -> Settings:
    """Return the settings of a tree as far as they can be read, the defaults where they do not hold a word.

    Who asks for the settings themselves is told what is wrong.
    """
    if not has_file(tree, SETTINGS_NAME):
        return Settings()
    content = read_one(tree, SETTINGS_NAME)
    # Most memories say nothing of the kind, and need their settings parsed but once.
    if isinstance(content, Unreadable) or about not in content:
        return Settings()
    try:
        return parse_settings(content)
    except SettingsError as error:
        return error.readable if isinstance(error.readable, Settings) else Settings()


def find_remote_wing(cache: Path, root: Path, name: str, stated: WingSettings) -> Tree | NotHere:
    """Return the files of a wing at the commit that it is pinned to, or why they are not at hand."""
    # Most memories have no such wing, and are opened faster without.
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
