"""Why no memory is found where somebody surely has one: git ignores it, a submodule or another branch holds it."""

from __future__ import annotations

from collections.abc import Iterator

from mdmem import SETTINGS_NAME
from mdmem.errors import GitError
from mdmem.store.git import Repository, find_repository, list_revision
from mdmem.store.git.discovery import find_default_branch


def memory_elsewhere(repository: Repository) -> str:
    """Return where a memory lies of which git lists no file here, and what to do; empty where there is none."""
    try:
        return next(_places(repository), "")
    except (GitError, OSError):
        return ""


def _places(repository: Repository) -> Iterator[str]:
    # Two levels: what is ignored may hold a hundred thousand files.
    found = (path for depth in ("*", "*/*") for path in repository.top.glob(f"{depth}/{SETTINGS_NAME}"))
    for folder in (path.parent for path in found):
        shown, within = folder.relative_to(repository.top).as_posix(), find_repository(folder)
        if within is not None and within.top.resolve() != repository.top.resolve():
            yield f"the repository within this one, in {shown}, holds one: name it with --root {shown}"
        yield f"git ignores the one in {shown}: take it out of .gitignore, or name it with --root"
    branch = find_default_branch(repository)
    if branch is not None and not branch.is_here:
        for blob in list_revision(repository, branch.commit, ""):
            folder_, _, name = blob.path.rpartition("/")
            if name == SETTINGS_NAME:
                yield f"`{branch.name}` holds one in {folder_ or 'its top'}, and this branch does not"
