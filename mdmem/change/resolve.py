"""Find the conflicts after a merge, and resolve one: take a side of a file, or choose among an entry's successors."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from datetime import date
from enum import StrEnum
from itertools import count
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from mdmem.checks.case import Case, written_links
from mdmem.checks.fixes import deprecation_fields, fields_of, relative
from mdmem.checks.run import CheckRequest, check
from mdmem.errors import MdmemError, NotFoundError, UsageError
from mdmem.markdown.front_matter import as_list
from mdmem.markdown.layout import apply_edits
from mdmem.markdown.merge import ConflictSide, Sides, has_hunks, take_side, without_equal_sides, without_quoted
from mdmem.markdown.parse import parse_document
from mdmem.markdown.patch import set_fields
from mdmem.model.entry import Status
from mdmem.model.text import shell_word, visible
from mdmem.store.catalog.addresses import full_address, is_entry_place, load_entry
from mdmem.store.catalog.links import EdgeKind, classify
from mdmem.store.catalog.model import Catalog
from mdmem.store.git.process import read_blobs
from mdmem.store.git.status import list_file_status, list_staged, state_of
from mdmem.store.tree import TreeView
from mdmem.store.workspace.addresses import find_by_handle, from_here, from_root, resolve_name
from mdmem.store.workspace.location import Location, Snapshot
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.change_set import Change, ChangeSet, Value, Verb, WriteAction, patched
from mdmem.write.create import join_addresses, refuse_unfit, required_reason
from mdmem.write.move import plan_moves
from mdmem.write.write import WriteOptions, WriteResult, write

# Two supersessions of the same entry may differ in these fields.
_SUPERSESSION_FIELDS = frozenset({"superseded_by", "status", "deprecated_at", "deprecated_reason"})


class ConflictKind(StrEnum):
    """The cause of a conflict, in the words that the user sees."""

    CONTENT = "both sides changed it"
    ADDED = "both sides added it"
    OURS_DELETED = "ours deleted it, theirs changed it"
    THEIRS_DELETED = "theirs deleted it, ours changed it"
    SUCCESSORS = "two entries supersede it"
    MOVED = "both sides moved it"
    PLACED = "git moved it here, because the other side moved its folder"
    UNMARKED = "no conflict markers are left, so only git's index has the conflict"
    QUOTED = "it has conflict markers in a code fence; edit it by hand, and indent markers that are an example"


# The keys are the stages of a file in git's index: 1 is the merge base, 2 is ours, 3 is theirs.
_KINDS = {
    frozenset({2, 3}): ConflictKind.ADDED,
    frozenset({1, 3}): ConflictKind.OURS_DELETED,
    frozenset({1, 2}): ConflictKind.THEIRS_DELETED,
    frozenset({2}): ConflictKind.PLACED,
    frozenset({3}): ConflictKind.PLACED,
}
_DELETED = (ConflictKind.OURS_DELETED, ConflictKind.THEIRS_DELETED)


class FieldSides(Struct, frozen=True):
    """The two values of one field (or of the body) in a conflict: one of each side of the merge."""

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
    """A conflict, with the values of both sides and the ways to resolve it.

    `other` is the new address on their side if both sides moved the entry.
    """

    path: str
    kind: ConflictKind
    fields: tuple[FieldSides, ...] = ()
    successors: tuple[SuccessorSide, ...] = ()
    choices: tuple[Resolution, ...] = ()
    other: str = ""

    @property
    def address(self) -> str:
        """Return the address of the entry: its path without the extension."""
        return self.path.removesuffix(".md")


class MergeConflicts(Struct, frozen=True):
    """All conflicts by path, git's current operation (such as `merge`) or None, and the commands that complete it."""

    found: tuple[MergeConflict, ...]
    operation: str | None = None
    then: tuple[str, ...] = ()


