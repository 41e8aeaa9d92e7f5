"""The caller's own memory: a root like any other, in the user's data folder, which only that caller's context reads."""

from __future__ import annotations

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
    """Return the memory of the caller's own as it is now, None where there is none yet."""
    root = _root(workspace)
    return _opened(workspace, root) if (root / SETTINGS_NAME).is_file() else None


def make_own_memory(workspace: Workspace) -> Workspace:
    """Return the memory of the caller's own, made where there is none; raises EnvironmentFaultError."""
    root = _root(workspace)
    try:
        # Nobody else looks into it, not even its names.
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        (root / WING).mkdir(exist_ok=True)
        for path, text in ((root / WING / "README.md", _MANIFEST), (root / SETTINGS_NAME, _SETTINGS)):
            _write_once(path, text)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise EnvironmentFaultError(f"the caller's own memory {root} cannot be made: {reason}") from error
    return _opened(workspace, root)


def _root(workspace: Workspace) -> Path:
    return private_root(workspace.environment, workspace.location.root, _caller(workspace.access))


def _caller(access: Access) -> str | None:
    """Return the name of who has the memory, None for the user: who sees some wings alone is somebody else."""
    if access.name is None and access.readable is not None:
        # No token's name holds a NUL.
        return "\0".join(("", *sorted(access.readable)))
    return access.name


def _write_once(path: Path, text: str) -> None:
    try:
        write_new(path, text.encode())
    except FileExistsError:
        # Another process was as early, or it is there from before.
        return


def _opened(workspace: Workspace, root: Path) -> Workspace:
    """Return a root outside git; a repository around the data folder, as of somebody's home, is none of its matter."""
    location = Location(root.resolve(), "the caller's own memory")
    apart = replace(workspace, location=location, access=Access(), cache=EntryCache())
    return apart.at(Snapshot())
