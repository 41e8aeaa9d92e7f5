"""What stands in the working tree alone, where a question is about commits."""

from __future__ import annotations

from mdmem.errors import MdmemError
from mdmem.store.catalog import is_entry_place
from mdmem.store.git import resolve
from mdmem.store.git.upstream import list_uncommitted
from mdmem.store.workspace.workspace import Workspace


def remark_on_uncommitted(workspace: Workspace, tip: str) -> tuple[str, ...]:
    """Return the remark that entries here are no part of a revision which is checked out; none where all are."""
    repository, under = workspace.location.repository, workspace.location.under
    try:
        if repository is None or resolve(repository, tip) != resolve(repository, "HEAD"):
            return ()
        listed = list_uncommitted(repository, under)
    except MdmemError:
        return ()
    paths = (path.removeprefix(f"{under}/") if under else path for path in listed)
    number = sum(is_entry_place(path) and workspace.access.sees(path) for path in paths)
    if not number:
        return ()
    return (f"{number} uncommitted {'entry is' if number == 1 else 'entries are'} no part of it",)