def find_conflicts(workspace: Workspace) -> MergeConflicts:
    """Return the conflicts: unmerged files, files with conflict markers, and entries that two others supersede."""
    found, paths = _find(workspace)
    location, operation = workspace.location, _operation(workspace)
    if any(one.kind in (ConflictKind.MOVED, ConflictKind.PLACED) for one in found):
        # Their choice changes other files, or links to them, so the next conflicts and commands are only known then.
        return MergeConflicts(tuple(found), operation, then=(location.command("resolve"),))
    # Resolving also writes the successors. Staging an unchanged successor has no effect.
    touched = {*paths, *(f"{side.address}.md" for one in found for side in one.successors)}
    unstaged, fixed = _other_files(workspace, paths) if operation is not None else (set[str](), set[str]())
    # The choices for an entry that one side deleted are git commands, after which there is nothing to stage.
    deleted = {one.path for one in found if one.kind in _DELETED}
    steps = _completing_commands(workspace, (touched | unstaged | fixed) - deleted)
    return MergeConflicts(tuple(found), operation, (location.command("check --fix"), *steps) if fixed else steps)


def _other_files(workspace: Workspace, paths: Sequence[str]) -> tuple[set[str], set[str]]:
    """Return the unstaged files that were written for earlier conflicts, and the files that `check --fix` changes."""
    # If both sides moved an entry, any entry may have had a link to it.
    entries, is_moved = workspace.catalog.entries.values(), any(workspace.bytes_of(path) is None for path in paths)
    # An earlier resolution may have written entries with a supersession, or with the reason of a removed one.
    written = {one.path for one in entries if is_moved or one.supersedes or one.superseded_by or one.reason}
    fixed: set[str] = set()
    # If the conflict is in the settings, the conflicts of entries are shown nevertheless.
    with suppress(MdmemError):
        staged, report = check(workspace.at(Snapshot(staged=True)), CheckRequest()), check(workspace, CheckRequest())
        # `mdmem check --fix` may have written files that have new findings in git's index.
        written |= {one.place.path for one in staged.findings if one.new}
        caused = {(one.code, one.place.path) for one in staged.findings if one.new or staged.fails(one)}
        fixable = [(one, one.fix) for one in report.findings if one.fix is not None and one.fix.is_safe]
        caused |= {(one.code, one.place.path) for one, _ in fixable if one.place.path in paths}
        fixes = [(one, fix) for one, fix in fixable if is_moved or (one.code, one.place.path) in caused]
        # Fixes come first only if the hook would refuse one of these findings, or if two links may be one now.
        if is_moved or any(report.fails(one) for one, _ in fixes):
            fixed = {edit.path for _, fix in fixes for edit in fix.edits}
    prefix = workspace.location.prefix
    states = list_file_status(workspace.location.get_repository(), [f"{prefix}{path}" for path in sorted(written)])
    unstaged = (one.path for one in states if not one.is_untracked and one.code[-1] != ".")
    return {path.removeprefix(prefix) for path in unstaged}, fixed


def _find(workspace: Workspace) -> tuple[list[MergeConflict], list[str]]:
    """Return the conflicts by path, and the paths of those that are in a file.

    If both sides moved an entry, only such conflicts are returned, since other conflicts may be about its address.
    """
    location, repository = workspace.location, workspace.location.repository
    # The unmerged files in git's index, each with its stages and their hashes.
    unmerged: dict[str, dict[int, str]] = {}
    for blob in list_staged(repository, location.under) if repository is not None else ():
        path = blob.path.removeprefix(location.prefix)
        if blob.stage and path.endswith(".md") and workspace.access.sees(path):
            unmerged.setdefault(path, {})[blob.stage] = blob.digest
    marked = {one.place.path for one in workspace.catalog.findings if one.code == "merge-marker"}
    paths = sorted(unmerged.keys() | marked)
    # A file of only one side that is gone needs no choice any more.
    gone = {path for path, one in unmerged.items() if len(one) == 1 and not os.path.lexists(location.root / path)}
    listed = [path for path in paths if path not in gone]
    # Git writes the same merged file to both new places.
    ours = {one[2]: path for path, one in unmerged.items() if one.keys() == {2} and path not in gone}
    theirs = {one[3]: path for path, one in unmerged.items() if one.keys() == {3} and path not in gone}
    if both := sorted((path, theirs[digest]) for digest, path in ours.items() if digest in theirs):
        return [_conflict_of_places(workspace, *sides) for sides in both], paths
    # Of an entry that both sides moved, only the place that was chosen is left.
    was_chosen = any(one.keys() == {1} for one in unmerged.values())
    stages = {
        path: frozenset[int]() if was_chosen and len(one) == 1 else frozenset(one) for path, one in unmerged.items()
    }
    found = [_conflict_of_file(workspace, path, stages.get(path, frozenset())) for path in listed]
    split = {edge.old for edge in classify(workspace.catalog) if edge.kind is EdgeKind.TWO_SUCCESSORS}
    for old in sorted(split):
        if (path := f"{old}.md") not in paths:
            successors, kind = _successors(workspace.catalog, old), ConflictKind.SUCCESSORS
            choices = _choices_of_successors(location, old, successors)
            found.append(MergeConflict(path=path, kind=kind, successors=successors, choices=choices))
    return sorted(found, key=lambda one: one.path), paths


