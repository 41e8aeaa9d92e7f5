"""What git's configuration says: who commits, and the settings of one repository alone."""

from __future__ import annotations

from mdmem.errors import GitError
from mdmem.store.git.process import Repository, run


def identity(repository: Repository) -> str | None:
    """Return `Name <email>` as git would write it for a committer here, or None where it knows nobody."""
    try:
        printed = run(repository.top, "var", "GIT_COMMITTER_IDENT")
    except GitError:
        return None
    # The time follows the address, which holds no angle bracket.
    return printed.decode("utf-8", "replace").rpartition(">")[0] + ">"


# git's exit code for taking away what is not there.
_ABSENT = 5


def own_setting(repository: Repository, name: str) -> str | None:
    """Return a value that the repository's own configuration states, or None."""
    printed = run(repository.top, "config", "--local", "--get", name, ok=(0, 1))
    return printed.decode("utf-8", "surrogateescape").removesuffix("\n") or None


def set_own(repository: Repository, name: str, value: str) -> None:
    """Write a value into the repository's own configuration; raises GitError."""
    run(repository.top, "config", "--local", name, value)


def unset_own(repository: Repository, name: str) -> None:
    """Take a value out of the repository's own configuration; a section that is left empty goes, too."""
    run(repository.top, "config", "--local", "--unset", name, ok=(0, _ABSENT))
