"""Resolve a conflict after a merge: take one side of a file, or choose among the successors of an entry."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from msgspec import Struct
from msgspec.structs import replace

from mdmem.change.conflicts import ConflictKind, MergeConflict, completing_commands, find_conflicts, successors_of
from mdmem.checks.case import written_links
from mdmem.errors import NotFoundError, UsageError
from mdmem.markdown.merge import ConflictSide, has_hunks, take_side
from mdmem.model.entry import Status
from mdmem.store.catalog.addresses import full_address
from mdmem.store.catalog.model import Catalog
from mdmem.store.git.status import state_of
from mdmem.store.tree import TreeView
from mdmem.store.workspace.addresses import find_by_handle, from_root, resolve_name
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.change_set import Change, ChangeSet, Value, Verb, WriteAction, patched
from mdmem.write.supersede import join_addresses, refuse_unfit
from mdmem.write.write import WriteOptions, WriteResult, write

# Two supersessions of the same entry may differ in these fields.
_SUPERSESSION_FIELDS = frozenset({"superseded_by", "status", "deprecated_at", "deprecated_reason"})


class ResolveRequest(Struct, frozen=True, kw_only=True):
    """The user's choice: a side or successor to take, a successor that supersedes the taken one, or a split."""

    take: str | None = None
    behind: str | None = None
    split: bool = False
    reason: str = ""

    @property
    def side(self) -> ConflictSide | None:
        """Return the side to take, or None if the choice is not a side."""
        return ConflictSide(self.take) if self.take in tuple(ConflictSide) else None


def find_conflict(workspace: Workspace, name: str) -> MergeConflict:
    """Return the conflict of an entry. Raises NotFoundError, and UsageError if the name is ambiguous."""
    found = find_conflicts(workspace).found
    plain = from_root(workspace, name)
    meant = [one for one in found if one.address == plain]
    if not meant:
        handles = find_by_handle(workspace, plain)
        meant = [one for one in found if one.address.endswith(f"/{plain}") or one.address in handles]
    if len(meant) == 1:
        return meant[0]
    names = ", ".join(one.address for one in meant or found)
    if meant:
        raise UsageError(f"`{name}` means several: {names}; write one of them in full")
    raise NotFoundError(f"`{name}` has no conflict" + (f"; these have: {names}" if names else ""))


def resolve(workspace: Workspace, name: str, request: ResolveRequest, options: WriteOptions) -> WriteResult:
    """Resolve one conflict on disk. The remarks of the result are the git commands to type next.

    Raises NotFoundError, UsageError and the errors of `write`.
    """
    conflict = find_conflict(workspace, name)
    if conflict.kind in (ConflictKind.OURS_DELETED, ConflictKind.THEIRS_DELETED):
        commands = " or ".join(f"`{one.command}`" for one in conflict.choices)
        raise UsageError(f"{conflict.kind}: {conflict.path}; type {commands}")
    before = workspace.bytes_of(conflict.path)
    if before is None:
        raise NotFoundError(f"{conflict.path} cannot be read; `git checkout -m` restores it")
    change_set = _change_set(workspace, conflict, request, before)
    repository = workspace.location.repository
    if repository is not None and state_of(repository) is not None and options.commit is None:
        # `git merge --continue` creates the commit, so mdmem does not.
        options = replace(options, commit=False)
    written = write(workspace, lambda _: change_set, options)
    left = [one for one in find_conflicts(workspace).found if one.path != conflict.path]
    steps = completing_commands(workspace, sorted({change.to for change in written.changes}))
    remarks = [*written.remarks, *(f"then: {one}" for one in (steps[:-1] if left else steps))]
    remarks += [f"{len(left)} more to resolve: `mdmem resolve`"] if left else []
    changes = written.changes
    if not written.is_dry:
        # A file with conflict markers cannot be parsed, so the changes are shown relative to our side.
        ours = (one.before and take_side(one.before, ConflictSide.OURS) for one in changes)
        changes = tuple(replace(one, before=before) for one, before in zip(changes, ours, strict=True))
    return replace(written, remarks=tuple(remarks), changes=changes)


def _change_set(workspace: Workspace, conflict: MergeConflict, request: ResolveRequest, before: bytes) -> ChangeSet:
    path, side = conflict.path, request.side
    if side is not None and not has_hunks(before):
        raise UsageError(f"{path} has no conflict markers, so there is no {side}; name a successor")
    if len(conflict.successors) < 2:
        if side is None:
            raise UsageError(f"the sides of {path} are `ours` and `theirs`; type `--take ours` or `--take theirs`")
        change = Change(path, path, before, take_side(before, side))
        return ChangeSet((change,), actions=(WriteAction(Verb.UPDATE, conflict.address),))
    if side is None:
        behind = resolve_name(workspace, request.behind) if request.behind is not None else None
        take = resolve_name(workspace, request.take) if request.take is not None else None
        request = replace(request, behind=behind, take=take)
        if more := [f"`{one.name}`" for one in conflict.fields if one.name not in _SUPERSESSION_FIELDS]:
            raise UsageError(
                f"the sides of {path} differ in {' and '.join(more)}, too; edit that first, or `--take` a side"
            )
        chosen = request.take or request.behind or ""
        sides = (one.side for one in conflict.successors if one.address.endswith(chosen) and one.side)
        side = next(sides, ConflictSide.OURS)
    after = take_side(before, side)
    overlaid = TreeView(workspace.tree, changed={path: after})
    change_set = _choose_successor(workspace.over(overlaid).catalog, conflict, request, workspace.today)
    # The changes apply to the file as it is on disk, with its conflict markers.
    own = next((one for one in change_set.changes if one.path == path), Change(path, path, before, after))
    others = (one for one in change_set.changes if one.path != path and one.before != one.after)
    return replace(change_set, changes=(*others, replace(own, before=before)))


