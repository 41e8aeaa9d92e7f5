"""What a merge left to be decided: files that git holds unmerged, marks in a file, an entry with two successors."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct

from mdmem.change.successors import successors_of
from mdmem.markdown.merge import ConflictSide, has_hunks, labels_of, take_side
from mdmem.markdown.parse import parse_document
from mdmem.store.catalog import Catalog, interpret
from mdmem.store.catalog.links import EdgeKind, classify
from mdmem.store.git import list_staged
from mdmem.store.git.status import list_file_status, state_of
from mdmem.store.workspace.workspace import Workspace


class ConflictKind(StrEnum):
    """How two sides stand against each other."""

    CONTENT = "both sides changed it"
    ADDED = "both sides added it"
    OURS_DELETED = "ours deleted it, theirs changed it"
    THEIRS_DELETED = "theirs deleted it, ours changed it"
    SUCCESSORS = "two entries replaced it"


class FieldSides(Struct, frozen=True):
    """One field as each side has it; of the body only that it differs."""

    name: str
    ours: Any
    theirs: Any


class SuccessorSide(Struct, frozen=True, kw_only=True):
    """An entry that replaced another, and the side that says so, where one does."""

    address: str
    title: str
    status: str
    reason: str | None
    side: ConflictSide | None = None


class Resolution(Struct, frozen=True):
    """One way out: what it does, and what to type."""

    does: str
    command: str


class MergeConflict(Struct, frozen=True, kw_only=True):
    """One thing to be decided: what each side says, and what the choices are."""

    path: str
    kind: ConflictKind
    labels: tuple[str, str] = ("ours", "theirs")
    fields: tuple[FieldSides, ...] = ()
    successors: tuple[SuccessorSide, ...] = ()
    choices: tuple[Resolution, ...] = ()

    @property
    def address(self) -> str:
        """Return the path without its ending."""
        return self.path.removesuffix(".md")


class MergeConflicts(Struct, frozen=True):
    """Everything to be decided, by path; `operation` is git's word for what is going on, `then` what ends it."""

    found: tuple[MergeConflict, ...]
    operation: str | None = None
    then: tuple[str, ...] = ()


def find_conflicts(workspace: Workspace) -> MergeConflicts:
    """Return what a merge left to be decided in the files as they are on disk."""
    unmerged = _unmerged(workspace)
    marked = {one.place.path for one in workspace.catalog.findings if one.code == "merge-marker"}
    paths = sorted(unmerged.keys() | marked)
    found = [_of_file(workspace, path, unmerged.get(path, frozenset())) for path in paths]
    forked = {edge.old for edge in classify(workspace.catalog) if edge.kind is EdgeKind.TWO_SUCCESSORS}
    found += [_of_fork(workspace.catalog, old) for old in sorted(forked) if f"{old}.md" not in paths]
    repository = workspace.location.repository
    operation = state_of(repository) if repository is not None else None
    changed = _half_decided(workspace) if operation is not None else ()
    # A choice writes successors, too; to stage one that it left as it was changes nothing.
    touched = {f"{side.address}.md" for one in found for side in one.successors}
    steps = ending(workspace, sorted({*paths, *changed, *touched}))
    return MergeConflicts(tuple(sorted(found, key=lambda one: one.path)), operation, steps)


def left_to_stage(workspace: Workspace) -> str | None:
    """Return what stages the rest of what was decided in a merge, None where nothing is left, or there is no merge."""
    repository = workspace.location.repository
    if repository is None or state_of(repository) is None:
        return None
    paths = sorted(_half_decided(workspace))
    return ending(workspace, paths)[0] if paths else None


def _half_decided(workspace: Workspace) -> Iterator[str]:
    """Yield the files of chains that differ from git's index: a choice writes successors that git merged by itself."""
    repository, under = workspace.location.repository, workspace.location.under
    if repository is None:
        return
    prefix = f"{under}/" if under else ""
    linked = (one for one in workspace.catalog.entries.values() if one.supersedes or one.superseded_by)
    for one in list_file_status(repository, [f"{prefix}{entry.path}" for entry in linked]):
        if not one.is_untracked and one.code[-1] != ".":
            yield one.path.removeprefix(prefix)


def ending(workspace: Workspace, paths: Sequence[str]) -> tuple[str, ...]:
    """Return what to type once files are decided, so that git goes on."""
    repository = workspace.location.repository
    operation = state_of(repository) if repository is not None else None
    if operation is None or repository is None:
        return ()
    files = " ".join(shlex.quote(str((workspace.location.root / path).relative_to(repository.top))) for path in paths)
    step = f"git -C {shlex.quote(str(repository.top))} add" if workspace.cwd != repository.top else "git add"
    return (*([f"{step} {files}"] if files else []), f"git {operation} --continue")


