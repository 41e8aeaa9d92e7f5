"""Deciding what a merge left open: the marks of one file, and the entries that its successors are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from mdmem.change.conflicts import ConflictKind, MergeConflict, ending, find_conflicts
from mdmem.change.successors import chain, keep_one, split
from mdmem.errors import NotFoundError, UsageError
from mdmem.markdown.merge import ConflictSide, has_hunks, take_side
from mdmem.store.catalog import Catalog
from mdmem.store.git.status import state_of
from mdmem.store.tree import OverlaidTree
from mdmem.store.workspace.addresses import find_by_handle, from_root, resolve_name
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.change_set import Change, ChangeSet, Verb, WriteAction
from mdmem.write.write import WriteOptions, WriteResult, write

# What two successors of one entry make different in its own front matter.
_OF_SUCCESSION = frozenset({"superseded_by", "status", "deprecated_at", "deprecated_reason"})


class ResolveRequest(Struct, frozen=True, kw_only=True):
    """How something is to be decided: a side or a successor that stays, one that comes first, or all of them."""

    take: str | None = None
    behind: str | None = None
    split: bool = False
    reason: str = ""

    @property
    def side(self) -> ConflictSide | None:
        """Return the side that is taken, None where something else is."""
        return ConflictSide(self.take) if self.take in tuple(ConflictSide) else None


def find_conflict(workspace: Workspace, name: str) -> MergeConflict:
    """Return what is to be decided about an entry; raises NotFoundError where nothing is."""
    found = find_conflicts(workspace).found
    plain = from_root(workspace, name)
    meant = [one for one in found if one.address == plain] or [
        one for one in found if one.address.endswith(f"/{plain}")
    ]
    if not meant:
        handled = find_by_handle(workspace, plain)
        meant = [one for one in found if one.address in handled]
    if len(meant) == 1:
        return meant[0]
    listed = ", ".join(one.address for one in meant or found)
    if meant:
        raise UsageError(f"`{name}` means several: {listed}; write one of them in full")
    raise NotFoundError(f"nothing is to be decided about `{name}`" + (f"; there is {listed}" if listed else ""))


def resolve(workspace: Workspace, name: str, request: ResolveRequest, options: WriteOptions) -> WriteResult:
    """Decide one conflict and write what follows from it; git is told nothing, `remarks` say what to type.

    Raises NotFoundError, UsageError and what `write` raises.
    """
    conflict = find_conflict(workspace, name)
    if conflict.kind in (ConflictKind.OURS_DELETED, ConflictKind.THEIRS_DELETED):
        help_ = " or ".join(f"`{one.command}`" for one in conflict.choices)
        raise UsageError(f"{conflict.kind}: {conflict.path}; type {help_}")
    before = workspace.bytes_of(conflict.path)
    if before is None:
        raise NotFoundError(f"{conflict.path} cannot be read; `git checkout -m` brings it back")
    change_set = _change_set(workspace, conflict, request, before)
    written = write(workspace, lambda _: change_set, _options(workspace, options))
    remarks = (*written.remarks, *_next(workspace, written, conflict))
    # Nobody reads fields out of a file with marks in it: what changed is told from our side of them.
    shown = written.changes if written.is_dry else tuple(map(_unmarked, written.changes))
    return replace(written, remarks=remarks, changes=shown)


def _unmarked(change: Change) -> Change:
    return replace(change, before=take_side(change.before, ConflictSide.OURS)) if change.before is not None else change


def _next(workspace: Workspace, written: WriteResult, decided: MergeConflict) -> Iterator[str]:
    """Yield what to type next; git goes on when nothing else is left."""
    left = [one for one in find_conflicts(workspace).found if one.path != decided.path]
    steps = ending(workspace, sorted({change.to for change in written.changes}))
    yield from (f"then: {one}" for one in (steps[:-1] if left else steps))
    if left:
        yield f"{len(left)} more to be decided: `mdmem resolve`"


def _options(workspace: Workspace, options: WriteOptions) -> WriteOptions:
    """Leave the commit to git while it waits for one, whatever the settings say."""
    repository = workspace.location.repository
    is_waiting = repository is not None and state_of(repository) is not None
    return replace(options, commit=False) if is_waiting and options.commit is None else options


def _change_set(workspace: Workspace, conflict: MergeConflict, request: ResolveRequest, before: bytes) -> ChangeSet:
    if request.side is not None and not has_hunks(before):
        raise UsageError(
            f"{conflict.path} holds no marks of a conflict, so there is no {request.side}; name a successor"
        )
    if len(conflict.successors) < 2:
        return _by_side(conflict, request, before)
    if request.side is None:
        behind = resolve_name(workspace, request.behind) if request.behind is not None else None
        take = resolve_name(workspace, request.take) if request.take is not None else None
        request = replace(request, behind=behind, take=take)
        _refuse_more(conflict)
    side = request.side or _side_of(conflict, request)
    after = take_side(before, side)
    overlaid = OverlaidTree(workspace.tree).with_changes({conflict.path: after}, ())
    catalog = workspace.over(overlaid).catalog
    change_set = _of_successors(workspace, catalog, conflict, request)
    changes = _from(change_set.changes, Change(conflict.path, conflict.path, before, after))
    return replace(change_set, changes=changes)


def _by_side(conflict: MergeConflict, request: ResolveRequest, before: bytes) -> ChangeSet:
    if request.side is None:
        raise UsageError(f"the sides of {conflict.path} are `ours` and `theirs`; type `--take ours` or `--take theirs`")
    change = Change(conflict.path, conflict.path, before, take_side(before, request.side))
    return ChangeSet((change,), actions=(WriteAction(Verb.UPDATE, conflict.address),))


def _side_of(conflict: MergeConflict, request: ResolveRequest) -> ConflictSide:
    """Return the side that names the successor which is named; either where none does."""
    named = request.take or request.behind or ""
    sides = [one.side for one in conflict.successors if one.address.endswith(named) and one.side]
    return sides[0] if sides else ConflictSide.OURS


def _refuse_more(conflict: MergeConflict) -> None:
    """Raise where a choice of successors would decide something else in passing."""
    more = [one.name for one in conflict.fields if one.name not in _OF_SUCCESSION]
    if more:
        listed = " and ".join(f"`{name}`" for name in more)
        raise UsageError(f"the sides of {conflict.path} differ in {listed}, too; edit that first, or `--take` a side")


def _of_successors(
    workspace: Workspace, catalog: Catalog, conflict: MergeConflict, request: ResolveRequest
) -> ChangeSet:
    old, today = conflict.address, workspace.today
    if request.split:
        return split(catalog, old, reason=request.reason, today=today)
    if request.behind is not None:
        return chain(catalog, old, first=request.behind, today=today)
    if request.side is not None:
        stays = [one.address for one in conflict.successors if one.side is request.side]
        if len(stays) != 1:
            raise UsageError(f"{request.side} names {len(stays)} successors of {old}; name the one that stays")
        return keep_one(catalog, old, stays=stays[0], reason=request.reason, today=today)
    return keep_one(catalog, old, stays=request.take or "", reason=request.reason, today=today)


def _from(changes: Sequence[Change], decided: Change) -> tuple[Change, ...]:
    """Return changes that start from the file with its marks instead of from the decided one."""
    kept = [
        replace(one, before=decided.before) if one.path == decided.path else one
        for one in changes
        if one.before != one.after or one.path == decided.path
    ]
    is_in = any(one.path == decided.path for one in kept)
    return (*kept, *([] if is_in else [decided]))