def _conflict_of_places(workspace: Workspace, path: str, other: str) -> MergeConflict:
    ours, theirs = path.removesuffix(".md"), other.removesuffix(".md")
    command = workspace.location.command(f"resolve {shell_word(ours)} --take")
    commands = [f"{command} ours", f"{command} theirs"]
    if None in map(workspace.bytes_of, (path, other)):
        # A file in a hidden folder is no entry, so git has to remove one of the two.
        commands = [_git_command(workspace, "rm", one) for one in (other, path)]
    choices = tuple(Resolution(f"keep it at {place}", one) for place, one in zip((ours, theirs), commands, strict=True))
    return MergeConflict(path=path, kind=ConflictKind.MOVED, other=theirs, choices=choices)


def _operation(workspace: Workspace) -> str | None:
    repository = workspace.location.repository
    return state_of(repository) if repository is not None else None


def _completing_commands(workspace: Workspace, paths: Collection[str]) -> tuple[str, ...]:
    """Return the commands that stage the given files and let git continue; none if nothing is in progress."""
    operation = _operation(workspace)
    if operation is None:
        return ()
    staging = [_git_command(workspace, "add", *sorted(paths))] if paths else []
    return (*staging, f"git {operation} --continue")


def _git_command(workspace: Workspace, verb: str, *paths: str) -> str:
    """Return a git command for files of the memory, as it must be typed in the current folder."""
    repository = workspace.location.repository
    top = repository.top if repository is not None else workspace.location.root
    is_inside = workspace.cwd.is_relative_to(top)
    shown = from_here(workspace if is_inside else replace(workspace, cwd=top))
    files = [shown(path) for path in paths]
    program = "git" if is_inside else f"git -C {shell_word(str(top))}"
    # Such a name would be an option, or a pattern that other files match, too.
    if any(re.search(r"^[-:]|[*?\[\\]", one) for one in files):
        program, verb = f"{program} --literal-pathspecs", f"{verb.removesuffix(' --')} --"
    return " ".join([program, verb, *map(shell_word, files)])


def successors_of(catalog: Catalog, old: str) -> tuple[str, ...]:
    """Return the sorted entries that supersede `old` or that it lists, without drafts and unlisted deprecated ones."""
    named = set(catalog.entries[old].superseded_by) if old in catalog.entries else set()
    found = (
        one.address
        for one in catalog.entries.values()
        if one.status is not Status.DRAFT
        if one.address in named
        or (old in one.supersedes and (one.status is not Status.DEPRECATED or one.superseded_by))
    )
    return tuple(sorted(found))


def _sides_of(workspace: Workspace, path: str) -> Sides[bytes] | None:
    """Return the versions of an unmerged file in git's index, or None if git has no version of both sides."""
    location, repository = workspace.location, workspace.location.repository
    staged = list_staged(repository, f"{location.prefix}{path}") if repository is not None else ()
    digests = {blob.stage: blob.digest for blob in staged}
    if repository is None or not digests.keys() >= {2, 3}:
        return None
    contents = dict(read_blobs(repository, digests.values()))
    base, ours, theirs = (contents.get(digests.get(stage, "")) or b"" for stage in (1, 2, 3))
    return Sides(base, ours, theirs)


