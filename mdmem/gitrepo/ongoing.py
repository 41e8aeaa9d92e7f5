"""What is going on in a work tree that a commit would meddle with."""

from __future__ import annotations

from mdmem.errors import UsageError
from mdmem.gitrepo.process import Repository
from mdmem.regular_file import read_regular

# Where git itself looks; a rebase stops with the files of a merge or of a cherry-pick beside its own.
_SIGNS = (
    ("rebase-merge", "rebase"),
    ("rebase-apply/applying", "am"),
    ("rebase-apply", "rebase"),
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("BISECT_LOG", "bisect"),
)


def state_of(repository: Repository) -> str | None:
    """Return git's word for what is going on in this work tree: merge, rebase, am, cherry-pick, revert, bisect."""
    for name, operation in _SIGNS:
        if (repository.git_dir / name).exists():
            return operation
    try:
        # Between two picks of several, this alone is left.
        word = read_regular(repository.git_dir / "sequencer" / "todo").decode("utf-8", "replace").split()[:1]
    except OSError:
        return None
    return "revert" if word == ["revert"] else "cherry-pick"


def refuse_while_busy(repository: Repository) -> None:
    """Raise UsageError where something is going on that a commit would meddle with; to be asked before writing."""
    operation = state_of(repository)
    if operation is None:
        return
    ends = "`git bisect reset`" if operation == "bisect" else f"`git {operation} --continue` or `--abort`"
    article = "an" if operation == "am" else "a"
    raise UsageError(f"{article} {operation} is going on here: leave out `--commit`, or end it first with {ends}")
