"""Why no memory is found where somebody surely has one: git ignores it, a submodule or another branch holds it."""

from __future__ import annotations

from collections.abc import Iterator

from mdmem import SETTINGS_NAME
from mdmem.errors import GitError
from mdmem.git import Repository, find_repository, list_revision, list_staged, list_tracked_named
from mdmem.git.default_branch import find_default_branch
from mdmem.git.status import list_ignored_named

_SUBMODULE = "160000"


def memory_elsewhere(repository: Repository) -> str:
    """Return where a memory lies that is not found, and what to do; empty where there is none."""
    try:
        return next(_places(repository), "")
    except GitError:
        return ""


def _places(repository: Repository) -> Iterator[str]:
    for path in list_ignored_named(repository, SETTINGS_NAME):
        yield f"git ignores the one in {_folder(path)}: take it out of .gitignore, or name it with --root"
    for blob in list_staged(repository, ""):
        within = find_repository(repository.top / blob.path) if blob.mode == _SUBMODULE else None
        if within is not None and within.top != repository.top:
            for path in list_tracked_named(within, SETTINGS_NAME):
                folder = _folder(f"{blob.path}/{path}")
                yield f"the submodule {blob.path} holds one: name it with --root {folder}"
    branch = find_default_branch(repository)
    if branch is not None and not branch.is_here:
        for blob in list_revision(repository, branch.commit, ""):
            if blob.path.rpartition("/")[2] == SETTINGS_NAME:
                yield f"`{branch.name}` holds one in {_folder(blob.path)}, and this branch does not"


def _folder(path: str) -> str:
    return path.rpartition("/")[0] or "the repository's top"
