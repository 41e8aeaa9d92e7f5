"""What moves where: the two names that a user types, and the plan."""

from __future__ import annotations

import os
from dataclasses import replace

from mdmem.authoring.create import require_names
from mdmem.authoring.intent import Intent
from mdmem.authoring.moving import move
from mdmem.authoring.writing import TEMPORARY
from mdmem.checks.case import Case
from mdmem.errors import NotFoundError, UsageError
from mdmem.workspace.naming import from_root, resolve_names
from mdmem.workspace.opened import Opened
from mdmem.workspace.wings import refuse_unmade_wing


def move_named(workspace: Opened, name: str, to: str) -> Intent:
    """Return what moves an entry, a room or a wing to another place; raises what `move` raises, and UsageError."""
    old = _old_place(workspace, name)
    new = _new_place(workspace, old, to)
    require_names(new.split("/"), known=old.split("/"))
    if "/" in old:
        refuse_unmade_wing(workspace, new.split("/")[0])
    case = Case(workspace.whole_catalog, workspace.settings, workspace.today)
    under = workspace.location.under if workspace.location.repository is not None else None
    intent = move(case, old, new, under=under)
    return replace(intent, remarks=(*intent.remarks, *_left_behind(workspace, old)))


def _old_place(workspace: Opened, name: str) -> str:
    """Return what moves, counted from the root: an address, `wing/room` or `wing`."""
    plain = from_root(workspace, name)
    is_folder = any(file.path.startswith(f"{plain}/") for file in workspace.tree.files())
    if name.endswith("/"):
        if not is_folder or plain.count("/") > 1:
            raise NotFoundError(f"there is no wing and no room `{name}`; `mdmem list` names the entries")
        return plain
    if f"{plain}.md" in workspace.catalog.broken:
        # What cannot be read moves all the same.
        return plain
    try:
        return resolve_names(workspace, [name])[0]
    except NotFoundError:
        if is_folder and plain.count("/") < 2:
            raise NotFoundError(f"there is no entry `{name}`; write `{name}/` for the folder") from None
        raise


def _new_place(workspace: Opened, old: str, to: str) -> str:
    """Return the new place in full, of the same kind as the old one."""
    parts = old.split("/")
    plain = from_root(workspace, to)
    wanted = plain.split("/")
    if len(parts) == 3 and to.endswith("/") and len(wanted) == 2:
        return f"{plain}/{parts[2]}"
    if len(parts) == 3 and not to.endswith("/") and len(wanted) < 3 and plain:
        _refuse_folder(workspace, parts, to, plain)
        return "/".join((*parts[: 3 - len(wanted)], *wanted))
    if len(wanted) != len(parts) or (len(parts) == 3 and to.endswith("/")):
        raise UsageError(f"`{to}` is no place for {_KINDS[len(parts)]}")
    return plain


def _refuse_folder(workspace: Opened, parts: list[str], to: str, plain: str) -> None:
    """Raise UsageError for a short name that is a folder's: who types it may well mean to move into that."""
    folders = {file.path.rsplit("/", 1)[0] for file in workspace.tree.files()}
    room = plain if "/" in plain else f"{parts[0]}/{plain}"
    is_of_wing = (
        "/" in plain and plain.split("/")[0] in workspace.catalog.wings and f"{parts[0]}/{plain}" not in folders
    )
    if room in folders or is_of_wing:
        whole = "/".join((*parts[: 2 - plain.count("/")], plain))
        raise UsageError(f"`{to}` may be a room; write `{room}/` to move into it, or `{whole}` in full")


_KINDS = {
    1: "a wing; write WING/",
    2: "a room; write WING/ROOM/",
    3: "an entry; write WING/ROOM/ID, ROOM/ID, ID, or WING/ROOM/ to keep its id",
}


def _left_behind(workspace: Opened, old: str) -> tuple[str, ...]:
    """Return a remark about the files of a folder that no tree lists, because their names start with a dot."""
    if old.count("/") == 2:
        return ()
    root = workspace.location.root
    listed = {file.path for file in workspace.tree.files()}
    hidden = sorted(
        path
        for folder, _, names in os.walk(root / old)
        for name in names
        if not name.endswith(TEMPORARY)
        and (path := os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/")) not in listed  # noqa: PTH118
    )
    more = f" and {len(hidden) - 1} more" if len(hidden) > 1 else ""
    return (f"{hidden[0]}{more} stays: what starts with a dot is not read",) if hidden else ()
