"""Where a new entry goes: the place that somebody typed in full or in part, and a wing that is meant."""

from __future__ import annotations

from difflib import get_close_matches

from mdmem.disk import read_regular
from mdmem.errors import UsageError
from mdmem.model.entry import EntryType, WingKind
from mdmem.setup.manifest import manifest_text
from mdmem.store.catalog.addresses import MANIFEST
from mdmem.store.workspace.scope import AmbiguousWingError, Filters, resolve_scope
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.change_set import Change

# What has no room of its own in the settings goes where its like does.
ROOM_KINDS = {
    EntryType.INVARIANT: "decision",
    EntryType.DECISION: "decision",
    EntryType.PATTERN: "pattern",
    EntryType.NOTE: "context",
}


def place_of(workspace: Workspace, type_: EntryType, typed: str | None) -> str:
    """Return `wing/room` or an address for what was typed: nothing, a wing, a room of the active wing, or more.

    Raises UsageError where no wing is the active one, and for one word that is neither wing nor room.
    """
    if typed is not None and "/" in typed:
        return typed
    room = workspace.settings.rooms[ROOM_KINDS[type_]]
    if typed is None:
        return f"{_active(workspace)}/{room}"
    if typed in workspace.catalog.wings:
        return f"{typed}/{room}"
    wing = _active(workspace)
    if typed in _rooms(workspace, wing):
        return f"{wing}/{typed}"
    raise UsageError(f"`{typed}` is neither a wing nor a room of `{wing}`; write {wing}/{room}, or WING/ROOM")


def is_place(workspace: Workspace, typed: str) -> bool:
    """Say whether one word of a command means a place and not a title."""
    first, slash, _ = typed.partition("/")
    if first in workspace.catalog.wings or not typed.strip():
        return True
    return not typed.split()[1:] if slash else any(typed in _rooms(workspace, wing) for wing in workspace.catalog.wings)


def require_wing(workspace: Workspace, place: str, new: WingKind | None = None) -> tuple[Change, ...]:
    """Return what makes the wing of a place: nothing where it is there, else the manifest of a `new` one of that kind.

    Where only the catalog lacks the wing, its manifest is returned as it is.
    Raises UsageError, with the nearest, where none is meant to be made; a folder without an entry is a wing, but at a
    repository's top.
    """
    wing, room, *_ = place.split("/")
    wings, root = workspace.catalog.wings, workspace.location.root
    at_top = workspace.location.repository is not None and workspace.location.under == ""
    manifest = f"{wing}/{MANIFEST}"
    if wing in wings:
        return ()
    if (root / manifest).is_file():
        refuse_unmade_wing(workspace, wing)
        # Another process made it since the files were read: the plan is to know it, and not to write it.
        there = read_regular(root / manifest)
        return (Change(manifest, manifest, there, there),)
    if new is not None:
        text = manifest_text(wing, workspace.location.repository, kind=new)
        return (Change(manifest, manifest, None, text.encode()),)
    if not at_top and (root / wing).is_dir():
        return ()
    close = [f"{name}/{room}" for name in get_close_matches(wing, wings, n=3, cutoff=0.5)]
    close = close or [f"{name}/{wing}" for name in wings if wing in _rooms(workspace, name)]
    hint = f"did you mean {' or '.join(close[:3])}? " if close else ""
    raise UsageError(f"there is no wing `{wing}`; {hint}`--new-wing` makes one")


def refuse_unmade_wing(workspace: Workspace, wing: str) -> None:
    """Raise UsageError for a wing that would not be read: at a repository's top a wing has a manifest."""
    at_top = workspace.location.repository is not None and workspace.location.under == ""
    if at_top and wing not in workspace.catalog.wings and wing not in workspace.reread().catalog.wings:
        hint = f"write {wing}/README.md with `kind: project` between two lines of `---` first"
        raise UsageError(f"`{wing}` is no wing: at the repository's top a wing has a manifest; {hint}")


def _rooms(workspace: Workspace, wing: str) -> frozenset[str]:
    own = (address.split("/")[1] for address in workspace.catalog.addresses if address.startswith(f"{wing}/"))
    return frozenset((*own, *workspace.settings.rooms.values()))


def _active(workspace: Workspace) -> str:
    try:
        wing = resolve_scope(workspace.catalog, workspace.settings, Filters()).wing
    except AmbiguousWingError as error:
        listed = ", ".join(f"`{name}`" for name in workspace.catalog.wings)
        hint = "write WING/ROOM, or set `default_wing` in mdmem.toml"
        raise UsageError(f"which wing is meant? {hint}: {listed}") from error
    if wing is None:
        raise UsageError("there is no wing yet; `mdmem init --wing NAME` makes one")
    return wing