def _conflict_of_file(workspace: Workspace, path: str, stages: frozenset[int]) -> MergeConflict:
    kind = _KINDS.get(stages, ConflictKind.CONTENT)
    whole = (Resolution("keep the file as it is on disk", _git_command(workspace, "add", path)),)
    if kind in _DELETED:
        delete = Resolution("delete the entry", _git_command(workspace, "rm", path))
        return MergeConflict(path=path, kind=kind, choices=(*whole, delete))
    content, versions = workspace.bytes_of(path) or b"", _sides_of(workspace, path)
    own = without_quoted(content, versions)
    if versions is None and has_hunks(content) and not has_hunks(own):
        return MergeConflict(path=path, kind=ConflictKind.QUOTED)
    address, location = path.removesuffix(".md"), workspace.location
    sides = [parse_document(path, take_side(content, side, versions)) for side in ConflictSide]
    mine, other = (fields_of(side) for side in sides)
    ours, theirs = (side.body for side in sides)
    names = (name for name in dict.fromkeys((*mine, *other)) if mine.get(name) != other.get(name))
    fields = tuple(FieldSides(name, mine.get(name), other.get(name)) for name in names)
    fields += (FieldSides("body", ours.strip(), theirs.strip()),) if ours != theirs else ()
    successors = _successors(workspace.catalog, address, fields)
    addresses = {one.address for one in successors}
    # If both sides list all successors, the entry is split on purpose.
    stated = (load_entry(side).entry for side in sides)
    if len(successors) > 1 and not all(one is not None and one.declares_split(addresses) for one in stated):
        kind, choices = ConflictKind.SUCCESSORS, _choices_of_successors(location, address, successors)
    else:
        successors = successors if len(successors) == 1 and has_hunks(own) else ()
        command = location.command(f"resolve {shell_word(address)}")
        keeps = {side: f"keep {side}" for side in ConflictSide}
        for one in successors:
            if one.side is not None:
                opposite = ConflictSide.OURS if one.side is ConflictSide.THEIRS else ConflictSide.THEIRS
                keeps[opposite] += f"; {one.address} no longer supersedes it"
        choices = tuple(Resolution(does, f"{command} --take {side}") for side, does in keeps.items())
        if kind is ConflictKind.ADDED:
            numbered = (f"{address}-{number}" for number in count(2))
            free = next(one for one in numbered if not os.path.lexists(location.root / f"{one}.md"))
            show = _git_command(workspace, f"show {shell_word(f':3:{location.prefix}{path}')}")
            copy = f"{show} > {shell_word(from_here(workspace)(f'{free}.md'))}"
            both = f"{copy} && {_git_command(workspace, 'add', f'{free}.md')} && {choices[0].command}"
            choices += (Resolution(f"keep ours, and theirs as {free}", both),)
    choices = choices if has_hunks(own) else whole
    if kind in (ConflictKind.CONTENT, ConflictKind.ADDED) and b"<<<<<<<" not in own:
        kind = ConflictKind.UNMARKED
    return MergeConflict(path=path, kind=kind, fields=fields, successors=successors, choices=choices)


def _successors(catalog: Catalog, old: str, fields: Sequence[FieldSides] = ()) -> tuple[SuccessorSide, ...]:
    """Return the successors of an entry, each with the side of the merge that lists it in `superseded_by`."""
    sides: dict[str, ConflictSide] = {}
    for one in fields:
        if one.name == "superseded_by":
            for side, value in ((ConflictSide.THEIRS, one.theirs), (ConflictSide.OURS, one.ours)):
                sides |= dict.fromkeys(map(str, as_list(value)), side)
    addresses = {*successors_of(catalog, old), *(one for one in sides if one in catalog.entries)}
    found = (catalog.entries[address] for address in sorted(addresses))
    return tuple(SuccessorSide(one.address, one.title, one.status, one.reason, sides.get(one.address)) for one in found)


def _choices_of_successors(location: Location, old: str, successors: Sequence[SuccessorSide]) -> tuple[Resolution, ...]:
    command, found = location.command(f"resolve {shell_word(old)}"), list[Resolution]()
    names = [one.address for one in successors]
    for one in names:
        others = [other for other in names if other != one]
        does = f"{one} supersedes it; {' and '.join(others)} {'is' if len(others) == 1 else 'are'} deprecated"
        found.append(Resolution(does, f"{command} --take {shell_word(one)} --reason TEXT"))
    for one, other in (names, names[::-1]) if len(names) == 2 else ():
        does = f"{one} supersedes it, then {other} supersedes {one}"
        found.append(Resolution(does, f"{command} --behind {shell_word(one)}"))
    return (*found, Resolution("all of them supersede it, each for a part", f"{command} --split --reason TEXT"))


