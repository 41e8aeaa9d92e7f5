"""Which findings lie in or below the paths that somebody named."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from pathlib import Path

from mdmem.errors import UsageError
from mdmem.finding import Finding
from mdmem.workspace.opened import Opened


def narrowed(workspace: Opened, findings: Sequence[Finding], paths: Sequence[str]) -> list[Finding]:
    """Return the findings in or below some paths, or all where none is given; raises UsageError for an absent one."""
    told = {finding.place.path for finding in findings}
    wanted = [_from_root(workspace, path, told) for path in paths]
    if not wanted:
        return list(findings)
    return [finding for finding in findings if any(_is_below(finding.place.path, path) for path in wanted)]


def _from_root(workspace: Opened, name: str, told: Collection[str]) -> str:
    """Return a path from here or from the root as counted from the root; raises UsageError where nothing is there.

    `told` are the paths of findings: a file that was deleted may have one.
    """
    root = workspace.location.root
    tried = (Path(os.path.normpath(folder / name)) for folder in (workspace.cwd, root))
    # The last part stays as it is typed: a symbolic link is checked, not what it leads to.
    real = [path.parent.resolve() / path.name for path in tried]
    inside = [path.relative_to(root).as_posix() for path in real if path.is_relative_to(root)]
    for path in inside:
        listed = (*(file.path for file in workspace.tree.files()), *told)
        if (workspace.access.sees(path) and (root / path).exists()) or any(_is_below(one, path) for one in listed):
            return path
    raise UsageError(f"{name} is nothing in the memory {root}; name a file, a wing/ or a wing/room/ of it")


def _is_below(path: str, wanted: str) -> bool:
    return wanted in (".", path, path.removesuffix(".md")) or path.startswith(f"{wanted.rstrip('/')}/")
