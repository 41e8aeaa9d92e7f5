"""Find the conflicts after a merge: unmerged files, conflict markers, and entries with two successors."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct

from mdmem.markdown.merge import ConflictSide, has_hunks, take_side
from mdmem.markdown.parse import Document, parse_document
from mdmem.model.entry import Entry, Status
from mdmem.store.catalog.links import EdgeKind, classify
from mdmem.store.catalog.model import Catalog
from mdmem.store.catalog.snapshot import interpret
from mdmem.store.git.status import list_file_status, list_staged, state_of
from mdmem.store.workspace.workspace import Workspace


class ConflictKind(StrEnum):
    """The cause of a conflict, in the words that the user sees."""

    CONTENT = "both sides changed it"
    ADDED = "both sides added it"
    OURS_DELETED = "ours deleted it, theirs changed it"
    THEIRS_DELETED = "theirs deleted it, ours changed it"
    SUCCESSORS = "two entries supersede it"


# The keys are the stages of a file in git's index: 1 is the merge base, 2 is ours, 3 is theirs.
_KINDS = {
    frozenset({2, 3}): ConflictKind.ADDED,
    frozenset({1, 3}): ConflictKind.OURS_DELETED,
    frozenset({1, 2}): ConflictKind.THEIRS_DELETED,
}


class FieldSides(Struct, frozen=True):
    """The values that both sides give to one field, or to the body."""

    name: str
    ours: Any
    theirs: Any


class SuccessorSide(Struct, frozen=True):
    """An entry that supersedes the entry in conflict. `side` is set if only one side of the merge has the link."""

    address: str
    title: str
    status: str
    reason: str | None
    side: ConflictSide | None = None


class Resolution(Struct, frozen=True):
    """One way to resolve a conflict: its effect, and the command to type."""

    does: str
    command: str


class MergeConflict(Struct, frozen=True, kw_only=True):
    """A conflict, with the values of both sides and the ways to resolve it."""

    path: str
    kind: ConflictKind
    fields: tuple[FieldSides, ...] = ()
    successors: tuple[SuccessorSide, ...] = ()
    choices: tuple[Resolution, ...] = ()

    @property
    def address(self) -> str:
        """Return the address of the entry: its path without the extension."""
        return self.path.removesuffix(".md")


class MergeConflicts(Struct, frozen=True):
    """All conflicts by path, git's name for the unfinished operation, and the commands that complete the operation."""

    found: tuple[MergeConflict, ...]
    operation: str | None = None
    then: tuple[str, ...] = ()


def find_conflicts(workspace: Workspace) -> MergeConflicts:
    """Return the conflicts in the files on disk."""
    location, repository = workspace.location, workspace.location.repository
    # The unmerged files in git's index, each with its stages.
    unmerged: dict[str, set[int]] = {}
    for blob in list_staged(repository, location.under) if repository is not None else ():
        path = blob.path.removeprefix(location.prefix)
        if blob.stage and path.endswith(".md") and workspace.access.sees(path):
            unmerged.setdefault(path, set()).add(blob.stage)
    marked = {one.place.path for one in workspace.catalog.findings if one.code == "merge-marker"}
    paths = sorted(unmerged.keys() | marked)
    found = [_conflict_of_file(workspace, path, frozenset(unmerged.get(path, ()))) for path in paths]
    split = {edge.old for edge in classify(workspace.catalog) if edge.kind is EdgeKind.TWO_SUCCESSORS}
    for old in sorted(split):
        if (path := f"{old}.md") not in paths:
            successors, kind = _successors(workspace.catalog, old), ConflictKind.SUCCESSORS
            choices = tuple(_choices_of_successors(old, successors))
            found.append(MergeConflict(path=path, kind=kind, successors=successors, choices=choices))
    operation = state_of(repository) if repository is not None else None
    unstaged = _list_unstaged(workspace) if operation is not None else ()
    # Resolving also writes the successors. Staging an unchanged successor has no effect.
    touched = {f"{side.address}.md" for one in found for side in one.successors}
    steps = completing_commands(workspace, sorted({*paths, *unstaged, *touched}))
    return MergeConflicts(tuple(sorted(found, key=lambda one: one.path)), operation, steps)


def left_to_stage(workspace: Workspace) -> str | None:
    """Return the command that stages the files resolved in the current merge, or None if nothing is left to stage."""
    repository = workspace.location.repository
    if repository is None or state_of(repository) is None:
        return None
    paths = sorted(_list_unstaged(workspace))
    return completing_commands(workspace, paths)[0] if paths else None


def completing_commands(workspace: Workspace, paths: Sequence[str]) -> tuple[str, ...]:
    """Return the commands that stage the given files and let git continue. Outside a merge there are none."""
    repository = workspace.location.repository
    operation = state_of(repository) if repository is not None else None
    if operation is None or repository is None:
        return ()
    files = " ".join(shlex.quote(str((workspace.location.root / path).relative_to(repository.top))) for path in paths)
    add = f"git -C {shlex.quote(str(repository.top))} add" if workspace.cwd != repository.top else "git add"
    return (*([f"{add} {files}"] if files else []), f"git {operation} --continue")


