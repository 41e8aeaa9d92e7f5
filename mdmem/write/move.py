"""Moving an entry, a room or a wing: the files, and every link that means one of them."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from mdmem.checks.case import Case
from mdmem.checks.fixes.links import MoveFix, below
from mdmem.errors import LostRaceError, NotFoundError, UsageError, taken
from mdmem.markdown.layout import UnpatchableError, apply_edits
from mdmem.model.entry import WingKind
from mdmem.model.finding import Edit
from mdmem.store.tree import SETTINGS_NAME, FileKind, Unreadable, read_one
from mdmem.store.workspace.addresses import from_root, resolve_name
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.apply import TEMPORARY
from mdmem.write.change_set import Change, ChangeSet, Verb, WriteAction
from mdmem.write.create import require_names, require_wing
from mdmem.write.write import WriteOptions, WriteResult, write


def plan_move(case: Case, old: str, new: str, *, under: str | None = None) -> ChangeSet:
    """Return what gives an entry, a room or a wing another place; both are paths from the root without `.md`.

    Raises LostRaceError where something is there, UsageError for what is no regular file, and UnpatchableError where
    a link cannot be rewritten byte by byte. `under` is the root's path from the repository's top.
    """
    return plan_moves(case, {old: new}, under=under)


def plan_moves(case: Case, places: Mapping[str, str], *, under: str | None = None) -> ChangeSet:
    """Return what gives several entries, rooms or wings another place at once, as `plan_move` does for one."""
    moved = {old: new for old, new in places.items() if old != new}
    if not moved:
        return ChangeSet(actions=())
    folders = {old: new for old, new in moved.items() if old.count("/") < 2}
    moves = {f"{old}.md": f"{new}.md" for old, new in moved.items() if old not in folders}
    for old, new in folders.items():
        moves |= below(case, old, new)
    moving = MoveFix(case, moves, folders=folders, under=under)
    for old, new in moved.items():
        _refuse(moving, old, new)
    after = _Afterwards(moving)
    changes = [*_changes(moving), *after.settings(), *after.baseline()]
    remarks = (*after.remarks, *_remarks(moving))
    return ChangeSet(tuple(changes), actions=_actions(moving, moved), remarks=remarks)


def _refuse(moving: MoveFix, old: str, new: str) -> None:
    if not moving.moves:
        raise NotFoundError(f"there is nothing in `{old}/`; `mdmem list` names the entries")
    if moving.unmovable:
        raise UsageError(f"`{moving.unmovable[0]}` is no regular file; move it by hand, then try again")
    if moving.folders and below(moving.case, new, old):
        hint = f"move its entries one by one: `mdmem mv {old}/… {new}/`"
        raise LostRaceError(f"`{new}/` exists already; {hint if '/' in old else 'choose another name'}")
    if moving.taken:
        raise LostRaceError(taken(moving.taken[0].removesuffix(".md")))


def _changes(moving: MoveFix) -> Iterator[Change]:
    edits: dict[str, list[Edit]] = {}
    for edit in moving.edits():
        edits.setdefault(edit.path, []).append(edit)
    # Files that stay come first: until the renames, their links lead nowhere, and `check` says so.
    for path in (*sorted(edits.keys() - moving.moves.keys()), *sorted(moving.moves)):
        if path in edits:
            before = moving.case.catalog.document(path).data
            yield Change(path, moving.moves.get(path, path), before, _edited(path, before, edits[path]))
        else:
            content = _content(moving.case, path)
            yield Change(path, moving.moves[path], content, content)


def _edited(path: str, before: bytes, edits: Iterable[Edit]) -> bytes:
    try:
        return apply_edits(before, list(dict.fromkeys(edits)))
    except UnpatchableError:
        raise
    except ValueError as error:
        raise UnpatchableError(f"two links of {path} stand too close to be rewritten; write them by hand") from error


def _content(case: Case, path: str) -> bytes:
    content = read_one(case.catalog.tree, path)
    if isinstance(content, Unreadable):
        raise UsageError(f"`{path}` cannot be read: {content.reason.lower()}; make it readable, then try again")
    return content


class _Afterwards:
    """What the settings and the baseline say after a move, and what cannot be told of them."""

    def __init__(self, moving: MoveFix) -> None:
        self._moving, self._settings = moving, moving.case.settings
        self.remarks: list[str] = []

    def settings(self) -> Iterator[Change]:
        before = self._settings.source
        if not before or not self._is_named():
            return
        after = settings_after(before, self._moving.wings, lambda path: self._moving.moves.get(path, path))
        if after is None:
            names = ", ".join(f"`{old}`" for old in (*self._moving.wings, *self._moved_baseline()))
            self.remarks.append(f"{SETTINGS_NAME} was left as it is: write the new name where it says {names}")
        elif after != before:
            yield Change(SETTINGS_NAME, SETTINGS_NAME, before, after)

    def _is_named(self) -> bool:
        stated = {self._settings.default_wing, self._settings.default_shared_wing, *self._settings.wings}
        return not stated.isdisjoint(self._moving.wings) or bool(self._moved_baseline())

    def _moved_baseline(self) -> tuple[str, ...]:
        path = self._settings.baseline
        return (path,) if path is not None and path in self._moving.moves else ()

    def baseline(self) -> Iterator[Change]:
        path = self._settings.baseline
        content = read_one(self._moving.case.catalog.tree, path) if path is not None else Unreadable("")
        if path is None or isinstance(content, Unreadable) or self._moved_baseline():
            return
        after = baseline_after(content, self._place)
        if after is None:
            self.remarks.append(f"{path} was left as it is; `mdmem check --update-baseline` writes it anew")
        elif after != content:
            yield Change(path, path, content, after)

    def _place(self, place: str) -> str:
        return self._moving.addresses.get(place, self._moving.moves.get(place, place))


def _actions(moving: MoveFix, moved: Mapping[str, str]) -> tuple[WriteAction, ...]:
    entries = [one for one in moving.case.catalog.addresses if f"{one}.md" in moving.moves]
    if not entries:
        return tuple(WriteAction(Verb.MOVE, f"{old}/", f"{new}/") for old, new in moved.items())
    return tuple(WriteAction(Verb.MOVE, one, moving.addresses[one]) for one in sorted(entries))


def _remarks(moving: MoveFix) -> Iterator[str]:
    catalog = moving.case.catalog
    for path in moving.unreadable:
        yield f"{path} cannot be read and may name what moved; `mdmem check {path}` says why"
    for path in sorted(catalog.broken.keys() & moving.moves.keys()):
        yield f"{moving.moves[path]} moved and cannot be read: look at its own links"
    manifests = [file.path for file in catalog.others if file.path.count("/") == 1 and file.kind is FileKind.FILE]
    faulty = {finding.place.path for finding in catalog.findings if finding.code == "manifest-invalid"}
    for path in sorted(faulty.intersection(manifests)):
        if any(wing in catalog.document(path).text for wing in moving.wings):
            yield f"{path} cannot be read and may name what moved; `mdmem check {path}` says why"
    for old, new in moving.wings.items():
        if catalog.wings[old].project_id is None and catalog.wings[old].has_manifest:
            yield f"clients that know it as `{old}` need `project_id: {old}` in {new}/README.md"
    new_wings = {new.split("/")[0] for new in moving.moves.values()} - catalog.wings.keys()
    for wing in sorted(new_wings - set(moving.wings.values())):
        yield f"`{wing}` is a new wing"


def plan_named_move(workspace: Workspace, name: str, to: str, *, wing: WingKind | None = None) -> ChangeSet:
    """Return what moves an entry, a room or a wing to another place; a `wing` of that kind is made where there is none.

    Raises what `plan_move` raises, and UsageError.
    """
    return plan_named_moves(workspace, {name: to}, wing=wing)


def plan_named_moves(workspace: Workspace, names: Mapping[str, str], *, wing: WingKind | None = None) -> ChangeSet:
    """Return what moves several at once, as `plan_named_move` does one."""
    places: dict[str, str] = {}
    made: dict[str, Change] = {}
    for name, to in names.items():
        old = _old_place(workspace, name)
        new = places[old] = _new_place(workspace, old, to)
        require_names(new.split("/"), known=old.split("/"))
        made |= {one.path: one for one in (require_wing(workspace, new, wing) if "/" in old else ())}
    case = Case(workspace.whole_catalog, workspace.settings, workspace.today)
    under = workspace.location.under if workspace.location.repository is not None else None
    change_set = plan_moves(case, places, under=under)
    remarks = (*change_set.remarks, *(one for old in places for one in _left_behind(workspace, old)))
    return replace(change_set, changes=(*made.values(), *change_set.changes), remarks=remarks)


def _old_place(workspace: Workspace, name: str) -> str:
    """Return what moves, counted from the root: an address, `wing/room` or `wing`."""
    plain = from_root(workspace, name)
    is_folder = any(file.path.startswith(f"{plain}/") for file in workspace.tree.files())
    if name.endswith("/"):
        if not is_folder or plain.count("/") > 1:
            raise NotFoundError(f"there is no wing and no room `{name}`; `mdmem list` names the entries")
        return plain
    if f"{plain}.md" in workspace.catalog.broken:
        # What cannot be read moves all the same.
        return plain
    try:
        return resolve_name(workspace, name)
    except NotFoundError:
        if is_folder and plain.count("/") < 2:
            return plain
        raise


def _new_place(workspace: Workspace, old: str, to: str) -> str:
    """Return the new place in full, of the same kind as the old one."""
    parts = old.split("/")
    plain = from_root(workspace, to)
    wanted = plain.split("/")
    if len(parts) == 3 and to.endswith("/") and len(wanted) == 2:
        return f"{plain}/{parts[2]}"
    if len(parts) == 3 and not to.endswith("/") and len(wanted) < 3 and plain:
        _refuse_folder(workspace, parts, to, plain)
        return "/".join((*parts[: 3 - len(wanted)], *wanted))
    if len(wanted) != len(parts) or (len(parts) == 3 and to.endswith("/")):
        raise UsageError(f"`{to}` is no place for {_KINDS[len(parts)]}")
    return plain


def _refuse_folder(workspace: Workspace, parts: list[str], to: str, plain: str) -> None:
    """Raise UsageError for a short name that is a folder's: who types it may well mean to move into that."""
    folders = {file.path.rsplit("/", 1)[0] for file in workspace.tree.files()}
    room = plain if "/" in plain else f"{parts[0]}/{plain}"
    is_of_wing = (
        "/" in plain and plain.split("/")[0] in workspace.catalog.wings and f"{parts[0]}/{plain}" not in folders
    )
    if room in folders or is_of_wing:
        whole = "/".join((*parts[: 2 - plain.count("/")], plain))
        raise UsageError(f"`{to}` may be a room; write `{room}/` to move into it, or `{whole}` in full")


