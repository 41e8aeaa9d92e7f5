"""The manifest that a new wing starts with."""

from __future__ import annotations

from mdmem.document.scalars import scalar
from mdmem.entry.model import WingKind
from mdmem.git import Repository, setting


def manifest_text(wing: str, repository: Repository | None, *, kind: WingKind = WingKind.PROJECT) -> str:
    """Return the text of a wing's README.md: its kind, and who makes it as its owner, where git knows that."""
    owner = _owner(repository)
    owners = f"owners: [{scalar(owner)}]\n" if owner else ""
    about = "What this project holds itself to." if kind is WingKind.PROJECT else "What every project may build on."
    return f"---\nkind: {kind}\n{owners}---\n\n# {wing}\n\n{about}\n"


def _owner(repository: Repository | None) -> str | None:
    if repository is None:
        return None
    name, email = setting(repository, "user.name"), setting(repository, "user.email")
    return f"{name} <{email}>" if name and email else name
