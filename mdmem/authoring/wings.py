"""Whether a wing may come to be where an entry is written."""

from __future__ import annotations

from mdmem.errors import UsageError
from mdmem.workspace.workspace import Workspace


def refuse_unmade_wing(workspace: Workspace, wing: str) -> None:
    """Raise UsageError for a wing that would not be read: at a repository's top a wing has a manifest."""
    at_top = workspace.location.repository is not None and workspace.location.under == ""
    if at_top and wing not in workspace.catalog.wings:
        hint = f"write {wing}/README.md with `kind: project` between two lines of `---` first"
        raise UsageError(f"`{wing}` is no wing: at the repository's top a wing has a manifest; {hint}")