class ResolveRequest(Struct, frozen=True, kw_only=True):
    """The user's choice for a conflict between two sides or between several successors of one entry.

    `take` is the side or the successor to keep. `behind` is the successor that the other one supersedes, after it has
    superseded the entry. With `split`, each successor supersedes a part of the entry.
    """

    take: str | None = None
    behind: str | None = None
    split: bool = False
    reason: str = ""

    @property
    def side(self) -> ConflictSide | None:
        """Return the side to take, or None if the choice is not a side."""
        return ConflictSide(self.take) if self.take in tuple(ConflictSide) else None


def get_conflict(workspace: Workspace, name: str) -> MergeConflict:
    """Return the conflict of an entry. Raises NotFoundError, and UsageError if the name is ambiguous."""
    found, _ = _find(workspace)
    plain = from_root(workspace, name)
    meant = [one for one in found if plain in (one.address, one.other)]
    if not meant:
        handles = find_by_handle(workspace, plain)
        meant = [one for one in found if one.address.endswith(f"/{plain}") or one.address in handles]
    if len(meant) == 1:
        return meant[0]
    names = ", ".join(visible(one.address) for one in meant or found)
    if meant:
        raise UsageError(f"`{name}` matches several conflicts: {names}; write one address in full")
    raise NotFoundError(f"`{name}` has no conflict" + (f"; these have: {names}" if names else ""))


def resolve(workspace: Workspace, name: str, request: ResolveRequest, options: WriteOptions) -> WriteResult:
    """Resolve one conflict in the files. The remarks are the git commands to run next. Raises the errors of `write`."""
    conflict = get_conflict(workspace, name)
    if conflict.kind in (*_DELETED, ConflictKind.MOVED) and conflict.choices[0].command.startswith("git "):
        commands = " or ".join(f"`{one.command}`" for one in conflict.choices)
        raise UsageError(f"{conflict.kind}: {visible(conflict.path)}; type {commands}")
    if conflict.kind is ConflictKind.QUOTED:
        raise UsageError(f"{visible(conflict.path)}: {conflict.kind}")
    before = workspace.bytes_of(conflict.path)
    if before is None:
        restore = _git_command(workspace, "checkout -m --", conflict.path)
        raise NotFoundError(f"{visible(conflict.path)} cannot be read; `{restore}` restores it")
    change_set = _plan_choice(workspace, conflict, request, before)
    if _operation(workspace) is not None and options.commit is None:
        # `git merge --continue` creates the commit, so mdmem does not.
        options = replace(options, commit=False)
    written = write(workspace, lambda _: change_set, options)
    others = (one for one in _find(workspace.reread())[0] if one.path != conflict.path or not written.is_dry)
    left = [one for one in others if one.kind not in (ConflictKind.UNMARKED, ConflictKind.QUOTED)]
    if left or written.is_dry:
        # The choice of a place also changes files that have other conflicts. To add these would end their conflicts.
        after = {one.to: without_quoted(one.after or b"", _sides_of(workspace, one.to)) for one in written.changes}
        done = {path for path, content in after.items() if not has_hunks(content)}
        steps = _completing_commands(workspace, done - {path for one in left for path in (one.path, f"{one.other}.md")})
    else:
        steps = find_conflicts(workspace.reread()).then
    remarks = [*written.remarks, *(f"then: {one}" for one in (steps[:-1] if left else steps))]
    remarks += [f"{len(left)} more to resolve: `mdmem resolve`"] if left else []
    changes = list(written.changes)
    for number, one in enumerate(changes) if not written.is_dry else ():
        # A file with conflict markers cannot be parsed, so the change is shown relative to our side.
        ours = one.before and take_side(one.before, ConflictSide.OURS, _sides_of(workspace, one.path))
        changes[number] = replace(one, before=ours)
    return replace(written, remarks=tuple(remarks), changes=tuple(changes))


