"""One merge of one file, as git asks its merge driver for it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mdmem.document.merge_marks import Marks
from mdmem.document.sides import Sides
from mdmem.document.three_way import Outcome, merge_entries
from mdmem.errors import EnvironmentFaultError
from mdmem.gitrepo.merge_file import merge_file, shows_base
from mdmem.regular_file import read_regular
from mdmem.state.files import write_whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Driven:
    """What git hands its driver: three files, the path that they are about, and how a conflict is marked."""

    files: Sides[Path]
    path: str
    width: int = 7
    labels: tuple[str, str] = ("ours", "theirs")


def drive(driven: Driven, cwd: Path) -> Outcome:
    """Merge three files and put the result in the place of ours, whole or not at all.

    Raises EnvironmentFaultError where a file cannot be read or written, and GitError where git cannot merge a text.
    """
    try:
        sides = driven.files.map(read_regular)
        outcome = _merged(driven, sides, cwd)
        if outcome.content != sides.ours:
            write_whole(driven.files.ours, outcome.content, durable=False)
    except OSError as error:
        raise EnvironmentFaultError(f"cannot merge `{driven.path}`: {error.strerror or error}") from error
    return outcome


def _merged(driven: Driven, sides: Sides[bytes], cwd: Path) -> Outcome:
    ours, theirs = driven.labels

    def by_git(texts: Sides[bytes]) -> tuple[bytes, bool]:
        versions = (texts.ours, texts.ancestor, texts.theirs)
        return merge_file(cwd, versions, labels=(ours, "base", theirs), width=driven.width)

    outcome = merge_entries(driven.path, sides, merge_text=by_git, marks=_marks(driven))
    if outcome.torn and shows_base(cwd):
        return merge_entries(driven.path, sides, merge_text=by_git, marks=_marks(driven, shows_base=True))
    return outcome


def _marks(driven: Driven, *, shows_base: bool = False) -> Marks:
    ours, theirs = driven.labels
    return Marks(ours=ours, theirs=theirs, width=driven.width, shows_base=shows_base)
