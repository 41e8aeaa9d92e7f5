"""Describe a change of several files, byte for byte, with the message of its commit."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from textwrap import wrap

from msgspec import Struct

from mdmem.errors import LostRaceError
from mdmem.markdown.layout import apply_edits
from mdmem.markdown.patch import set_fields
from mdmem.model.text import cut_line
from mdmem.store.catalog.model import Catalog

Value = str | Sequence[str] | None


class Verb(StrEnum):
    """The first word of a commit's subject."""

    ADD = "Add"
    APPROVE = "Approve"
    DEPRECATE = "Deprecate"
    EDIT = "Edit"
    IMPORT = "Import"
    MOVE = "Move"
    REVIEW = "Review"
    SUPERSEDE = "Supersede"
    TEND = "Tend"
    UPDATE = "Update"
    VERIFY = "Verify"


class WriteAction(Struct, frozen=True):
    """One thing done to an entry. `other` is the successor or the new address."""

    verb: Verb
    address: str
    other: str | None = None


class Change(Struct, frozen=True):
    """One file before and after a change. None means that there is no file. `to` is the path afterwards."""

    path: str
    to: str
    before: bytes | None
    after: bytes | None


class ChangeSet(Struct, frozen=True):
    """Changes in the order in which they are written (renames come last), one for each file, and their message.

    `supersedes` are the entries that a newer entry replaces, and `remarks` are messages to the user. With `is_checked`,
    the result is not checked again: it was checked already, or the faults of imported records are reported later.
    """

    changes: tuple[Change, ...] = ()
    actions: tuple[WriteAction, ...] = ()
    supersedes: tuple[str, ...] = ()
    reason: str | None = None
    agent: str | None = None
    remarks: tuple[str, ...] = ()
    is_checked: bool = False


def patched(catalog: Catalog, path: str, values: Mapping[str, Value]) -> Change:
    """Return the change that sets fields of a file; None removes a field.

    Raises UnpatchableError if other text would change, too, and LostRaceError if the file changed since it was read.
    """
    document = catalog.document(path)
    # The entry may come from a cache, and the file is read only now.
    if catalog.digests.get(path.removesuffix(".md")) not in (None, catalog.digest_of(path, document.data)):
        raise LostRaceError(f"`{path}` changed while it was read; nothing was written, try again")
    return Change(path, path, document.data, apply_edits(document.data, set_fields(document, values)))


_WIDTH = 72
# Git and mail programs read such lines as comments, trailers or the start of a patch. Users can configure any
# character that is not a letter as git's comment character.
_SPECIAL_LINE = re.compile(r"[^\w\"'“„«(\[`]|[\w-]+\s*[:=#]|From |diff |\(cherry picked from")


def subject_of(actions: Sequence[WriteAction]) -> str:
    """Return the subject of a commit, at most 72 characters: one action with its addresses, or a number of entries."""
    if len(actions) != 1:
        verbs = {action.verb for action in actions}
        return f"{verbs.pop() if len(verbs) == 1 else Verb.UPDATE} {len(actions)} entries"
    action = actions[0]
    joining = " to " if action.verb is Verb.MOVE else " by "
    addresses = [action.address, *([action.other] if action.other else [])]
    whole = f"{action.verb} {joining.join(addresses)}"
    if len(whole) <= _WIDTH:
        return whole
    # The trailers contain the full addresses, so the subject may have only the entry-ids.
    ids = [address.rsplit("/", 1)[-1] for address in addresses]
    if action.verb is Verb.MOVE and action.other and ids[0] == ids[1] != "":
        ids[1] = f"{action.other.rsplit('/', 1)[0]}/"
    return cut_line(f"{action.verb} {joining.join(ids)}", _WIDTH)


def commit_message(change_set: ChangeSet, *, subject: str = "") -> str:
    """Return a commit message: the subject (default: the actions), the reason at 72 columns, and sorted trailers."""
    named = (one for action in change_set.actions for one in (action.address, action.other))
    entries, agents = [one for one in named if one and "/" in one], [change_set.agent or ""]
    stated = (("Mdmem-Entry", entries), ("Mdmem-Supersedes", change_set.supersedes), ("Mdmem-Agent", agents))
    lines_of = ((name, sorted({" ".join(_printable(one).split()) for one in values})) for name, values in stated)
    trailers = [f"{name}: {value}" for name, values in lines_of for value in values if value]
    lines = [""]
    for line in (change_set.reason or "").splitlines():
        # Indent, by two columns, a line that git would read as a trailer, a comment or a patch.
        some = wrap(_printable(line).strip(), _WIDTH - 2, break_long_words=False, break_on_hyphens=False)
        if some or lines[-1]:
            # Several blank lines become one.
            lines += [f"  {one}" if _SPECIAL_LINE.match(one) else one for one in some or [""]]
    parts = (
        cut_line(_printable(subject or subject_of(change_set.actions)), _WIDTH),
        "\n".join(lines).strip("\n"),
        "\n".join(trailers),
    )
    return "\n\n".join(part for part in parts if part) + "\n"


def _printable(text: str) -> str:
    """Replace control characters by spaces. git refuses NUL, and a terminal would interpret the others."""
    return "".join(one if one.isprintable() else " " for one in text)
