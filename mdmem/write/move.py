"""Move an entry, a room or a wing: rename its files, and update every link to one of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress

from msgspec.structs import replace

from mdmem import SETTINGS_NAME
from mdmem.checks.baseline import baseline_bytes, read_baseline
from mdmem.checks.case import Case
from mdmem.checks.fixes import MoveFix, below
from mdmem.errors import LostRaceError, MdmemError, NotFoundError, SettingsError, UsageError, taken
from mdmem.markdown.layout import UnpatchableError, apply_edits
from mdmem.model.entry import WingKind
from mdmem.model.text import shell_word
from mdmem.record import grouped
from mdmem.store.catalog.addresses import number_in
from mdmem.store.settings import parse_settings
from mdmem.store.tree import Unreadable, read_one
from mdmem.store.workspace.addresses import find_by_handle, from_root, resolve_name
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.change_set import Change, ChangeSet, Verb, WriteAction
from mdmem.write.create import require_names, require_wing

_PLACES = {
    1: "a wing; write WING/",
    2: "a room; write WING/ROOM/",
    3: "an entry; write WING/ROOM/ID, ROOM/ID, ID, or WING/ROOM/ to keep its id",
}


def plan_named_moves(workspace: Workspace, names: Mapping[str, str], *, wing: WingKind | None = None) -> ChangeSet:
    """Return the changes that move entries, rooms or wings, by their typed names; `wing` is the kind of a new wing."""
    places: dict[str, str] = {}
    made: dict[str, Change] = {}
    for name, to in names.items():
        plain = old = from_root(workspace, name)
        files = workspace.tree.files()
        is_folder = plain.count("/") < 2 and any(file.path.startswith(f"{plain}/") for file in files)
        if name.endswith("/"):
            if not is_folder:
                raise NotFoundError(f"`{resolve_name(workspace, name)}` is an entry; write it without the slash")
        elif f"{plain}.md" not in workspace.catalog.broken:
            try:
                old = resolve_name(workspace, name)
            except NotFoundError:
                if not is_folder:
                    raise
        new = places[old] = _new_place(workspace, old, to)
        require_names(new.split("/"), known=old.split("/"))
        made |= {one.path: one for one in (require_wing(workspace, new, wing) if "/" in old else ())}
    case = Case(workspace.whole_catalog, workspace.settings, workspace.today)
    under = workspace.location.under if workspace.location.repository is not None else None
    change_set = plan_moves(case, places, under=under)
    return replace(change_set, changes=(*made.values(), *change_set.changes))


def _new_place(workspace: Workspace, old: str, to: str) -> str:
    """Return the full new place. It is of the same kind (entry, room or wing) as the old place."""
    parts = old.split("/")
    plain = from_root(workspace, to)
    wanted = plain.split("/")
    if len(parts) == 3 and to.endswith("/") and len(wanted) == 2:
        return f"{plain}/{parts[2]}"
    if len(parts) == 3 and not to.endswith("/") and len(wanted) < 3 and plain:
        # A short name may also be the name of a folder, and the user may want to move into that folder.
        folders, within = {file.path.rsplit("/", 1)[0] for file in workspace.tree.files()}, f"{parts[0]}/{plain}"
        is_of_wing = len(wanted) == 2 and wanted[0] in workspace.catalog.wings and within not in folders
        room = plain if len(wanted) == 2 else within
        whole = "/".join((*parts[: 3 - len(wanted)], plain))
        if number_in(wanted[-1]) is not None and (meant := find_by_handle(workspace, plain)):
            raise UsageError(f"`{to}` is the number of {meant[0]}; to use it as an entry-id, write `{whole}`")
        if room in folders or is_of_wing:
            raise UsageError(f"`{to}` may be a room; write `{room}/` to move into it, or `{whole}` in full")
        return whole
    if len(wanted) != len(parts) or (len(parts) == 3 and to.endswith("/")):
        raise UsageError(f"`{to}` is not a place for {_PLACES[len(parts)]}")
    return plain


def plan_moves(case: Case, places: Mapping[str, str], *, under: str | None = None) -> ChangeSet:
    """Return the changes that move several things at once. Old and new places are paths from the root without `.md`.

    `under` is the path of the root from the top of the repository, or None outside git. Raises LostRaceError if a new
    place is taken, NotFoundError for an empty folder, UsageError for a file that cannot be read, and UnpatchableError.
    """
    moved = {old: new for old, new in places.items() if old != new}
    if not moved:
        return ChangeSet(actions=())
    folders = {old: new for old, new in moved.items() if old.count("/") < 2}
    moves = {f"{old}.md": f"{new}.md" for old, new in moved.items() if old not in folders}
    for old, new in folders.items():
        moves |= below(case, old, new)
    moving = MoveFix(case, moves, folders=folders, under=under)
    if not moves:
        raise NotFoundError(f"there is nothing in `{next(iter(moved))}/`; `mdmem list` lists the entries")
    if moving.unmovable:
        raise UsageError(f"`{moving.unmovable[0]}` is not a regular file; move it by hand, then try again")
    for old, new in moved.items() if folders else ():
        if below(case, new, old):
            hint = f"move its entries one by one: `mdmem mv {old}/… {new}/`" if "/" in old else "choose another name"
            raise LostRaceError(f"`{new}/` exists already; {hint}")
    if moving.taken:
        raise LostRaceError(taken(moving.taken[0].removesuffix(".md")))
    more = [*_changed_settings(moving), *_changed_baseline(moving), *_remarks(moving)]
    entries = [one for one in case.catalog.addresses if f"{one}.md" in moves]
    actions = [WriteAction(Verb.MOVE, one, moving.addresses[one]) for one in sorted(entries)]
    return ChangeSet(
        (*_changes(moving), *(one for one in more if isinstance(one, Change))),
        actions=tuple(actions or [WriteAction(Verb.MOVE, f"{old}/", f"{new}/") for old, new in moved.items()]),
        remarks=tuple(one for one in more if isinstance(one, str)),
    )


def _changes(moving: MoveFix) -> Iterator[Change]:
    edits = grouped((edit.path, edit) for edit in moving.edits())
    # Write the files that stay first. Until the renames, their links are broken, and `check` reports them.
    for path in (*sorted(edits.keys() - moving.moves.keys()), *sorted(moving.moves)):
        # The edits were made for the parsed bytes. The file on disk may have changed since.
        catalog = moving.case.catalog
        before = catalog.document(path).data if path in edits else read_one(catalog.tree, path)
        if isinstance(before, Unreadable):
            raise UsageError(f"`{path}` cannot be read: {before.reason.lower()}; make it readable, then try again")
        try:
            after = apply_edits(before, list(dict.fromkeys(edits.get(path, ()))))
        except ValueError as error:
            message = f"two links of {path} are too close to each other to be rewritten; change them by hand"
            raise UnpatchableError(message) from error
        yield Change(path, moving.moves.get(path, path), before, after)


def _remarks(moving: MoveFix) -> Iterator[str]:
    catalog = moving.case.catalog
    for path in moving.unreadable:
        yield f"{path} cannot be read, and may have links to the old place; `mdmem check {shell_word(path)}` says why"
    for path in sorted(catalog.broken.keys() & moving.moves.keys()):
        yield f"{moving.moves[path]} was moved but cannot be read: check the links in it"
    for old, new in moving.wings.items():
        if catalog.wings[old].project_id is None and catalog.wings[old].has_manifest:
            yield f"clients that know it as `{old}` need `project_id: {old}` in {new}/README.md"
    new_wings = {new.split("/")[0] for new in moving.moves.values()} - catalog.wings.keys()
    for wing in sorted(new_wings - set(moving.wings.values())):
        yield f"`{wing}` is a new wing"


def _changed_settings(moving: MoveFix) -> Iterator[Change | str]:
    """Yield the change of `mdmem.toml` to the new names of wings, or a remark if the right change is not certain."""
    settings, before, wings = moving.case.settings, moving.case.settings.source, moving.wings
    if not before or {settings.default_wing, settings.default_shared_wing, *settings.wings}.isdisjoint(wings):
        return
    text = before.decode()
    for old, new in wings.items():
        # Do not change comments.
        text = re.sub(rf"(?m)^([^#\n]*?)(?<![\w/-]){re.escape(old)}(?![\w/-])", rf"\g<1>{new}", text)
    after = text.encode()
    meant = replace(
        settings,
        default_wing=wings.get(settings.default_wing or "", settings.default_wing),
        default_shared_wing=wings.get(settings.default_shared_wing, settings.default_shared_wing),
        wings={wings.get(name, name): table for name, table in settings.wings.items()},
        source=after,
    )
    with suppress(SettingsError):
        if parse_settings(after) == meant:
            yield Change(SETTINGS_NAME, SETTINGS_NAME, before, after)
            return
    names = ", ".join(f"`{old}`" for old in wings)
    yield f"{SETTINGS_NAME} was left as it is: write the new name where it says {names}"


def _changed_baseline(moving: MoveFix) -> Iterator[Change | str]:
    """Yield the change of the baseline file to the new addresses, or a remark if the right change is not certain."""
    path = moving.case.settings.baseline
    if path is None:
        return
    if path in moving.moves:
        yield f"write the new path of the baseline, `{moving.moves[path]}`, into {SETTINGS_NAME}"
        return
    content = read_one(moving.case.catalog.tree, path)
    with suppress(MdmemError):
        known = {} if isinstance(content, Unreadable) else read_baseline(content)
        counts = {(code, moving.addresses.get(old, moving.moves.get(old, old))): n for (code, old), n in known.items()}
        if counts == known:
            return
        if len(counts) == len(known) and not isinstance(content, Unreadable):
            yield Change(path, path, content, baseline_bytes(counts))
            return
    yield f"{path} was left as it is; `mdmem check --update-baseline` writes it again"
