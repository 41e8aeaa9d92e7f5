"""A new entry: from its type's template, validated, where it may stand, and what says nearly the same already."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator, Sequence
from datetime import date
from difflib import get_close_matches
from itertools import count, zip_longest

from msgspec import Struct
from msgspec.structs import replace

from mdmem.disk import read_regular
from mdmem.errors import LostRaceError, UsageError, taken
from mdmem.markdown.layout import apply_edits
from mdmem.markdown.parse import parse_document
from mdmem.markdown.patch import set_fields
from mdmem.markdown.scalars import compose_entry
from mdmem.model.entry import EntryType, Status, WingKind, title_of
from mdmem.model.templates import BODIES
from mdmem.model.text import visible
from mdmem.setup.manifest import manifest_text
from mdmem.store.catalog import interpret, is_prose
from mdmem.store.catalog.addresses import MANIFEST, is_well_formed, well_formed, why_not_on_windows
from mdmem.store.index.analysis import fold
from mdmem.store.settings import Settings
from mdmem.store.workspace.scope import (
    AmbiguousWingError,
    Filters,
    resolve_scope,
)
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.change_set import Change, ChangeSet, Verb, WriteAction
from mdmem.write.write import WriteOptions, WriteResult, write

_ID_LENGTH = 60


class Draft(Struct, frozen=True, kw_only=True):
    """An entry as somebody means to write it; an empty body stands for the template's."""

    type: EntryType
    place: str
    title: str = ""
    status: Status = Status.DRAFT
    body: str = ""
    applies_to: tuple[str, ...] = ()


def address_of(draft: Draft) -> str:
    """Return the address a draft asks for, the entry-id from its title where it names none; raises UsageError."""
    parts = draft.place.removesuffix(".md").strip("/").split("/")
    if len(parts) == 2 and draft.title:
        parts.append(slug_of(draft.title))
    if len(parts) == 2:
        raise UsageError(f"a title is missing; write one, or an entry-id: {'/'.join(parts)}/ID")
    if len(parts) != 3:
        raise UsageError(f"`{draft.place}` is no place for an entry; write WING/ROOM/ID, or WING/ROOM with --title")
    require_names(parts)
    return "/".join(parts)


def require_names(parts: Sequence[str], *, known: Sequence[str] = ()) -> None:
    """Raise UsageError for a wing, a room or an entry-id that is no good name; one that is there already may stay."""
    for (kind, called, example), name, was in zip_longest(_KINDS[: len(parts)], parts, known[: len(parts)]):
        if name == was:
            continue
        if not is_well_formed(kind, name):
            raise UsageError(f"`{visible(name)}` is no name for {called}; write it like `{example}`")
        if why := why_not_on_windows(name):
            raise UsageError(f"`{name}` {why}, which Windows does not allow; write another name")


_KINDS = (
    ("wing", "a wing", "navigation_stack"),
    ("room", "a room", "anti-patterns"),
    ("entry", "an entry-id", "blocking-callbacks"),
)


# Latin letters that have no accent to drop, and that folding leaves as they are; `ß` is `ss` in small letters.
_LETTERS = str.maketrans({"þ": "th", "ð": "d", "ħ": "h", "ŧ": "t", "ŋ": "n"})


def slug_of(title: str) -> str:
    """Return an entry-id that people recognise from a title; raises UsageError for one without a letter or digit."""
    plain = fold(title.casefold()).translate(_LETTERS).encode("ascii", "ignore").decode()
    words = re.findall(r"[a-z0-9]+", plain.replace("'", ""))
    slug = ""
    for word in words:
        if slug and len(slug) + len(word) > _ID_LENGTH:
            break
        slug = f"{slug}-{word}" if slug else word[:_ID_LENGTH]
    if not slug:
        raise UsageError(f"no entry-id can be made from the title `{title}`; write WING/ROOM/ID")
    return slug


def compose(draft: Draft, *, today: date) -> str:
    """Return the text of the new entry's file."""
    address = address_of(draft)
    fields = {"type": draft.type.value, "status": draft.status.value, "created_at": today.isoformat()}
    fields["title"] = " ".join(draft.title.split()) or title_of(address)
    text = compose_entry(fields, draft.body.strip("\n") or BODIES[draft.type])
    globs = [glob for glob in draft.applies_to if glob.strip()]
    if not globs:
        return text
    document = parse_document(f"{address}.md", _as_bytes(text))
    return apply_edits(document.data, set_fields(document, {"applies_to": globs})).decode()


