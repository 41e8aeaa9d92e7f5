"""What a question reads while another process looks at the folders."""

from __future__ import annotations

from mdmem.workspace.workspace import Workspace


def read_ahead(workspace: Workspace) -> Workspace:
    """Return a workspace whose entries are asked for next: of a large one the longest part of that is begun."""
    if workspace.snapshot.is_working_tree:
        workspace.parsed.table(workspace.index_folder / "table").read_ahead(workspace.location.root)
    return workspace