def _choose_successor(catalog: Catalog, conflict: MergeConflict, request: ResolveRequest, today: date) -> ChangeSet:
    """Return the changes that keep one successor, chain two successors, or let each supersede a part of the entry."""
    old, successors = conflict.address, successors_of(catalog, conflict.address)
    if request.split:
        why = _require_reason(request.reason)
        if len(successors) < 2:
            raise UsageError(f"{old} has {len(successors)} successors, so there is nothing to split")
        values = {one: _claim(catalog, one, old) for one in successors}
        values[old] = _deprecation(catalog, old, today, by=successors) | {"deprecated_reason": why}
        actions: tuple[WriteAction, ...] = (WriteAction(Verb.UPDATE, old),)
        return _patching(catalog, values, ChangeSet(actions=actions, supersedes=(old,), reason=why))
    chosen = request.behind or request.take or ""
    if request.side is not None:
        named = [one.address for one in conflict.successors if one.side is request.side]
        if len(named) != 1:
            raise UsageError(f"{request.side} has {len(named)} successors of {old}; name the one to keep")
        chosen = named[0]
    if chosen not in successors:
        did = f"; {join_addresses(successors)} did" if successors else ""
        raise UsageError(f"{chosen} did not supersede {old}{did}")
    others = [one for one in successors if one != chosen]
    values = {old: _deprecation(catalog, old, today, by=[chosen])}
    if request.behind is not None:
        return _chain(catalog, values, old, chosen, others, today)
    why = _require_reason(request.reason) if others else ""
    values = {chosen: _claim(catalog, chosen, old), **values}
    values |= {one: {"deprecated_reason": why, **_deprecation(catalog, one, today)} for one in others}
    actions = (WriteAction(Verb.SUPERSEDE, old, chosen), *(WriteAction(Verb.DEPRECATE, one) for one in others))
    return _patching(catalog, values, ChangeSet(actions=actions, supersedes=(old,), reason=why or None))


def _chain(
    catalog: Catalog, values: dict[str, dict[str, Value]], old: str, first: str, others: Sequence[str], today: date
) -> ChangeSet:
    """Return the changes after which `first` supersedes the entry, and the other successor supersedes `first`."""
    if len(others) != 1:
        many = f"{join_addresses(others)} would all supersede it" if others else "no other one could supersede it"
        raise UsageError(f"{first} supersedes {old}, and {many}; `mdmem supersede` replaces one at a time")
    then = catalog.entries[others[0]]
    if then.status is Status.DEPRECATED:
        raise UsageError(f"{then.address} is deprecated, so it cannot supersede anything; take the other one")
    refuse_unfit(catalog, catalog.entries[first], then, instead="nothing was written: `mdmem why {head}` shows it")
    written = written_links(catalog.document(then.path), "supersedes")
    links = [link for link in written if full_address(link, then.address, catalog.addresses) != old]
    behind = _claim(catalog, first, old) | _deprecation(catalog, first, today, by=[then.address])
    values = {then.address: {"supersedes": [*links, first]}, first: behind, **values}
    change_set = ChangeSet(
        actions=(WriteAction(Verb.SUPERSEDE, first, then.address),),
        supersedes=(old, first),
        reason=then.reason,
        remarks=(f"{then.address} is current now",),
    )
    return _patching(catalog, values, change_set)


def _patching(catalog: Catalog, values: dict[str, dict[str, Value]], change_set: ChangeSet) -> ChangeSet:
    changes = tuple(patched(catalog, f"{address}.md", stated) for address, stated in values.items())
    return replace(change_set, changes=changes)


def _require_reason(reason: str) -> str:
    if not reason.strip():
        raise UsageError("say why: --reason TEXT")
    return " ".join(reason.split())


def _deprecation(catalog: Catalog, address: str, today: date, *, by: Sequence[str] = ()) -> dict[str, Value]:
    """Return the fields that deprecate an entry. `by` are its successors, if there are any."""
    values: dict[str, Value] = {"superseded_by": list(by)} if by else {}
    if catalog.entries[address].status is not Status.DEPRECATED:
        values |= {"status": Status.DEPRECATED.value, "deprecated_at": today.isoformat()}
    return values


def _claim(catalog: Catalog, new: str, old: str) -> dict[str, Value]:
    """Return the `supersedes` field of a successor with the superseded entry added."""
    entry = catalog.entries[new]
    if old in entry.supersedes:
        return {}
    return {"supersedes": [*written_links(catalog.document(entry.path), "supersedes"), old]}
