"""Describe a change of several files, byte for byte, and the commit message that goes with it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from textwrap import wrap

from msgspec import Struct

from mdmem.errors import LostRaceError
from mdmem.markdown.layout import apply_edits
from mdmem.markdown.patch import set_fields
from mdmem.store.catalog.model import Catalog

Value = str | Sequence[str] | None


class Verb(StrEnum):
    """The word that begins the subject of a commit."""

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
    """One thing done to an entry; `other` is its successor, or its new address."""

    verb: Verb
    address: str
    other: str | None = None


class Change(Struct, frozen=True):
    """One file before and after; None if there is not a file. `to` is its path afterwards."""

    path: str
    to: str
    before: bytes | None
    after: bytes | None


class ChangeSet(Struct, frozen=True):
    """Changes in the order in which they are written, one for each file, and their meaning.

    Renames come after all other changes. `supersedes` are the entries that a newer one replaces; `reason` is in the
    user's own words; `remarks` are sentences for people. With `is_proved` the result is not
    checked: the planner did that, or the faults are those of imported records, which are reported later.
    """

    changes: tuple[Change, ...] = ()
    actions: tuple[WriteAction, ...] = ()
    supersedes: tuple[str, ...] = ()
    reason: str | None = None
    agent: str | None = None
    remarks: tuple[str, ...] = ()
    is_proved: bool = False


def patched(catalog: Catalog, path: str, values: Mapping[str, Value]) -> Change:
    """Return the change that sets some fields of a file; None removes a field.

    Raises UnpatchableError if the bytes cannot be patched, and LostRaceError if the file is not the one that the
    entry in the catalog was read from.
    """
    document = catalog.document(path)
    # The entry may come from the snapshot, and its file is read only now.
    if catalog.digests.get(path.removesuffix(".md")) not in (None, catalog.digest_of(path, document.data)):
        raise LostRaceError(f"`{path}` changed while it was read; nothing was written, try again")
    return Change(path, path, document.data, apply_edits(document.data, set_fields(document, values)))


_WIDTH = 72
# Git and mail programs read such lines as comments, trailers or the start of a patch. A comment's mark may be any
# character that is no letter.
_SPECIAL_LINE = re.compile(r"[^\w\"'“„«(\[`]|[\w-]+\s*[:=#]|From |diff |\(cherry picked from")


def subject_of(actions: Sequence[WriteAction]) -> str:
    """Return the subject of a commit, at most 72 characters: one action with its addresses, or a count."""
    if len(actions) != 1:
        verbs = {action.verb for action in actions}
        return f"{verbs.pop() if len(verbs) == 1 else Verb.UPDATE} {len(actions)} entries"
    action = actions[0]
    joining = " to " if action.verb is Verb.MOVE else " by "
    addresses = [action.address, *([action.other] if action.other else [])]
    whole = f"{action.verb} {joining.join(addresses)}"
    if len(whole) <= _WIDTH:
        return whole
    # The trailers have the full addresses.
    return _cut(f"{action.verb} {joining.join(address.rsplit('/', 1)[-1] for address in addresses)}")


def commit_message(
    subject: str,
    *,
    reason: str | None = None,
    entries: Iterable[str] = (),
    supersedes: Iterable[str] = (),
    agent: str | None = None,
) -> str:
    """Return a commit message: the subject, the reason wrapped at 72 columns, and sorted trailers.

    `entries` are the addresses that were written. No line of the reason can be read as a trailer, a comment or a patch.
    """
    stated = (("Mdmem-Entry", entries), ("Mdmem-Supersedes", supersedes), ("Mdmem-Agent", [agent or ""]))
    trailers = [
        f"{name}: {value}" for name, values in stated for value in sorted({_one_line(one) for one in values}) if value
    ]
    parts = (_cut(_one_line(subject)), "\n".join(_wrapped(reason or "")).rstrip("\n"), "\n".join(trailers))
    return "\n\n".join(part for part in parts if part) + "\n"


def _wrapped(reason: str) -> Iterator[str]:
    """Yield the lines of a reason, long ones wrapped; several blank lines become one."""
    was_blank = True
    for line in reason.splitlines():
        # Two columns are left for the indent of a special line.
        parts = wrap(_printable(line).strip(), _WIDTH - 2, break_long_words=False, break_on_hyphens=False)
        if parts or not was_blank:
            yield from (f"  {part}" if _SPECIAL_LINE.match(part) else part for part in parts or [""])
        was_blank = not parts


def _one_line(text: str) -> str:
    return " ".join(_printable(text).split())


def _printable(text: str) -> str:
    """Replace control characters by spaces: git refuses a NUL, and a terminal obeys the others."""
    return "".join(one if one.isprintable() else " " for one in text)


def _cut(text: str) -> str:
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1].rstrip() + "…"