def _keep_place(workspace: Workspace, conflict: MergeConflict, side: ConflictSide | None) -> ChangeSet:
    """Return the changes that keep an entry at its place on one side, with all links to it, and delete the other."""
    if side is None:
        raise UsageError(f"both sides moved {visible(conflict.address)}; type `--take ours` or `--take theirs`")
    places = conflict.address, conflict.other
    kept, gone = places if side is ConflictSide.OURS else places[::-1]
    catalog = workspace.over(TreeView(workspace.tree, gone=frozenset({f"{kept}.md"}))).whole_catalog
    under = workspace.location.under if workspace.location.repository is not None else None
    moving = ChangeSet()
    if is_entry_place(f"{gone}.md"):
        moving = plan_moves(Case(catalog, workspace.settings, workspace.today), {gone: kept}, under=under)
    changes = {one.path: one for one in moving.changes}
    for path in {one.place.path for one in catalog.findings if one.code == "merge-marker"}:
        before = workspace.bytes_of(path) or b""
        text = before.decode("utf-8", "surrogateescape")
        # A link is written as the address, or as the path from the file.
        links = {gone: kept, relative(f"{gone}.md", path, ""): relative(f"{kept}.md", path, "")}
        for old, new in links.items():
            text = re.sub(rf"(?<![\w/-]){re.escape(old)}(?![\w/-])", new.replace("\\", r"\\"), text)
        after = without_equal_sides(text.encode("utf-8", "surrogateescape"), _sides_of(workspace, path))
        changes[path] = Change(path, path, before, after)
    changes[f"{gone}.md"] = Change(f"{gone}.md", f"{gone}.md", workspace.bytes_of(f"{gone}.md"), None)
    return replace(moving, changes=tuple(changes.values()), remarks=())


def _plan_choice(workspace: Workspace, conflict: MergeConflict, request: ResolveRequest, before: bytes) -> ChangeSet:
    path, side, successors = conflict.path, request.side, conflict.successors
    shown, versions = visible(path), _sides_of(workspace, path)
    if conflict.kind is ConflictKind.MOVED:
        return _keep_place(workspace, conflict, side)
    has_markers = has_hunks(without_quoted(before, versions))
    if len(successors) < 2:
        if not has_markers:
            keep = _git_command(workspace, "add", path)
            raise UsageError(f"`{shown}` has no conflict markers any more; to keep the file as it is, type `{keep}`")
        if side is None:
            raise UsageError(f"the sides of {shown} are `ours` and `theirs`; type `--take ours` or `--take theirs`")
        old, after = conflict.address, take_side(before, side, versions)
        if versions is not None and any(one.name in _SUPERSESSION_FIELDS for one in conflict.fields):
            # A part of how the other side ended the entry may be merged without a conflict.
            both = (versions.ours, versions.theirs)[:: 1 if side is ConflictSide.OURS else -1]
            now, mine, other = (fields_of(parse_document(path, content)) for content in (after, *both))
            # Without fields, the front matter is not readable, and the write says why.
            names = (one for one in _SUPERSESSION_FIELDS if now and now.get(one) == other.get(one) != mine.get(one))
            if merged := {name: mine.get(name) for name in names}:
                after = apply_edits(after, set_fields(parse_document(path, after), merged))
        catalog = workspace.over(TreeView(workspace.tree, changed={path: after})).catalog
        values: dict[str, dict[str, Value]] = {}
        for one in successors:
            # If the side that ended the entry is not taken, its successor no longer supersedes the entry.
            if one.side not in (None, side) and old in catalog.entries[one.address].supersedes:
                links = written_links(catalog.document(f"{one.address}.md"), "supersedes")
                kept = [link for link in links if full_address(link, one.address, catalog.addresses) != old]
                values[one.address] = {"supersedes": kept or None}
        actions = (WriteAction(Verb.UPDATE, old),)
        change_set = _with_edits(catalog, values, ChangeSet(actions=actions))
        return replace(change_set, changes=(Change(path, path, before, after), *change_set.changes))
    if side is not None and not has_markers:
        hint = f"type `--take ADDRESS` with one of {' or '.join(one.address for one in successors)}"
        raise UsageError(f"`{shown}` has no conflict markers, so `{side}` cannot be taken; {hint}")
    if side is None:
        behind = resolve_name(workspace, request.behind) if request.behind is not None else None
        take = resolve_name(workspace, request.take) if request.take is not None else None
        request = replace(request, behind=behind, take=take)
        if more := [f"`{one.name}`" for one in conflict.fields if one.name not in _SUPERSESSION_FIELDS]:
            hint = "edit the file first, or type `--take ours` or `--take theirs`"
            raise UsageError(f"the sides of {shown} also differ in {' and '.join(more)}; {hint}")
        sides = (one.side for one in successors if one.address.endswith(take or behind or "") and one.side)
        side = next(sides, ConflictSide.OURS)
    after = take_side(before, side, versions)
    overlaid = TreeView(workspace.tree, changed={path: after})
    change_set = _choose_successor(workspace.over(overlaid).catalog, conflict, request, workspace.today)
    # The changes apply to the file as it is on disk, with its conflict markers.
    own = next((one for one in change_set.changes if one.path == path), Change(path, path, before, after))
    others = (one for one in change_set.changes if one.path != path and one.before != one.after)
    return replace(change_set, changes=(*others, replace(own, before=before)))