_KINDS = {
    1: "a wing; write WING/",
    2: "a room; write WING/ROOM/",
    3: "an entry; write WING/ROOM/ID, ROOM/ID, ID, or WING/ROOM/ to keep its id",
}


def _left_behind(workspace: Workspace, old: str) -> tuple[str, ...]:
    """Return a remark about the files of a folder that no tree lists, because their names start with a dot."""
    if old.count("/") == 2:
        return ()
    root = workspace.location.root
    listed = {file.path for file in workspace.tree.files()}
    hidden = sorted(
        path
        for folder, _, names in os.walk(root / old)
        for name in names
        if not name.endswith(TEMPORARY)
        and (path := os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/")) not in listed  # noqa: PTH118
    )
    more = f" and {len(hidden) - 1} more" if len(hidden) > 1 else ""
    return (f"{hidden[0]}{more} stays: what starts with a dot is not read",) if hidden else ()


def move(
    workspace: Workspace, name: str, to: str, *, options: WriteOptions, wing: WingKind | None = None
) -> WriteResult:
    """Move an entry, a room or a wing to another place, and rewrite every link to what moves."""
    return write(workspace, lambda one: plan_named_move(one, name, to, wing=wing), options)


_WING_KEYS = ("default_wing", "default_shared_wing")
_ADDRESS = re.compile(r'("address"\s*:\s*)("(?:[^"\\\n]|\\.)*")')


def settings_after(content: bytes, wings: Mapping[str, str], paths: Callable[[str], str]) -> bytes | None:
    """Return `mdmem.toml` with wings under their new names and the baseline at its new path.

    None where some place that has to change cannot be told for certain. `paths` gives the path of a file afterwards.
    """
    meant = _meant(tomllib.loads(content.decode("utf-8-sig")), wings, paths)
    text = content.decode("utf-8")
    for old, new in wings.items():
        text = _renamed(text, old, new)
    text = re.sub(
        r"""(?m)^(\s*(?:check\s*\.\s*)?baseline\s*=\s*)(["'])([^"'\n]*)\2""",
        lambda found: f"{found[1]}{found[2]}{paths(found[3])}{found[2]}",
        text,
    )
    try:
        after = tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError:
        return None
    return text.encode() if after == meant else None


def _meant(stated: dict[str, Any], wings: Mapping[str, str], paths: Callable[[str], str]) -> dict[str, Any]:
    """Return what the settings have to say; what is not of the form they have is left for others to refuse."""
    meant = dict(stated)
    for key in _WING_KEYS:
        if isinstance(meant.get(key), str):
            meant[key] = wings.get(meant[key], meant[key])
    if isinstance(meant.get("wings"), dict):
        meant["wings"] = {wings.get(name, name): table for name, table in meant["wings"].items()}
    check = meant.get("check")
    if isinstance(check, dict) and isinstance(check.get("baseline"), str):
        meant["check"] = {**check, "baseline": paths(check["baseline"])}
    return meant


def _renamed(text: str, old: str, new: str) -> str:
    """Return the settings with a wing renamed where one is named in the usual ways, for the caller to prove."""
    name = rf"""(?:{re.escape(old)}(?![\w-])|(["']){re.escape(old)}\2)"""
    for before, behind in (
        (r"\s*\[+\s*wings\s*\.\s*", r"(?=\s*[.\]])"),
        (r"\s*wings\s*\.\s*", r"(?=\s*[.=])"),
        (rf"\s*(?:{'|'.join(_WING_KEYS)})\s*=\s*(?=[\"'])", ""),
    ):
        text = re.sub(rf"(?m)^({before}){name}{behind}", rf"\g<1>\g<2>{new}\g<2>", text)
    return text


def baseline_after(content: bytes, places: Callable[[str], str]) -> bytes | None:
    """Return a baseline's file with every address and path that moved as it is afterwards; None where that is unsure.

    `places` gives what an address or a path is afterwards.
    """
    try:
        text = content.decode("utf-8")
        meant = json.loads(text.removeprefix("\ufeff"))
        for record in meant["findings"]:
            record["address"] = places(record["address"])
        after = _ADDRESS.sub(lambda found: found[1] + _replaced(found[2], places), text)
        is_meant = json.loads(after.removeprefix("\ufeff")) == meant
    except (KeyError, TypeError, ValueError, RecursionError):
        return None
    keys = [(record.get("code"), record["address"]) for record in meant["findings"]]
    return after.encode() if is_meant and len(set(keys)) == len(keys) else None


def _replaced(literal: str, places: Callable[[str], str]) -> str:
    stated: str = json.loads(literal)
    after = places(stated)
    return literal if after == stated else json.dumps(after, ensure_ascii=False)
