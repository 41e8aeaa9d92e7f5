"""Whether the commit at hand concerns a memory: asked at every commit, so that it imports as little as can be."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from mdmem.gitrepo import list_changed_in_index, staged_index
from mdmem.workspace.location import Location


def concerns_staged(location: Location, environment: Mapping[str, str], cwd: Path) -> bool:
    """Say whether the commit at hand touches a root; nothing staged counts as a question about everything."""
    repository = location.repository
    if repository is None:
        return True
    changed = list_changed_in_index(repository, index=staged_index(repository, environment, cwd))
    under = f"{location.under}/" if location.under else ""
    return not changed or any(path.startswith(under) for path in changed)
