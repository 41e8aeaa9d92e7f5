"""What git may answer that somebody can do something about: each with what to type."""

from __future__ import annotations

from pathlib import Path

from mdmem.errors import GitError, UsageError

UNSHALLOW = "fetch the whole history: `git fetch --unshallow`, in GitHub's checkout `fetch-depth: 0`"


class UnknownRevisionError(UsageError):
    """A revision names no commit of this repository."""

    def __init__(self, revision: str, near: str | None = None) -> None:
        """Name the revision as it was given, and the branch or tag whose name is nearest."""
        hint = f"did you mean `{near}`?" if near else "write a branch, a tag or a commit"
        super().__init__(f"`{revision}` names no commit here; {hint}")


class GitTooOldError(GitError):
    """The git at hand cannot do what is asked."""

    def __init__(self, found: str, needed: str, what: str) -> None:
        """Name the version found, the one needed, and what it is needed for."""
        super().__init__(f"{what} needs git {needed} or later; this is {found}")


class NoCommonAncestorError(GitError):
    """Two commits have no history in common."""

    def __init__(self, one: str, other: str) -> None:
        """Name both as they were given."""
        super().__init__(f"`{one}` and `{other}` have no history in common; compare with a branch that has")


class ShallowHistoryError(GitError):
    """The history is cut off before the commit that two others have in common."""

    def __init__(self, one: str, other: str) -> None:
        """Name both as they were given."""
        super().__init__(
            f"the history is cut off before the commit that `{one}` and `{other}` have in common; {UNSHALLOW}"
        )


class DubiousOwnershipError(GitError):
    """git does not speak about a repository of another owner."""

    def __init__(self, words: str, folder: str) -> None:
        """Keep git's words and name the folder to trust."""
        hint = f"if you trust it, type `git config --global --add safe.directory {folder}`"
        super().__init__(f"{words}; {hint}")


class ForeignGitDirectoryError(GitError):
    """A `.git` leads to a folder that a commit may have brought along, settings that name programs included."""

    def __init__(self, entry: Path, git_dir: Path) -> None:
        """Name what leads there, and where it leads."""
        super().__init__(f"{entry} names {git_dir}, which lies among the files of a work tree; git is not asked there")


class UnwritableStoreError(GitError):
    """No place can be written for the objects of a merge."""

    def __init__(self, reason: str) -> None:
        """Keep what the system said."""
        super().__init__(f"no temporary folder can be written: {reason.lower()}; set TMPDIR to one that can")


class NotCommittedError(GitError):
    """git did not commit what was written; `output` is what git and the hooks said."""

    def __init__(self, why: str, *, output: str = "") -> None:
        """Say why, that the files stay, and what git said."""
        said = f"\n{output}" if output else ""
        super().__init__(f"{why}; nothing was committed, the files are written{said}")
        self.output = output


class GitLockedError(NotCommittedError):
    """Another process holds a lock of git's for longer than we wait; a later try may pass."""
