"""Merge one file for git, as its merge driver."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from mdmem.disk import read_regular
from mdmem.errors import EnvironmentFaultError
from mdmem.markdown.merge import EntryMerge, Marks, Sides, merge_entries
from mdmem.store.git.history import merge_file, shows_base
from mdmem.store.state.files import write_whole


def drive(files: Sides[Path], path: str, marks: Marks, cwd: Path) -> EntryMerge:
    """Merge three files and write the result over our file. `path` is the file's path in the repository.

    Raises EnvironmentFaultError if a file cannot be read or written, and GitError if git cannot merge a text.
    """

    def by_git(texts: Sides[bytes]) -> tuple[bytes, bool]:
        versions = (texts.ours, texts.ancestor, texts.theirs)
        return merge_file(cwd, versions, labels=(marks.ours, "base", marks.theirs), width=marks.width)

    try:
        sides = files.map(read_regular)
        outcome = merge_entries(path, sides, merge_text=by_git, marks=marks)
        if outcome.torn and shows_base(cwd):
            outcome = merge_entries(path, sides, merge_text=by_git, marks=replace(marks, shows_base=True))
        if outcome.content != sides.ours:
            write_whole(files.ours, outcome.content, durable=False)
    except OSError as error:
        raise EnvironmentFaultError(f"cannot merge `{path}`: {error.strerror or error}") from error
    return outcome