def create(address: str, text: str) -> ChangeSet:
    """Return what writes a new entry; raises UsageError for a text that does not load as one."""
    path = f"{address}.md"
    content = _as_bytes(text)
    loaded = interpret(parse_document(path, content))
    if loaded.entry is None:
        first = loaded.findings[0]
        raise UsageError(f"the entry cannot be read: line {first.place.line}: {first.message}; {first.help}")
    return ChangeSet((Change(path, path, None, content),), actions=(WriteAction(Verb.ADD, address),))


def _as_bytes(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        # Bytes that are no UTF-8 come in from the command line and from files as lone surrogates.
        raise UsageError("the title or the text is not UTF-8; save it as UTF-8 and try again") from error


def create_entry(
    workspace: Workspace, address: str, text: str, options: WriteOptions, *, wing: WingKind | None = None
) -> WriteResult:
    """Write a new entry; a wing of the kind `wing` is made for it unless it is there by then.

    Raises LostRaceError where the address is taken, and what `create` and `write` raise.
    """
    return write(workspace, lambda one: _creation(one, address, text, wing), options)


def _creation(workspace: Workspace, address: str, text: str, kind: WingKind | None) -> ChangeSet:
    wing, room, _ = address.split("/")
    refuse_taken(workspace, address)
    made = require_wing(workspace, address, kind) if kind is not None else ()
    if not made:
        refuse_unmade_wing(workspace, wing)
    root = workspace.location.root
    for folder in (wing, f"{wing}/{room}"):
        if (root / folder).is_symlink():
            raise UsageError(f"{folder} is a symbolic link; entries are written inside the root only")
    change_set = create(address, text)
    return replace(change_set, changes=(*made, *change_set.changes), remarks=tuple(_new_places(workspace, wing, room)))


def _new_places(workspace: Workspace, wing: str, room: str) -> Iterator[str]:
    """Yield what a new entry makes besides itself: its wing, or a room that is called nearly as another one is."""
    root = workspace.location.root
    if not (root / wing).is_dir():
        yield f"`{wing}` is a new wing"
    elif not (root / wing / room).is_dir() and room not in workspace.settings.rooms.values():
        rooms = {path.split("/")[1] for path in workspace.catalog.addresses if path.startswith(f"{wing}/")}
        for close in get_close_matches(room, sorted(rooms.union(workspace.settings.rooms.values())), 1, _NEAR_NAME):
            yield f"`{wing}/{room}` is a new room; did you mean `{wing}/{close}`?"


# How alike two rooms' names are where one is likely a slip of the pen.
_NEAR_NAME = 0.8


def refuse_taken(workspace: Workspace, address: str) -> None:
    """Raise LostRaceError where an address is taken."""
    workspace.access.require_write(address.split("/", 1)[0])
    if (workspace.location.root / f"{address}.md").exists():
        raise LostRaceError(taken(address))


# What has no room of its own in the settings goes where its like does.
ROOM_KINDS = {
    EntryType.INVARIANT: "decision",
    EntryType.DECISION: "decision",
    EntryType.PATTERN: "pattern",
    EntryType.NOTE: "context",
}


def place_of(workspace: Workspace, type_: EntryType, typed: str | None) -> str:
    """Return `wing/room` or an address for what was typed: nothing, a wing, a room of the active wing, or more.

    Raises UsageError where no wing is the active one, and for one word that is neither wing nor room.
    """
    if typed is not None and "/" in typed:
        return typed
    room = workspace.settings.rooms[ROOM_KINDS[type_]]
    if typed is None:
        return f"{_active(workspace)}/{room}"
    if typed in workspace.catalog.wings:
        return f"{typed}/{room}"
    wing = _active(workspace)
    if typed in _rooms(workspace, wing):
        return f"{wing}/{typed}"
    raise UsageError(f"`{typed}` is neither a wing nor a room of `{wing}`; write {wing}/{room}, or WING/ROOM")


def is_place(workspace: Workspace, typed: str) -> bool:
    """Say whether one word of a command means a place and not a title."""
    first, slash, _ = typed.partition("/")
    if first in workspace.catalog.wings or not typed.strip():
        return True
    return not typed.split()[1:] if slash else any(typed in _rooms(workspace, wing) for wing in workspace.catalog.wings)


def require_wing(workspace: Workspace, place: str, new: WingKind | None = None) -> tuple[Change, ...]:
    """Return what makes the wing of a place: nothing where it is there, else the manifest of a `new` one of that kind.

    Where only the catalog lacks the wing, its manifest is returned as it is.
    Raises UsageError, with the nearest, where none is meant to be made; a folder without an entry is a wing, but at a
    repository's top.
    """
    wing, room, *_ = place.split("/")
    wings, root = workspace.catalog.wings, workspace.location.root
    at_top = workspace.location.repository is not None and workspace.location.under == ""
    manifest = f"{wing}/{MANIFEST}"
    if wing in wings:
        return ()
    if (root / manifest).is_file():
        refuse_unmade_wing(workspace, wing)
        # Another process made it since the files were read: the plan is to know it, and not to write it.
        there = read_regular(root / manifest)
        return (Change(manifest, manifest, there, there),)
    if new is not None:
        text = manifest_text(wing, workspace.location.repository, kind=new)
        return (Change(manifest, manifest, None, text.encode()),)
    if not at_top and (root / wing).is_dir():
        return ()
    close = [f"{name}/{room}" for name in get_close_matches(wing, wings, n=3, cutoff=0.5)]
    close = close or [f"{name}/{wing}" for name in wings if wing in _rooms(workspace, name)]
    hint = f"did you mean {' or '.join(close[:3])}? " if close else ""
    raise UsageError(f"there is no wing `{wing}`; {hint}`--new-wing` makes one")


def refuse_unmade_wing(workspace: Workspace, wing: str) -> None:
    """Raise UsageError for a wing that would not be read: at a repository's top a wing has a manifest."""
    at_top = workspace.location.repository is not None and workspace.location.under == ""
    if at_top and wing not in workspace.catalog.wings and wing not in workspace.reread().catalog.wings:
        hint = f"write {wing}/README.md with `kind: project` between two lines of `---` first"
        raise UsageError(f"`{wing}` is no wing: at the repository's top a wing has a manifest; {hint}")


def _rooms(workspace: Workspace, wing: str) -> frozenset[str]:
    own = (address.split("/")[1] for address in workspace.catalog.addresses if address.startswith(f"{wing}/"))
    return frozenset((*own, *workspace.settings.rooms.values()))


def _active(workspace: Workspace) -> str:
    try:
        wing = resolve_scope(workspace.catalog, workspace.settings, Filters()).wing
    except AmbiguousWingError as error:
        listed = ", ".join(f"`{name}`" for name in workspace.catalog.wings)
        hint = "write WING/ROOM, or set `default_wing` in mdmem.toml"
        raise UsageError(f"which wing is meant? {hint}: {listed}") from error
    if wing is None:
        raise UsageError("there is no wing yet; `mdmem init --wing NAME` makes one")
    return wing


_ID_BYTES = 120


def room_for(settings: Settings, kind: str, room: str | None) -> str:
    """Return the room that a record goes to; raises UsageError for a name that no room has."""
    if room is None:
        return settings.rooms[kind]
    if not is_well_formed("room", room) or why_not_on_windows(room):
        close = well_formed("room", room)
        hint = f"; did you mean `{close}`?" if close and not why_not_on_windows(close) else "; write `anti-patterns`"
        raise UsageError(f"`room`: `{visible(room)}` is no name for a room{hint}")
    return room


def free_address(workspace: Workspace, wing: str, room: str, *, kind: str, title: str) -> str:
    """Return an address that nobody has, the entry-id from the title, with a number where that one is taken."""
    plain = f"{wing}/{room}/{entry_id_of(title, kind)}"
    # Where capital letters do not count, two addresses that differ in them alone are one file.
    known = {address.casefold() for address in workspace.catalog.addresses}
    numbered = (plain if number == 1 else f"{plain}-{number}" for number in count(1))
    files = workspace.location.root
    return next(one for one in numbered if one.casefold() not in known and not os.path.lexists(files / f"{one}.md"))


def entry_id_of(title: str, kind: str) -> str:
    """Return an entry-id that people recognise from a title, of whatever script; the kind where nothing is left."""
    try:
        name = slug_of(title)
    except UsageError:
        # A title in another script: its own letters are allowed in names, too.
        folded = well_formed("entry", unicodedata.normalize("NFC", title).casefold()) or ""
        name = folded.encode()[:_ID_BYTES].decode(errors="ignore").strip("-")
    is_fit = bool(name) and is_well_formed("entry", name) and not why_not_on_windows(name) and not is_prose(name)
    return name if is_fit else f"{kind}-{name}" if name and is_well_formed("entry", f"{kind}-{name}") else kind
