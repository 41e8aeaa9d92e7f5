"""The caller's own memory: a root in the user's data folder that only this caller's context reads."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from mdmem.errors import EnvironmentFaultError
from mdmem.model.access import Access
from mdmem.store.catalog import EntryCache
from mdmem.store.state import write_new
from mdmem.store.state.files import WING, private_root
from mdmem.store.tree import SETTINGS_NAME
from mdmem.store.workspace.location import Location, Snapshot
from mdmem.store.workspace.workspace import Workspace

_SETTINGS = """\
# What one caller keeps for themselves; `mdmem --root` with this folder reads and changes it.
[check]
ignore = ["wing-without-owner"]
"""
_MANIFEST = "---\nkind: project\n---\n\n# private\n"


def find_own_memory(workspace: Workspace) -> Workspace | None:
    """Return the caller's own memory as it is now, None where there is none yet."""
    root = _root_of(workspace)
    return _open(workspace, root) if (root / SETTINGS_NAME).is_file() else None


def make_own_memory(workspace: Workspace) -> Workspace:
    """Return the caller's own memory, made where there is none; raises EnvironmentFaultError."""
    root = _root_of(workspace)
    try:
        # Nobody else may read it, not even its names.
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        (root / WING).mkdir(exist_ok=True)
        for path, text in ((root / WING / "README.md", _MANIFEST), (root / SETTINGS_NAME, _SETTINGS)):
            # It may exist from before, or another process was first.
            with suppress(FileExistsError):
                write_new(path, text.encode())
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise EnvironmentFaultError(f"the caller's own memory {root} cannot be made: {reason}") from error
    return _open(workspace, root)


def _root_of(workspace: Workspace) -> Path:
    access = workspace.access
    caller = access.name
    if caller is None and access.readable is not None:
        # A caller without a name who sees only some wings is not the user. No token's name has a NUL.
        caller = "\0".join(("", *sorted(access.readable)))
    return private_root(workspace.environment, workspace.location.root, caller)


def _open(workspace: Workspace, root: Path) -> Workspace:
    """Return a root outside git, even if a repository surrounds the data folder."""
    location = Location(root.resolve(), "the caller's own memory")
    return replace(workspace, location=location, access=Access(), cache=EntryCache()).at(Snapshot())