def _unmerged(workspace: Workspace) -> dict[str, frozenset[int]]:
    """Return the files that git's index holds unmerged, by path from the root, with the stages that are there."""
    repository, under = workspace.location.repository, workspace.location.under
    if repository is None:
        return {}
    found: dict[str, set[int]] = {}
    for blob in list_staged(repository, under):
        path = blob.path.removeprefix(f"{under}/") if under else blob.path
        if blob.stage and path.endswith(".md") and workspace.access.sees(path):
            found.setdefault(path, set()).add(blob.stage)
    return {path: frozenset(stages) for path, stages in found.items()}


_KINDS = {
    frozenset({2, 3}): ConflictKind.ADDED,
    frozenset({1, 3}): ConflictKind.OURS_DELETED,
    frozenset({1, 2}): ConflictKind.THEIRS_DELETED,
}


def _of_file(workspace: Workspace, path: str, stages: frozenset[int]) -> MergeConflict:
    kind = _KINDS.get(stages, ConflictKind.CONTENT)
    if kind in (ConflictKind.OURS_DELETED, ConflictKind.THEIRS_DELETED):
        return MergeConflict(path=path, kind=kind, choices=tuple(_of_whole(workspace, path)))
    content = workspace.bytes_of(path) or b""
    fields = tuple(_differing(path, content))
    successors = _successors(workspace.catalog, path, fields)
    is_forked = len(successors) > 1 and not _is_declared(path, content, successors)
    choices = _of_successors(path.removesuffix(".md"), successors) if is_forked else _of_content(path)
    return MergeConflict(
        path=path,
        kind=ConflictKind.SUCCESSORS if is_forked else kind,
        labels=labels_of(content) or ("ours", "theirs"),
        fields=fields,
        successors=successors if is_forked else (),
        choices=tuple(choices if has_hunks(content) else _of_whole(workspace, path)),
    )


def _is_declared(path: str, content: bytes, successors: Sequence[SuccessorSide]) -> bool:
    """Say whether both sides declare a split into all successors."""
    addresses = {one.address for one in successors}
    stated = [interpret(parse_document(path, take_side(content, side))).entry for side in ConflictSide]
    return all(entry is not None and entry.declares_split(addresses) for entry in stated)


def _differing(path: str, content: bytes) -> Iterator[FieldSides]:
    """Yield what differs between a file with our side of every conflict and with theirs."""
    ours, theirs = (parse_document(path, take_side(content, side)) for side in ConflictSide)
    mine: Mapping[str, Any] = ours.fields or {}
    other: Mapping[str, Any] = theirs.fields or {}
    for name in dict.fromkeys((*mine, *other)):
        if mine.get(name) != other.get(name):
            yield FieldSides(name, mine.get(name), other.get(name))
    if ours.body != theirs.body:
        yield FieldSides("body", ours.body.strip(), theirs.body.strip())


def _successors(catalog: Catalog, path: str, fields: Sequence[FieldSides] = ()) -> tuple[SuccessorSide, ...]:
    said = next((one for one in fields if one.name == "superseded_by"), None)
    sides = dict.fromkeys(_links(said.ours), ConflictSide.OURS) if said else {}
    sides |= {link: ConflictSide.THEIRS for link in _links(said.theirs) if link not in sides} if said else {}
    addresses = {*successors_of(catalog, path.removesuffix(".md")), *(one for one in sides if one in catalog.entries)}
    entries = [catalog.entries[address] for address in sorted(addresses)]
    return tuple(
        SuccessorSide(
            address=one.address, title=one.title, status=one.status, reason=one.reason, side=sides.get(one.address)
        )
        for one in entries
    )


def _links(value: Any) -> list[str]:
    return [str(link) for link in value] if isinstance(value, list) else [str(value)] if value else []


def _of_fork(catalog: Catalog, old: str) -> MergeConflict:
    successors = _successors(catalog, f"{old}.md")
    return MergeConflict(
        path=f"{old}.md",
        kind=ConflictKind.SUCCESSORS,
        successors=successors,
        choices=tuple(_of_successors(old, successors)),
    )


def _of_content(path: str) -> Iterator[Resolution]:
    for side in ConflictSide:
        yield Resolution(f"what {side} says holds", f"mdmem resolve {path.removesuffix('.md')} --take {side}")


def _of_whole(workspace: Workspace, path: str) -> Iterator[Resolution]:
    repository = workspace.location.repository
    top = repository.top if repository is not None else workspace.location.root
    file = shlex.quote(str((workspace.location.root / path).relative_to(top)))
    yield Resolution("the file stays as it is on disk", f"git add {file}")
    yield Resolution("the entry goes", f"git rm {file}")


def _of_successors(old: str, successors: Sequence[SuccessorSide]) -> Iterator[Resolution]:
    names = [one.address for one in successors]
    for one in names:
        others = " and ".join(other for other in names if other != one)
        yield Resolution(f"{one} replaced it; {others} is given up", f"mdmem resolve {old} --take {one} --reason TEXT")
    for one in names if len(names) == 2 else ():
        other = next(name for name in names if name != one)
        yield Resolution(
            f"{one} replaced it, and {other} replaces that: {other} holds", f"mdmem resolve {old} --behind {one}"
        )
    yield Resolution("each of them holds, for a part of it", f"mdmem resolve {old} --split --reason TEXT")