def successors_of(catalog: Catalog, old: str) -> tuple[str, ...]:
    """Return the entries that supersede an entry, if either of the two files has the link.

    Drafts are left out, and so are entries that were deprecated without a successor.
    """
    named = set(catalog.entries[old].superseded_by) if old in catalog.entries else set()
    claiming = {one.address for one in catalog.entries.values() if old in one.supersedes}

    def counts(entry: Entry) -> bool:
        is_abandoned = entry.status is Status.DEPRECATED and not entry.superseded_by and entry.address not in named
        return entry.status is not Status.DRAFT and not is_abandoned

    found = (one for one in named | claiming if one in catalog.entries)
    return tuple(sorted(one for one in found if counts(catalog.entries[one])))


def _list_unstaged(workspace: Workspace) -> Iterator[str]:
    """Yield the unstaged files of entries that supersede another or are superseded.

    Resolving a conflict may also write such files, even if git had merged them without a conflict.
    """
    repository, prefix = workspace.location.repository, workspace.location.prefix
    if repository is None:
        return
    linked = (one for one in workspace.catalog.entries.values() if one.supersedes or one.superseded_by)
    for one in list_file_status(repository, [f"{prefix}{entry.path}" for entry in linked]):
        if not one.is_untracked and one.code[-1] != ".":
            yield one.path.removeprefix(prefix)


def _conflict_of_file(workspace: Workspace, path: str, stages: frozenset[int]) -> MergeConflict:
    kind, location = _KINDS.get(stages, ConflictKind.CONTENT), workspace.location
    top = location.repository.top if location.repository is not None else location.root
    file = shlex.quote(str((location.root / path).relative_to(top)))
    whole = (
        Resolution("keep the file as it is on disk", f"git add {file}"),
        Resolution("delete the entry", f"git rm {file}"),
    )
    if kind in (ConflictKind.OURS_DELETED, ConflictKind.THEIRS_DELETED):
        return MergeConflict(path=path, kind=kind, choices=whole)
    content = workspace.bytes_of(path) or b""
    address = path.removesuffix(".md")
    sides = [parse_document(path, take_side(content, side)) for side in ConflictSide]
    fields = tuple(_differing_fields(*sides))
    successors = _successors(workspace.catalog, address, fields)
    addresses = {one.address for one in successors}
    # If both sides list all successors, the entry is split on purpose.
    stated = (interpret(side).entry for side in sides)
    if len(successors) > 1 and not all(one is not None and one.declares_split(addresses) for one in stated):
        kind, choices = ConflictKind.SUCCESSORS, tuple(_choices_of_successors(address, successors))
    else:
        successors = ()
        choices = tuple(Resolution(f"keep {side}", f"mdmem resolve {address} --take {side}") for side in ConflictSide)
    choices = choices if has_hunks(content) else whole
    return MergeConflict(path=path, kind=kind, fields=fields, successors=successors, choices=choices)


def _differing_fields(ours: Document, theirs: Document) -> Iterator[FieldSides]:
    mine: Mapping[str, Any] = ours.fields or {}
    other: Mapping[str, Any] = theirs.fields or {}
    for name in dict.fromkeys((*mine, *other)):
        if mine.get(name) != other.get(name):
            yield FieldSides(name, mine.get(name), other.get(name))
    if ours.body != theirs.body:
        yield FieldSides("body", ours.body.strip(), theirs.body.strip())


def _successors(catalog: Catalog, old: str, fields: Sequence[FieldSides] = ()) -> tuple[SuccessorSide, ...]:
    """Return the successors of an entry, each with the side of the merge that lists it in `superseded_by`."""
    side_of: dict[str, ConflictSide] = {}
    for one in fields:
        if one.name == "superseded_by":
            side_of |= dict.fromkeys(_links(one.theirs), ConflictSide.THEIRS)
            side_of |= dict.fromkeys(_links(one.ours), ConflictSide.OURS)
    addresses = {*successors_of(catalog, old), *(one for one in side_of if one in catalog.entries)}
    entries = (catalog.entries[address] for address in sorted(addresses))
    return tuple(
        SuccessorSide(one.address, one.title, one.status, one.reason, side_of.get(one.address)) for one in entries
    )


def _links(value: Any) -> list[str]:
    return [str(link) for link in value] if isinstance(value, list) else [str(value)] if value else []


def _choices_of_successors(old: str, successors: Sequence[SuccessorSide]) -> Iterator[Resolution]:
    command = f"mdmem resolve {old}"
    names = [one.address for one in successors]
    for one in names:
        others = [other for other in names if other != one]
        does = f"{one} supersedes it; {' and '.join(others)} {'is' if len(others) == 1 else 'are'} deprecated"
        yield Resolution(does, f"{command} --take {one} --reason TEXT")
    for one, other in (names, names[::-1]) if len(names) == 2 else ():
        yield Resolution(f"{one} supersedes it, then {other} supersedes {one}", f"{command} --behind {one}")
    yield Resolution("all of them supersede it, each for a part", f"{command} --split --reason TEXT")
