"""The manifest that a new wing starts with, and the wings that are there already."""

from __future__ import annotations

from pathlib import Path

from mdmem.catalog.interpret import read_manifest
from mdmem.disk import read_regular
from mdmem.document.parse import parse_document
from mdmem.document.scalars import scalar
from mdmem.entry.model import WingKind
from mdmem.git import Repository, setting


def manifest_text(wing: str, repository: Repository | None, *, kind: WingKind = WingKind.PROJECT) -> str:
    """Return the text of a wing's README.md: its kind, and who makes it as its owner, where git knows that."""
    owner = _owner(repository)
    owners = f"owners: [{scalar(owner)}]\n" if owner else ""
    about = "What this project holds itself to." if kind is WingKind.PROJECT else "What every project may build on."
    return f"---\nkind: {kind}\n{owners}---\n\n# {wing}\n\n{about}\n"


def project_wings(root: Path) -> list[str]:
    """Return the wings of projects that hold entries in a folder, sorted."""
    held = sorted({path.parent.parent for path in root.glob("[!.]*/[!.]*/*.md")})
    return [folder.name for folder in held if not _is_shared(folder)]


def _is_shared(folder: Path) -> bool:
    try:
        wing, _ = read_manifest(folder.name, parse_document("README.md", read_regular(folder / "README.md")))
    except OSError:
        return False
    return wing is not None and wing.is_shared


def _owner(repository: Repository | None) -> str | None:
    if repository is None:
        return None
    name, email = setting(repository, "user.name"), setting(repository, "user.email")
    return f"{name} <{email}>" if name and email else name
