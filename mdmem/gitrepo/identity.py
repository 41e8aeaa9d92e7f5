"""Who git says we are."""

from __future__ import annotations

from mdmem.errors import GitError
from mdmem.gitrepo.process import Repository, run


def identity(repository: Repository) -> str | None:
    """Return `Name <email>` as git would write it for a committer here, or None where it knows nobody."""
    try:
        printed = run(repository.top, "var", "GIT_COMMITTER_IDENT")
    except GitError:
        return None
    # The time follows the address, which holds no angle bracket.
    return printed.decode("utf-8", "replace").rpartition(">")[0] + ">"
