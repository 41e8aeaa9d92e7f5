"""What git makes of three versions of one text, line by line; no repository is needed for it."""

from __future__ import annotations

from pathlib import Path

from mdmem.errors import GitError
from mdmem.gitrepo.process import run

# git counts the conflicts in its exit code, up to this many.
_CONFLICTS = tuple(range(1, 128))


def merge_file(
    folder: Path,
    versions: tuple[bytes, bytes, bytes],
    *,
    labels: tuple[str, str, str] = ("ours", "base", "theirs"),
    width: int = 7,
) -> tuple[bytes, bool]:
    """Return the merge of ours, base and theirs, and whether it holds a conflict.

    The settings for conflicts are those of `folder`. Raises GitError for what is no text.
    """
    # Most merges of entries need no git, and this import takes a tenth of their time.
    from tempfile import TemporaryDirectory

    named = [part for label in labels for part in ("-L", label)]
    with TemporaryDirectory(prefix="mdmem-") as kept:
        files = [Path(kept) / name for name in ("ours", "base", "theirs")]
        for file, content in zip(files, versions, strict=True):
            file.write_bytes(content)
        command = ["merge-file", "-p", f"--marker-size={width}", *named, *map(str, files)]
        try:
            return run(folder, *command), False
        except GitError:
            return run(folder, *command, ok=_CONFLICTS), True


def shows_base(folder: Path) -> bool:
    """Say whether the user wants to see what both sides come from in a conflict, as `merge.conflictStyle` says."""
    return run(folder, "config", "--get", "merge.conflictStyle", ok=(0, 1)).strip() in (b"diff3", b"zdiff3")
