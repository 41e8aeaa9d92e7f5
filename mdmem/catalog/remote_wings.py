"""Joins a tree with the wings that its settings name in other repositories."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mdmem.errors import SettingsError
from mdmem.settings import Settings, WingSettings, parse_settings
from mdmem.tree import SETTINGS_NAME, JoinedTree, MissingWing, Tree, Unreadable, read_one

FETCH_PINNED = "`mdmem sync --wings --pinned` fetches it"


@dataclass(frozen=True, slots=True)
class NotHere:
    """Why a wing that lives elsewhere cannot be read, as the end of a sentence about it, and what to type."""

    why: str
    help: str = FETCH_PINNED


# Gives what is at hand of one wing, by its name and its settings; it fetches nothing.
Finder = Callable[[str, WingSettings], Tree | NotHere]


def with_remote_wings(tree: Tree, find: Finder) -> Tree:
    """Return a tree with the wings that its own settings name in other repositories; itself where they name none.

    A folder of the tree goes before a wing of its name: what people see here is what counts, and the wing is missing.
    """
    settings = _settings_of(tree)
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


def _settings_of(tree: Tree) -> Settings:
    """Return the settings of a tree as far as they can be read; who asks for them is told what is wrong."""
    if not any(file.path == SETTINGS_NAME for file in tree.files()):
        return Settings()
    content = read_one(tree, SETTINGS_NAME)
    # Most memories have no such wing, and need their settings parsed but once.
    if isinstance(content, Unreadable) or b"git" not in content:
        return Settings()
    try:
        return parse_settings(content)
    except SettingsError as error:
        return error.readable if isinstance(error.readable, Settings) else Settings()