def _choose_successor(catalog: Catalog, conflict: MergeConflict, request: ResolveRequest, today: date) -> ChangeSet:
    """Return the changes that keep one successor, chain two successors, or let each supersede a part of the entry."""
    old, successors, entries = conflict.address, successors_of(catalog, conflict.address), catalog.entries
    if request.split:
        why = required_reason(request.reason, "say why")
        if len(successors) < 2:
            raise UsageError(f"{old} has {len(successors)} successors, so there is nothing to split")
        values = {one: _superseding(catalog, one, old) for one in successors}
        values[old] = deprecation_fields(entries[old], today, by=successors) | {"deprecated_reason": why}
        change_set = ChangeSet(actions=(WriteAction(Verb.UPDATE, old),), supersedes=(old,), reason=why)
        return _with_edits(catalog, values, change_set)
    chosen = request.behind or request.take or ""
    if request.side is not None:
        named = [one.address for one in conflict.successors if one.side is request.side]
        if len(named) != 1:
            hint = "type `--take ADDRESS` with the entry to keep"
            raise UsageError(f"on the side `{request.side}`, {len(named)} entries supersede {old}; {hint}")
        chosen = named[0]
    if chosen not in successors:
        hint = f"; these entries do: {join_addresses(successors)}" if successors else ""
        raise UsageError(f"{chosen} does not supersede {old}{hint}")
    others, ended = [one for one in successors if one != chosen], deprecation_fields(entries[old], today, by=[chosen])
    if request.behind is not None:
        return _chain(catalog, old, chosen, others, ended, today)
    why = required_reason(request.reason, "say why") if others else ""
    values = {chosen: _superseding(catalog, chosen, old), old: ended}
    values |= {one: {"deprecated_reason": why, **deprecation_fields(entries[one], today)} for one in others}
    actions = (WriteAction(Verb.SUPERSEDE, old, chosen), *(WriteAction(Verb.DEPRECATE, one) for one in others))
    return _with_edits(catalog, values, ChangeSet(actions=actions, supersedes=(old,), reason=why or None))


def _chain(
    catalog: Catalog, old: str, first: str, others: Sequence[str], ended: dict[str, Value], today: date
) -> ChangeSet:
    """Return the changes after which `first` supersedes the entry, and the other successor supersedes `first`."""
    if len(others) != 1:
        many = f"{join_addresses(others)} supersede it, too" if others else "no other entry supersedes it"
        raise UsageError(f"{first} supersedes {old}, and {many}; `mdmem supersede` replaces one at a time")
    then = catalog.entries[others[0]]
    if then.status is Status.DEPRECATED:
        raise UsageError(f"{then.address} is deprecated, so it cannot supersede anything; type `--take {first}`")
    refuse_unfit(catalog, catalog.entries[first], then, instead="nothing was written: `mdmem why {head}` shows it")
    written = written_links(catalog.document(then.path), "supersedes")
    links = [link for link in written if full_address(link, then.address, catalog.addresses) != old]
    behind = _superseding(catalog, first, old) | deprecation_fields(catalog.entries[first], today, by=[then.address])
    change_set = ChangeSet(
        actions=(WriteAction(Verb.SUPERSEDE, first, then.address),),
        supersedes=(old, first),
        reason=then.reason,
        remarks=(f"{then.address} is current now",),
    )
    return _with_edits(catalog, {then.address: {"supersedes": [*links, first]}, first: behind, old: ended}, change_set)


def _with_edits(catalog: Catalog, values: dict[str, dict[str, Value]], change_set: ChangeSet) -> ChangeSet:
    changes = tuple(patched(catalog, f"{address}.md", stated) for address, stated in values.items())
    return replace(change_set, changes=changes)


def _superseding(catalog: Catalog, new: str, old: str) -> dict[str, Value]:
    """Return the `supersedes` field of a successor with the superseded entry added."""
    entry = catalog.entries[new]
    if old in entry.supersedes:
        return {}
    return {"supersedes": [*written_links(catalog.document(entry.path), "supersedes"), old]}
