"""Merge one file for git, as its merge driver."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from mdmem.disk import read_regular
from mdmem.errors import EnvironmentFaultError
from mdmem.markdown.merge import EntryMerge, Marks, Sides, merge_entries
from mdmem.store.git.merge import merge_file, shows_base
from mdmem.store.state.files import write_whole


class MergeDriverRequest(Struct, frozen=True, kw_only=True):
    """The arguments of git: three files, the path in the repository, and the form of conflict markers."""

    files: Sides[Path]
    path: str
    width: int = 7
    labels: tuple[str, str] = ("ours", "theirs")


def drive(request: MergeDriverRequest, cwd: Path) -> EntryMerge:
    """Merge three files, and replace ours by the result.

    Raises EnvironmentFaultError if a file cannot be read or written, and GitError if git cannot merge a text.
    """
    try:
        sides = request.files.map(read_regular)
        outcome = _merged(request, sides, cwd)
        if outcome.content != sides.ours:
            write_whole(request.files.ours, outcome.content, durable=False)
    except OSError as error:
        raise EnvironmentFaultError(f"cannot merge `{request.path}`: {error.strerror or error}") from error
    return outcome


def _merged(request: MergeDriverRequest, sides: Sides[bytes], cwd: Path) -> EntryMerge:
    ours, theirs = request.labels

    def by_git(texts: Sides[bytes]) -> tuple[bytes, bool]:
        versions = (texts.ours, texts.ancestor, texts.theirs)
        return merge_file(cwd, versions, labels=(ours, "base", theirs), width=request.width)

    outcome = merge_entries(request.path, sides, merge_text=by_git, marks=_marks(request))
    if outcome.torn and shows_base(cwd):
        return merge_entries(request.path, sides, merge_text=by_git, marks=_marks(request, shows_base=True))
    return outcome


def _marks(request: MergeDriverRequest, *, shows_base: bool = False) -> Marks:
    ours, theirs = request.labels
    return Marks(ours=ours, theirs=theirs, width=request.width, shows_base=shows_base)
