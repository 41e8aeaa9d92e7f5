"""Create an entry from the template of its type: its address, its text, and a new wing if the user asked for one."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import date
from difflib import get_close_matches
from itertools import count, zip_longest

from msgspec import Struct

from mdmem.disk import read_regular
from mdmem.errors import LostRaceError, UsageError, taken
from mdmem.markdown.front_matter import compose_entry, scalar
from mdmem.markdown.layout import apply_edits
from mdmem.markdown.parse import parse_document
from mdmem.markdown.patch import set_fields
from mdmem.model.entry import EntryType, Status, WingKind, title_of
from mdmem.model.fields import BODIES
from mdmem.model.text import visible
from mdmem.store.catalog.addresses import MANIFEST, interpret, is_prose, is_well_formed, well_formed, why_not_on_windows
from mdmem.store.git.process import Repository, setting
from mdmem.store.index.analysis import fold
from mdmem.store.settings import Settings
from mdmem.store.workspace.scope import AmbiguousWingError, Filters, resolve_scope
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.change_set import Change, ChangeSet, Value, Verb, WriteAction

_ID_LENGTH, _ID_BYTES = 60, 120
# Latin letters that Unicode normalization does not turn into ASCII letters.
_LETTERS = str.maketrans({"þ": "th", "ð": "d", "ħ": "h", "ŧ": "t", "ŋ": "n"})
_NAMES = (
    ("wing", "a wing", "navigation_stack"),
    ("room", "a room", "anti-patterns"),
    ("entry", "an entry-id", "blocking-callbacks"),
)
# For each type, the kind of record whose room (folder) in the settings is used.
ROOM_KINDS = {
    EntryType.INVARIANT: "decision",
    EntryType.DECISION: "decision",
    EntryType.PATTERN: "pattern",
    EntryType.NOTE: "context",
}


class Draft(Struct, frozen=True, kw_only=True):
    """The values for a new entry. An empty body means the body of the template. `fields` are more fields."""

    type: EntryType
    place: str
    title: str = ""
    status: Status = Status.DRAFT
    body: str = ""
    applies_to: tuple[str, ...] = ()
    fields: Mapping[str, Value] = {}


def address_of(draft: Draft) -> str:
    """Return the address for a new entry. If there is no entry-id, make one from the title. Raises UsageError."""
    parts = draft.place.removesuffix(".md").strip("/").split("/")
    if len(parts) == 2 and draft.title:
        parts.append(_slug_of(draft.title))
    if len(parts) == 2:
        raise UsageError(f"the title is missing; give a title, or the full address {'/'.join(parts)}/ID")
    if len(parts) != 3:
        raise UsageError(f"`{draft.place}` is not a place for an entry; write WING/ROOM/ID, or WING/ROOM with --title")
    require_names(parts)
    return "/".join(parts)


def require_names(parts: Sequence[str], *, known: Sequence[str] = ()) -> None:
    """Raise UsageError for an invalid name of a wing, room or entry that is not the same in `known`, the old names."""
    for (kind, called, example), name, was in zip_longest(_NAMES[: len(parts)], parts, known[: len(parts)]):
        if name == was:
            continue
        if not is_well_formed(kind, name):
            raise UsageError(f"`{visible(name)}` is not a valid name for {called}; write it like `{example}`")
        if why := why_not_on_windows(name):
            raise UsageError(f"`{name}` {why}, which Windows does not allow; write another name")


def _slug_of(title: str) -> str:
    """Return a readable entry-id for a title. Raises UsageError if the title has no letter or digit."""
    plain = fold(title.casefold()).translate(_LETTERS).encode("ascii", "ignore").decode()
    slug = ""
    for word in re.findall(r"[a-z0-9]+", plain.replace("'", "")):
        if slug and len(slug) + len(word) > _ID_LENGTH:
            break
        slug = f"{slug}-{word}" if slug else word[:_ID_LENGTH]
    if not slug:
        raise UsageError(f"no entry-id can be made from the title `{title}`; write the full address WING/ROOM/ID")
    return slug


def free_address(workspace: Workspace, wing: str, room: str, *, kind: str, title: str) -> str:
    """Return an unused address with an entry-id made from a title, or else from `kind`; a taken one gets a number."""
    try:
        name = _slug_of(title)
    except UsageError:
        folded = well_formed("entry", unicodedata.normalize("NFC", title).casefold()) or ""
        name = folded.encode()[:_ID_BYTES].decode(errors="ignore").strip("-")
    if not name or not is_well_formed("entry", name) or why_not_on_windows(name) or is_prose(name):
        name = f"{kind}-{name}" if name and is_well_formed("entry", f"{kind}-{name}") else kind
    # On a file system that ignores case, addresses that differ only in case are the same file.
    known, files = {address.casefold() for address in workspace.catalog.addresses}, workspace.location.root
    plain = f"{wing}/{room}/{name}"
    numbered = (plain if number == 1 else f"{plain}-{number}" for number in count(1))
    return next(one for one in numbered if one.casefold() not in known and not os.path.lexists(files / f"{one}.md"))


def room_for(settings: Settings, kind: str, room: str | None) -> str:
    """Return the room for a kind of record: the given room, or the one in the settings. Raises UsageError."""
    if room is None:
        return settings.rooms[kind]
    if not is_well_formed("room", room) or why_not_on_windows(room):
        raise UsageError(f"`room`: `{visible(room)}` is not a valid name for a room; write it like `anti-patterns`")
    return room


def place_of(workspace: Workspace, type_: EntryType, typed: str | None) -> str:
    """Return `wing/room` or an address for a typed place; the default is the active wing. Raises UsageError."""
    if typed is not None and "/" in typed:
        return typed
    room, wings = workspace.settings.rooms[ROOM_KINDS[type_]], workspace.catalog.wings
    if typed in wings:
        return f"{typed}/{room}"
    try:
        wing = resolve_scope(workspace.catalog, workspace.settings, Filters()).wing
    except AmbiguousWingError as error:
        listed = ", ".join(f"`{name}`" for name in wings)
        hint = "write WING/ROOM, or set `default_wing` in mdmem.toml"
        raise UsageError(f"which wing is meant? {hint}: {listed}") from error
    if wing is None:
        raise UsageError("there is no wing yet; `mdmem init --wing NAME` makes one")
    if typed is not None:
        raise UsageError(f"there is no wing `{typed}`; write the place as {wing}/{room}, or another WING/ROOM")
    return f"{wing}/{room}"


def require_wing(workspace: Workspace, place: str, new: WingKind | None = None) -> tuple[Change, ...]:
    """Return the changes that make a missing wing of the kind `new`; without `new`, a missing wing is a UsageError."""
    wing, room, *_ = place.split("/")
    wings, root = workspace.catalog.wings, workspace.location.root
    manifest = f"{wing}/{MANIFEST}"
    if wing in wings:
        return ()
    if (root / manifest).is_file():
        refuse_unmade_wing(workspace, wing)
        # Another process created the wing in the meantime. The plan depends on the manifest but does not write it.
        there = read_regular(root / manifest)
        return (Change(manifest, manifest, there, there),)
    if new is not None:
        text = manifest_text(wing, workspace.location.repository, kind=new)
        return (Change(manifest, manifest, None, text.encode()),)
    if not _is_at_top(workspace) and (root / wing).is_dir():
        return ()
    close = [f"{name}/{room}" for name in get_close_matches(wing, wings, n=3, cutoff=0.5)]
    hint = f"did you mean {' or '.join(close)}? " if close else ""
    raise UsageError(f"there is no wing `{wing}`; {hint}`--new-wing` makes one")


def refuse_unmade_wing(workspace: Workspace, wing: str) -> None:
    """Raise UsageError if a folder at the top of the repository has no manifest, so that it is not read as a wing."""
    if not _is_at_top(workspace) or wing in workspace.catalog.wings:
        return
    if wing not in workspace.reread().catalog.wings:
        hint = f"first write {wing}/README.md with `kind: project` between two lines of `---`"
        raise UsageError(f"the folder `{wing}` has no manifest, so it is not a wing here; {hint}")


def _is_at_top(workspace: Workspace) -> bool:
    return workspace.location.repository is not None and workspace.location.under == ""


def refuse_taken(workspace: Workspace, address: str) -> None:
    """Raise LostRaceError if a file has this address, and AccessDeniedError if the caller may not write to its wing."""
    workspace.access.require_write(address.split("/", 1)[0])
    if (workspace.location.root / f"{address}.md").exists():
        raise LostRaceError(taken(address))


def compose(draft: Draft, *, today: date, inherited: Mapping[str, Value] | None = None) -> str:
    """Return the text of a new entry. The fields of the draft override the `inherited` fields. Raises UsageError."""
    address = address_of(draft)
    fields = {"type": draft.type.value, "status": draft.status.value, "created_at": today.isoformat()}
    fields["title"] = " ".join(draft.title.split()) or title_of(address)
    text = compose_entry(fields, draft.body.strip("\n") or BODIES[draft.type])
    more = {**(inherited or {}), **draft.fields}
    if draft.applies_to:
        # An empty glob means that the entry is about no files in particular.
        more["applies_to"] = [glob for glob in draft.applies_to if glob.strip()]
    document = parse_document(f"{address}.md", _as_bytes(text))
    return apply_edits(document.data, set_fields(document, more)).decode()


def _as_bytes(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        # Bytes from the command line or a file that are not UTF-8 became lone surrogates.
        raise UsageError("the title or the text is not UTF-8; save it as UTF-8 and try again") from error


def plan_entry(workspace: Workspace, address: str, text: str, *, wing: WingKind | None = None) -> ChangeSet:
    """Return the changes that write an entry, and a missing wing of the kind `wing`. Raises LostRaceError if taken."""
    name, room, _ = address.split("/")
    refuse_taken(workspace, address)
    made = require_wing(workspace, address, wing) if wing is not None else ()
    if not made:
        refuse_unmade_wing(workspace, name)
    for folder in (name, f"{name}/{room}"):
        if (workspace.location.root / folder).is_symlink():
            raise UsageError(
                f"{folder} is a symbolic link, and mdmem writes no entry through a link; choose another place"
            )
    path, content = f"{address}.md", _as_bytes(text)
    loaded = interpret(parse_document(path, content))
    if loaded.entry is None:
        first = loaded.findings[0]
        raise UsageError(f"the entry cannot be read: line {first.place.line}: {first.message}; {first.help}")
    return ChangeSet(
        (*made, Change(path, path, None, content)),
        actions=(WriteAction(Verb.ADD, address),),
        remarks=() if (workspace.location.root / name).is_dir() else (f"`{name}` is a new wing",),
    )


def manifest_text(wing: str, repository: Repository | None, *, kind: WingKind = WingKind.PROJECT) -> str:
    """Return the text of a new wing's README.md, with git's user as the owner if git knows one."""
    name, email = (repository and setting(repository, f"user.{one}") for one in ("name", "email"))
    owners = f"owners: [{scalar(f'{name} <{email}>' if email else name)}]\n" if name else ""
    is_own = kind is WingKind.PROJECT
    about = "The rules and decisions of this project." if is_own else "Rules and decisions that all projects share."
    return f"---\nkind: {kind}\n{owners}---\n\n# {wing}\n\n{about}\n"
