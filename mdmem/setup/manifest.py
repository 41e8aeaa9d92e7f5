"""Write the manifest of a new wing, and list the wings of projects."""

from __future__ import annotations

from pathlib import Path

from mdmem.markdown.scalars import scalar
from mdmem.model.entry import WingKind
from mdmem.store.catalog.load import load
from mdmem.store.git.process import Repository, setting
from mdmem.store.tree import WorkingTree


def manifest_text(wing: str, repository: Repository | None, *, kind: WingKind = WingKind.PROJECT) -> str:
    """Return the text of a wing's README.md, with git's user as its owner."""
    owner = _owner(repository)
    owners = f"owners: [{scalar(owner)}]\n" if owner else ""
    about = (
        "The rules and decisions of this project."
        if kind is WingKind.PROJECT
        else "Rules and decisions that all projects share."
    )
    return f"---\nkind: {kind}\n{owners}---\n\n# {wing}\n\n{about}\n"


def project_wings(root: Path, *, is_top: bool) -> list[str]:
    """Return the wings of projects in a folder, sorted; at the top of a repository most folders are not wings."""
    wings = load(WorkingTree(root, is_top=is_top)).wings.values()
    return sorted(wing.name for wing in wings if not wing.is_shared)


def _owner(repository: Repository | None) -> str | None:
    if repository is None:
        return None
    name, email = setting(repository, "user.name"), setting(repository, "user.email")
    return f"{name} <{email}>" if name and email else name
