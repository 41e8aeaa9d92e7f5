"""The address of a new entry that nobody names: the room of its kind, and an entry-id from its title."""

from __future__ import annotations

import unicodedata
from itertools import count

from mdmem.authoring.create import slug_of
from mdmem.authoring.gate import IsTaken
from mdmem.catalog import Catalog, is_prose
from mdmem.checks.names import is_well_formed, well_formed, why_not_on_windows
from mdmem.entry.model import visible
from mdmem.errors import UsageError
from mdmem.settings import Settings

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


def free_address(catalog: Catalog, wing: str, room: str, *, kind: str, title: str, is_taken: IsTaken) -> str:
    """Return an address that nobody has, the entry-id from the title, with a number where that one is taken."""
    plain = f"{wing}/{room}/{entry_id_of(title, kind)}"
    # Where capital letters do not count, two addresses that differ in them alone are one file.
    known = {address.casefold() for address in catalog.addresses}
    numbered = (plain if number == 1 else f"{plain}-{number}" for number in count(1))
    return next(one for one in numbered if one.casefold() not in known and not is_taken(f"{one}.md"))


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
